import { Link, useNavigate } from "@tanstack/react-router";
import { useRef, useState, type ReactNode } from "react";

import { ApiProblem } from "../api/client";
import { passkeyChallenge, type Approve, type DecidedPlan, type PlanDecision } from "../api/decisions";
import type { Plan } from "../api/types";
import { signWithPasskey } from "../approval/passkeys";
import { VerifyDialog } from "../approval/VerifyDialog";
import { useKeys } from "../shell/keys";
import { list, t } from "../texts/t";
import { Banner, Button, errorWords, IconButton } from "../ui/basics";
import { CopyButton } from "../ui/CopyButton";
import { Dialog } from "../ui/Dialog";
import { Visible } from "../ui/hidden";
import { Menu, type MenuItem } from "../ui/Menu";
import { say } from "../ui/toasts";
import { decisionOf } from "./choices";
import { canSelect, leftOut } from "./selection";
import { useDecision } from "./useDecision";

export interface DecisionBarProps {
  plan: Plan;
  /** The version the person has in view. An approval names its digest. */
  shown: { version: number; digest: string };
  /** Positions that the person left out. */
  unticked: ReadonlySet<number>;
  /** Comments of the person that go with the decision. */
  comments?: number;
  /** Whether the server has those comments. Until then no decision takes them along. */
  areCommentsSaved?: boolean;
  /** Shows what changed between the version in view and the newest. */
  onReviewChanges: () => void;
  compact?: boolean;
  onSent?: (decision: PlanDecision) => void;
}

type Asking = "revise" | "reject" | "cancel";

