import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState, type ReactNode } from "react";

import { actChallenge, type Proof } from "../api/acts";
import { ApiProblem } from "../api/client";
import { approversQuery } from "../api/queries";
import type { ActToSign, Approvers } from "../api/types";
import { sessionQuery, type SessionId } from "../session/id";
import { t } from "../texts/t";
import { Banner } from "../ui/basics";
import { signActWithPasskey } from "./passkeys";
import { forgetWrong, remember, remembered } from "./remembered";
import { SignatureNote, type Signed } from "./SignatureNote";
import { VerifyDialog } from "./VerifyDialog";

/** Something that an approver may have to sign before it is done. */
export interface Signable {
  /** What is done, as the title of the question. */
  title: string;
  /** What the button says that does it. */
  send: string;
  /** What it does, beside the question. */
  shown?: ReactNode;
  /** What is signed; nothing where it only stops something. */
  act: ActToSign | undefined;
  /** Does it. */
  perform: (proof: Proof | undefined) => Promise<unknown>;
  /** The same as the server has it now, where what was shown has changed since; nothing where it is gone. */
  reload?: () => Promise<Signable | undefined>;
}

export interface Signing {
  /** Does it: at once where no signature is asked for, else after the person has shown who they are. Answers with what went wrong before anything was asked. */
  begin: (signable: Signable) => Promise<unknown>;
  /** Whether the person will be asked who they are. */
  asks: boolean;
  busy: boolean;
  /** What went wrong, while the person is not asked. */
  problem: unknown;
  /** Says what is asked, before the click. */
  note: ReactNode;
  dialog: ReactNode;
}

/** Whether the server refused because the person was shown something else than what it has now. */
export function isStale(problem: unknown): boolean {
  return problem instanceof ApiProblem && problem.code === "STALE_APPROVAL";
}

/** What is asked for, or how it is found out while the page does not know yet. */
export type Require = string | undefined | (() => Promise<string | undefined>);

/** What acts without a plan need in a session. */
export function useNeeds(session: SessionId): { starts: Require; promotes: Require } | undefined {
  const { channel = "web" } = sessionQuery(session);
  const client = useQueryClient();
  const policy = useQuery(approversQuery);
  const needs = (from: Approvers | undefined) => from?.needs.find((one) => one.channel === channel);
  if (!policy.isPending) return needs(policy.data);
  const later = (act: "starts" | "promotes") => async () => needs(await client.ensureQueryData(approversQuery))?.[act];
  return { starts: later("starts"), promotes: later("promotes") };
}

/** Every act of this page that is no approval of a plan is done here, with the approver's passphrase or passkey where `require` asks for it. */
export function useSigning(require: Require, what: Signed): Signing {
  const needed = require === "verified";
  const client = useQueryClient();
  const kept = useQuery({ ...approversQuery, enabled: needed }).data?.remember ?? 0;
  const [asked, setAsked] = useState<Signable>();
  /** How often what was shown had changed before it was signed. */
  const [changes, setChanges] = useState(0);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const current = useRef(true);
  useEffect(() => {
    current.current = true;
    return () => {
      current.current = false;
    };
  }, []);

  async function carryOut(signable: Signable, proof: Proof | undefined): Promise<unknown> {
    setBusy(true);
    setProblem(undefined);
    try {
      await signable.perform(proof);
      if (proof !== undefined && "passphrase" in proof) remember(proof, kept);
      if (current.current) setAsked(undefined);
      return undefined;
    } catch (error) {
      forgetWrong(error);
      if (!current.current) return error;
      if (isStale(error)) return await askAgain(signable, error);
      setProblem(error);
      if (error instanceof ApiProblem && error.code === "UNAUTHENTICATED" && proof !== undefined) setAsked(signable);
      // The policy may have changed since the page asked for it.
      if (error instanceof ApiProblem && error.code === "POLICY_DENIED") {
        for (const queryKey of [approversQuery.queryKey, ["inbox"]]) void client.invalidateQueries({ queryKey });
      }
      return error;
    } finally {
      if (current.current) setBusy(false);
    }
  }

  /** What was shown has changed: nothing was done, and the person is asked about what it is now. */
  async function askAgain(signable: Signable, stale: unknown): Promise<unknown> {
    const now = await signable.reload?.().catch(() => undefined);
    if (!current.current) return stale;
    setAsked(now);
    if (now === undefined) {
      setProblem(stale);
      return stale;
    }
    setProblem(undefined);
    setChanges((before) => before + 1);
    return undefined;
  }

  /** Nothing is sent before the page knows what is asked for. Where it cannot find out, the server says it. */
  async function isAskedFor(find: () => Promise<string | undefined>): Promise<boolean> {
    setBusy(true);
    try {
      return (await find().catch(() => undefined)) === "verified";
    } finally {
      if (current.current) setBusy(false);
    }
  }

  async function begin(signable: Signable): Promise<unknown> {
    const isNeeded = signable.act !== undefined && (typeof require === "function" ? await isAskedFor(require) : needed);
    if (!isNeeded) return carryOut(signable, undefined);
    setChanges(0);
    const given = remembered();
    if (given !== undefined) return carryOut(signable, given);
    setProblem(undefined);
    setAsked(signable);
    return undefined;
  }

  async function withPasskey(signable: Signable, approver: string): Promise<void> {
    if (signable.act === undefined) return;
    try {
      const passkey = await signActWithPasskey(await actChallenge(signable.act, approver));
      if (passkey !== undefined) await carryOut(signable, { approver, passkey });
    } catch (error) {
      if (!isStale(error)) throw error;
      await askAgain(signable, error);
    }
  }

  const asks = needed && remembered() === undefined;
  return {
    begin,
    asks,
    busy,
    problem: asked === undefined ? problem : undefined,
    note: asks ? <SignatureNote what={what} /> : null,
    dialog: asked && (
      <VerifyDialog
        // What has changed is read anew, and signed by another act of the person.
        key={changes}
        title={asked.title}
        words={t("sign.words")}
        send={asked.send}
        passkey={t("sign.passkey")}
        busy={busy}
        problem={problem}
        onPassphrase={(entry) => void carryOut(asked, entry)}
        onPasskey={(approver) => withPasskey(asked, approver)}
        onClose={() => {
          setAsked(undefined);
          setProblem(undefined);
        }}
      >
        {changes > 0 && (
          <Banner tone="waiting" icon="warning">
            {t("sign.changed")}
          </Banner>
        )}
        {asked.shown}
      </VerifyDialog>
    ),
  };
}
