import { sessionQuery, type SessionId } from "../session/id";
import type { ApproverEntry } from "../approval/ApproverFields";
import type { NewSchedule, RunTarget } from "./auto";
import { request } from "./client";
import type { PermissionAnswer, Resume } from "./decisions";
import type { ActChallenge, ActToSign, InboxItem, Memory, Run, Schedule, SignedAct } from "./types";

/** How an approver is recognised with an act: by their passphrase, or by the answer of a passkey. */
export type Proof = ApproverEntry | { approver: string; passkey: SignedAct };

/** A request with a passphrase takes no key: the server keeps a hash of what has one, and from a hash a passphrase could be guessed. */
export function once(key: string, proof: Proof | undefined): { idempotencyKey: string } | { hasPassphrase: true } {
  if (proof === undefined) return { idempotencyKey: key };
  // Another signature makes it another request.
  return "passphrase" in proof ? { hasPassphrase: true } : { idempotencyKey: `${key}-${proof.passkey.nonce}` };
}

/**
 * What goes into the body with a proof: with a passphrase the server signs the digest of what was shown, and refuses anything else
 * with `STALE_APPROVAL`. What a passkey signs was compared with it by the challenge.
 */
export function signed(proof: Proof | undefined, digest: string | undefined): (Proof & { digest?: string }) | undefined {
  return proof === undefined || digest === undefined ? proof : { ...proof, digest };
}

/** The act with the digest of what was shown, if the server that this page belongs to told one. */
function shownAs(act: ActToSign, digest: string | undefined): ActToSign {
  return digest === undefined ? act : { ...act, digest };
}

/** What a passkey of the approver has to sign to do exactly this. */
export function actChallenge(act: ActToSign, approver: string): Promise<ActChallenge> {
  return request("POST", "/api/acts/challenge", { body: { ...act, approver } });
}

// What is signed for each act, as the call that does it says it.

export function startRunAct(id: SessionId, on: RunTarget, digest: string | undefined): ActToSign {
  return shownAs({ kind: "start_run", ...sessionQuery(id), ...on }, digest);
}

export function resumeRunAct(id: SessionId, run: Pick<Run, "id" | "digest">): ActToSign {
  return shownAs({ kind: "resume_run", ...sessionQuery(id), id: run.id }, run.digest);
}

export function addScheduleAct(id: SessionId, { goalId, ...schedule }: NewSchedule): ActToSign {
  return { kind: "add_schedule", ...sessionQuery(id), schedule, ...(goalId === undefined ? {} : { goalId }) };
}

export function resumeScheduleAct(id: SessionId, schedule: Pick<Schedule, "id" | "digest">): ActToSign {
  return shownAs({ kind: "resume_schedule", ...sessionQuery(id), id: schedule.id }, schedule.digest);
}

export function promoteAct(id: SessionId, memory: Pick<Memory, "id" | "digest">): ActToSign {
  return shownAs({ kind: "promote", ...sessionQuery(id), id: memory.id }, memory.digest);
}

export function permitAct({ id, digest, sessionId, channel }: InboxItem, { grant, args }: PermissionAnswer): ActToSign {
  return { kind: "permit", id, digest, sessionId, channel, grant, ...(args === undefined ? {} : { arguments: args }) };
}

export function acceptToolsAct(server: string, digest: string): ActToSign {
  return { kind: "accept_tools", id: server, digest };
}

/** A plan continues, or the step that it stopped at is settled. */
export function continueAct(planId: string, { choice, afterStep, digest }: Resume): ActToSign | undefined {
  // To stop asks for nothing.
  if (choice === "stop") return undefined;
  return shownAs({ kind: choice ?? (afterStep === undefined ? "resume" : "release"), id: planId, ...(afterStep === undefined ? {} : { afterStep }) }, digest);
}