export function DecisionBar({ plan, shown, unticked, comments = 0, areCommentsSaved = true, onReviewChanges, compact = false, onSent }: DecisionBarProps): ReactNode {
  const navigate = useNavigate();
  const [asking, setAsking] = useState<Asking>();
  const [note, setNote] = useState<string>();
  const [stepByStep, setStepByStep] = useState(false);
  const [verifying, setVerifying] = useState(false);
  const approveButton = useRef<HTMLButtonElement>(null);

  const decision = useDecision(plan, (decided: DecidedPlan, made) => {
    setAsking(undefined);
    setVerifying(false);
    setNote(undefined);
    onSent?.(made);
    say(decidedWords(made, plan, decided), { tone: "done" });
    if (decided.notCarriedOut !== undefined) say(t("decision.notCarriedOut", { why: decided.notCarriedOut }), { for: 12_000 });
    // Asking for changes in an agents' plan opens the plan that replaces it.
    if (made.kind === "revise" && decided.id !== plan.id) void navigate({ to: "/p/$plan", params: { plan: decided.id } });
  });

  const action = (name: string) => plan.actions.find((one) => one.name === name);
  const has = (name: string) => action(name) !== undefined;
  const isStale = has("approve") && shown.digest !== plan.digest;
  const out = canSelect(plan) ? leftOut(plan.steps, unticked) : [];
  const kept = plan.steps.length - out.length;
  const off = isStale ? t("approve.offStale", { version: plan.version }) : kept === 0 && plan.steps.length > 0 ? t("approve.offNone") : areCommentsSaved ? undefined : t("approve.offUnsaved");
  const busy = decision.state.phase === "sending";
  const sending = (kind: PlanDecision["kind"]) => decision.state.phase === "sending" && decision.state.decision.kind === kind;

  const approval = (): Approve => ({
    kind: "approve",
    digest: shown.digest,
    skip: out.filter((one) => one.because === undefined).map((one) => one.position),
    note: note ?? "",
    review: comments > 0,
    stepByStep,
  });
  const needsVerified = plan.needs?.require === "verified";
  const approve = () => {
    if (needsVerified) setVerifying(true);
    else decision.send(approval());
  };
  const withPasskey = async (approver: string) => {
    const asked = { ...approval(), approver };
    const passkey = await signWithPasskey(await passkeyChallenge(plan.id, asked));
    if (passkey !== undefined) decision.send({ ...asked, passkey });
  };

  useKeys(
    {
      a: () => approveButton.current?.focus(),
      r: () => has("revise") && setAsking("revise"),
      "mod+Enter": () => has("approve") && document.activeElement === approveButton.current && off === undefined && approve(),
    },
    !compact || has("approve"),
  );

  if (has("begin")) return <Ended plan={plan} />;

  const more: MenuItem[] = [];
  if (has("approve") && note === undefined) more.push({ label: t("approve.addNote"), icon: "comment", act: () => setNote("") });
  for (const { name, label } of plan.actions) {
    if (name === "reject" || name === "cancel") more.push({ label, icon: name === "reject" ? "close" : "stop", danger: true, act: () => setAsking(name) });
  }
  if (!has("cancel")) more.push({ label: t("ask.cancel.send"), icon: "stop", danger: true, act: () => setAsking("cancel") });
  const direct = plan.actions.flatMap(({ name, label }) => {
    const made = decisionOf(plan, name);
    return made === undefined ? [] : [{ label, made }];
  });

  return (
    <section className="decision" data-compact={compact || undefined} aria-label={t("decision.title")}>
      {isStale && (
        <Banner
          tone="waiting"
          icon="warning"
          actions={
            <Button look="plain" onClick={onReviewChanges}>
              {t("approve.reviewChanges")}
            </Button>
          }
        >
          {t("approve.stale", { version: plan.version, shown: shown.version })}
        </Banner>
      )}
      {plan.incompleteApproval !== undefined && has("approve") && (
        <Banner tone="waiting" icon="person">
          {t("approve.bySome", { words: plan.incompleteApproval.words })}
        </Banner>
      )}
      {!verifying && <Outcome decision={decision} plan={plan} />}
      {note !== undefined && has("approve") && (
        <label className="decision-note">
          <span>{t("approve.note")}</span>
          <textarea autoFocus rows={2} value={note} maxLength={16384} onChange={(event) => setNote(event.target.value)} />
        </label>
      )}
      <div className="decision-row">
        <Covers plan={plan} shown={shown} out={out} compact={compact} />
        <div className="decision-buttons">
          {has("approve") && (
            <Button ref={approveButton} look="primary" off={off} busy={busy} onClick={approve} aria-describedby="covers" aria-keyshortcuts="a">
              {sending("approve") ? t("approve.sending") : isStale ? t("approve.plain", { version: shown.version }) : approveLabel(plan, shown.version, out.length, comments)}
            </Button>
          )}
          {has("approve") && plan.steps.length > 1 && (
            <label className="decision-pace">
              <input type="checkbox" checked={stepByStep} onChange={(event) => setStepByStep(event.target.checked)} />
              <span>{t("approve.stepByStep")}</span>
            </label>
          )}
          {plan.askId !== undefined && (
            <Link className="button" data-look="primary" to="/" search={{ item: plan.askId }}>
              {t("ask.open")}
            </Link>
          )}
          {direct.map(({ label, made }, index) => (
            <Button key={label} look={index === 0 ? "primary" : undefined} busy={busy} onClick={() => decision.send(made)}>
              {label}
            </Button>
          ))}
          {has("revise") && (
            <Button busy={sending("revise")} onClick={() => setAsking("revise")} aria-keyshortcuts="r">
              {comments > 0 ? t("revise.withComments", { count: comments }) : action("revise")?.label}
            </Button>
          )}
          {more.length > 0 && <Menu trigger={<IconButton icon="more" label={t("decision.more")} />} items={more} />}
        </div>
      </div>
      {verifying && has("approve") && (
        <VerifyDialog
          title={t("verify.title", { number: plan.number })}
          words={t((plan.needs?.people ?? 1) > 1 ? "verify.wordsPeople" : "verify.words", { version: shown.version, people: plan.needs?.people ?? 1 })}
          send={t("verify.approve")}
          busy={busy}
          problem={decision.state.phase === "refused" ? decision.state.problem : undefined}
          onPassphrase={(entry) => decision.send({ ...approval(), ...entry })}
          onPasskey={withPasskey}
          onClose={() => {
            setVerifying(false);
            decision.clear();
          }}
        />
      )}
      <Ask key={asking} asking={asking} plan={plan} comments={comments} areCommentsSaved={areCommentsSaved} busy={busy} onClose={() => setAsking(undefined)} onSend={decision.send} problem={decision.state.phase === "refused" ? decision.state.problem : undefined} />
    </section>
  );
}

function approveLabel(plan: Plan, version: number, out: number, comments: number): string {
  const values = { version, count: plan.steps.length, out, kept: plan.steps.length - out };
  const words = out > 0 ? t("approve.some", values) : plan.steps.length > 0 ? t("approve.all", values) : t("approve.plain", values);
  return comments > 0 ? t("approve.withNotes", { words, count: comments }) : words;
}

/** What the decision is about, and the digest that an approval names. */
function Covers({ plan, shown, out, compact }: { plan: Plan; shown: { version: number; digest: string }; out: ReturnType<typeof leftOut>; compact: boolean }): ReactNode {
  const commands = plan.steps.filter((step) => step.tool === "run_command").length;
  const dependants = out.filter((one) => one.because !== undefined).map((one) => one.position);
  return (
    <div className="covers" id="covers">
      {plan.status === "READY" ? (
        <>
          {!compact && <span>{t("covers.version", { version: shown.version })}</span>}
          {!compact && shown.digest === plan.digest && plan.steps.length > 0 && <span>{t("covers.steps", { count: plan.steps.length - out.length })}</span>}
          {commands > 0 && <span>{t("covers.commands", { count: commands })}</span>}
          {out.length > 0 && <span data-tone="waiting">{t("covers.out", { steps: list(out.map((one) => one.position)) })}</span>}
          {dependants.length > 0 && <span>{t("covers.dependants", { count: dependants.length, steps: list(dependants) })}</span>}
          {!compact && (
            <CopyButton text={shown.digest} label={t("covers.copyDigest")}>
              <code>{shown.digest.slice(0, 8)}</code>
            </CopyButton>
          )}
        </>
      ) : (
        <Situation plan={plan} />
      )}
    </div>
  );
}

/** What the plan waits for or does, and how far it is. */
function Situation({ plan }: { plan: Plan }): ReactNode {
  return (
    <span>
      <Visible text={plan.situation} /> {plan.progress && t("covers.done", { done: plan.progress.done, total: plan.progress.total })}
    </span>
  );
}

function Outcome({ decision, plan }: { decision: ReturnType<typeof useDecision>; plan: Plan }): ReactNode {
  const { state } = decision;
  if (state.phase === "unknown") {
    return (
      <Banner
        tone="waiting"
        icon="warning"
        actions={
          <Button look="plain" onClick={decision.sendAgain}>
            {t("decision.sendAgain")}
          </Button>
        }
      >
        {t("decision.unknown", { what: t(`decision.name.${state.decision.kind}`) })}
      </Banner>
    );
  }
  if (state.phase !== "refused") return null;
  const problem = state.problem;
  const isStale = problem instanceof ApiProblem && problem.code === "STALE_APPROVAL";
  return (
    <Banner
      tone="failed"
      icon="warning"
      actions={
        <Button look="quiet" onClick={decision.clear}>
          {t("decision.dismiss")}
        </Button>
      }
    >
      {isStale ? t("decision.stale", { version: problem.plan?.version ?? plan.version }) : t("decision.refused", { what: t(`decision.name.${state.decision.kind}`), why: errorWords(problem) })}
    </Banner>
  );
}

/** The questions that come before what ends or changes a plan. */
function Ask({
  asking,
  plan,
  comments,
  areCommentsSaved,
  busy,
  onClose,
  onSend,
  problem,
}: {
  asking: Asking | undefined;
  plan: Plan;
  comments: number;
  areCommentsSaved: boolean;
  busy: boolean;
  onClose: () => void;
  onSend: (decision: PlanDecision) => void;
  problem: unknown;
}): ReactNode {
  const [words, setWords] = useState("");
  if (asking === undefined) return null;
  const needsWords = asking === "revise" && comments === 0;
  const off = needsWords && words.trim() === "" ? t("revise.offEmpty") : areCommentsSaved ? undefined : t("approve.offUnsaved");
  const send = () => {
    if (off !== undefined || busy) return;
    if (asking === "revise") onSend({ kind: "revise", feedback: words, review: comments > 0 });
    else onSend({ kind: asking, reason: words });
  };
  return (
    <Dialog open onClose={onClose} title={t(`ask.${asking}.title`, { number: plan.number })} look="sheet">
      <form
        className="ask"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            send();
          }
        }}
      >
        <p>{asking === "cancel" && plan.status === "EXECUTING" ? t("ask.cancel.running") : t(`ask.${asking}.words`)}</p>
        <label>
          <span>{t(`ask.${asking}.label`)}</span>
          <textarea autoFocus rows={asking === "revise" ? 6 : 3} maxLength={16384} value={words} onChange={(event) => setWords(event.target.value)} />
        </label>
        {problem !== undefined && (
          <p className="problem" role="alert">
            {errorWords(problem)}
          </p>
        )}
        <div className="ask-buttons">
          <Button onClick={onClose}>{t("ask.back")}</Button>
          <Button type="submit" look={asking === "revise" ? "primary" : "danger"} off={off} busy={busy}>
            {t(`ask.${asking}.send`)}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Ended({ plan }: { plan: Plan }): ReactNode {
  return (
    <section className="decision" aria-label={t("decision.title")}>
      <div className="covers">
        <Situation plan={plan} />
        {plan.supersededBy !== null && (
          <Link to="/p/$plan" params={{ plan: plan.supersededBy }}>
            {t("plan.openReplacement")}
          </Link>
        )}
      </div>
    </section>
  );
}

function decidedWords(decision: PlanDecision, plan: Plan, decided: Plan): string {
  const values = { number: plan.number, version: plan.version };
  switch (decision.kind) {
    case "approve":
      return decided.incompleteApproval === undefined ? t("decided.approve", values) : t("approve.bySome", { words: decided.incompleteApproval.words });
    case "reject":
      return t("decided.reject", values);
    case "revise":
      return t("decided.revise", values);
    case "cancel":
      return t("decided.cancel", values);
    case "resume":
      return t(decided.status === "EXECUTING" ? "decided.resume" : "decided.ended", values);
  }
}
