import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useRef, useState, type ReactNode } from "react";

import type { ApiProblem } from "../api/client";
import { actChallenge, continueAct } from "../api/acts";
import { passkeyChallenge, type Approve, type DecidedPlan, type PlanDecision, type Resume } from "../api/decisions";
import { reviewQuery } from "../api/review";
import type { Plan } from "../api/types";
import { signActWithPasskey, signWithPasskey } from "../approval/passkeys";
import { remembered } from "../approval/remembered";
import { SignatureNote } from "../approval/SignatureNote";
import { isStale } from "../approval/useSigning";
import { VerifyDialog } from "../approval/VerifyDialog";
import { UnsentDialog } from "../review/UnsentDialog";
import { useReview } from "../review/useReview";
import { useKeys } from "../shell/keys";
import { usePageActions } from "../shell/pageActions";
import { list, t } from "../texts/t";
import { Banner, Button, errorWords, IconButton } from "../ui/basics";
import { CopyButton } from "../ui/CopyButton";
import { Dialog } from "../ui/Dialog";
import { Visible } from "../ui/hidden";
import { Menu, type MenuItem } from "../ui/Menu";
import { say } from "../ui/toasts";
import { decisionOf } from "./choices";
import { coversWords, useCovered } from "./Covers";
import { canSelect, leftOut } from "./selection";
import { useWasShown } from "./shownText";
import { isRepeatable, useDecision } from "./useDecision";

export interface DecisionBarProps {
  plan: Plan;
  /** The plan as the person has it in view. An approval names its digest. */
  shown: Plan;
  /** Positions that the person left out. */
  unticked: ReadonlySet<number>;
  /** Whether the person's comments are in view beside the bar. Where they are not, a decision asks about them first. */
  areCommentsShown?: boolean;
  /** Shows what changed between the version in view and the newest. */
  onReviewChanges: () => void;
  compact?: boolean;
}

type Asking = "revise" | "reject" | "cancel";

const NO_COMMENTS: readonly never[] = [];

/** What a person can do about a plan now. Every decision about a plan is sent from here. */
export function DecisionBar({ plan, shown, unticked, areCommentsShown = false, onReviewChanges, compact = false }: DecisionBarProps): ReactNode {
  const navigate = useNavigate();
  const client = useQueryClient();
  const [asking, setAsking] = useState<Asking>();
  const [note, setNote] = useState<string>();
  const [stepByStep, setStepByStep] = useState(false);
  /** On a phone the bar is one line until the person asks for more. */
  const [isGrown, setGrown] = useState(false);
  const [verifying, setVerifying] = useState(false);
  /** How the plan continues once the person has shown who they are. */
  const [continuing, setContinuing] = useState<{ label: string; made: Resume }>();
  /** Whether the person is asked about comments that were not sent. */
  const [isAskingUnsent, setAskingUnsent] = useState(false);
  /** Whether the approval takes the comments along. */
  const [withReview, setWithReview] = useState(true);
  const approveButton = useRef<HTMLButtonElement>(null);
  const takesComments = plan.actions.some(({ name }) => name === "approve" || name === "revise");
  const review = useReview(shown, takesComments);
  const unsent = review?.unsent ?? NO_COMMENTS;
  const comments = unsent.length;
  const wasShown = useWasShown(shown.digest);

  // What was to be signed is not what the server has: the page shows that, and the person begins again.
  const closeIfStale = (problem: unknown) => {
    if (!isStale(problem)) return;
    setVerifying(false);
    setContinuing(undefined);
  };
  const decision = useDecision(plan, (decided: DecidedPlan, made) => {
    setAsking(undefined);
    setVerifying(false);
    setContinuing(undefined);
    setNote(undefined);
    setAskingUnsent(false);
    review?.sent();
    say(decidedWords(made, plan, decided), { tone: "done" });
    if (decided.notCarriedOut !== undefined) say(t("decision.notCarriedOut", { why: decided.notCarriedOut }), { for: 12_000 });
    // Asking for changes in an agents' plan opens the plan that replaces it.
    if (made.kind === "revise" && decided.id !== plan.id) void navigate({ to: "/p/$plan", params: { plan: decided.id } });
  }, closeIfStale);

  const action = (name: string) => plan.actions.find((one) => one.name === name);
  const has = (name: string) => action(name) !== undefined;
  const isOld = has("approve") && shown.digest !== plan.digest;
  const out = canSelect(shown) ? leftOut(shown.steps, unticked) : [];
  const kept = shown.steps.length - out.length;
  const covers = useCovered(shown, out);
  const off = isOld
    ? t("approve.offStale", { version: plan.version })
    : !wasShown
      ? t("approve.offUnread")
      : kept === 0 && shown.steps.length > 0
        ? t("approve.offNone")
        : review === null || review.saving === "saved"
          ? undefined
          : t("approve.offUnsaved");
  const busy = decision.state.phase === "sending";
  const sending = (kind: PlanDecision["kind"]) => decision.state.phase === "sending" && decision.state.decision.kind === kind;

  const approval = (takesReview = withReview): Approve => ({
    kind: "approve",
    digest: shown.digest,
    skip: out.filter((one) => one.because === undefined).map((one) => one.position),
    note: note ?? "",
    review: takesReview && comments > 0,
    stepByStep,
  });
  const needsVerified = plan.needs?.require === "verified";
  const send = (takesReview: boolean) => {
    setWithReview(takesReview);
    setAskingUnsent(false);
    const given = remembered();
    if (!needsVerified) decision.send(approval(takesReview));
    else if (given === undefined) setVerifying(true);
    else decision.send({ ...approval(takesReview), ...given });
  };
  /** To continue asks for what the approval asks for; to stop asks for nothing. */
  const resume = (label: string, made: Resume) => {
    const given = remembered();
    if (!needsVerified || made.choice === "stop") decision.send(made);
    else if (given === undefined) setContinuing({ label, made: { ...made, digest: shown.digest } });
    else decision.send({ ...made, digest: shown.digest, ...given });
  };
  const continueWithPasskey = async (made: Resume, approver: string) => {
    const act = continueAct(plan.id, made);
    try {
      const passkey = act && (await signActWithPasskey(await actChallenge(act, approver)));
      if (passkey !== undefined) decision.send({ ...made, approver, passkey });
    } catch (error) {
      if (!isStale(error)) throw error;
      decision.refuse(made, error);
    }
  };
  const approve = async () => {
    const count = review === null ? await client.ensureQueryData(reviewQuery(plan.id)).then((loaded) => loaded.comments.length, () => 0) : comments;
    if (count > 0 && !(areCommentsShown && review?.isSaved === true)) setAskingUnsent(true);
    else send(true);
  };
  const withPasskey = async (approver: string) => {
    const asked = { ...approval(), approver };
    try {
      const passkey = await signWithPasskey(await passkeyChallenge(plan.id, asked));
      if (passkey !== undefined) decision.send({ ...asked, passkey });
    } catch (error) {
      if (!isStale(error)) throw error;
      decision.refuse(asked, error);
    }
  };

  useKeys(
    {
      a: () => approveButton.current?.focus(),
      r: () => has("revise") && setAsking("revise"),
      "mod+Enter": () => has("approve") && document.activeElement === approveButton.current && off === undefined && void approve(),
    },
    !compact || has("approve"),
  );

  const direct = plan.actions.flatMap(({ name, label }) => {
    const made = decisionOf(plan, name);
    return made === undefined ? [] : [{ label, made }];
  });
  const asks = has("begin") ? [] : plan.actions.flatMap(({ name, label }) => (name === "revise" || name === "reject" || name === "cancel" ? [{ name, label } as const] : []));
  usePageActions([
    // The palette leads to Approve, and does not approve: what it covers stands beside the button.
    ...(has("approve") ? [{ id: "approve", label: t("palette.goApprove"), icon: "check" as const, key: "a", act: () => approveButton.current?.focus() }] : []),
    ...direct.map(({ label, made }) => ({ id: label, label, icon: made.choice === "stop" ? ("stop" as const) : ("run" as const), act: () => resume(label, made) })),
    ...asks.map(({ name, label }) => ({ id: name, label, icon: name === "revise" ? ("comment" as const) : ("close" as const), ...(name === "revise" ? { key: "r" } : {}), act: () => setAsking(name) })),
  ]);

  if (has("begin")) return <Ended plan={plan} />;

  const more: MenuItem[] = [];
  if (has("approve") && note === undefined) more.push({ label: t("approve.addNote"), icon: "comment", act: () => setNote("") });
  for (const { name, label } of plan.actions) {
    if (name === "reject" || name === "cancel") more.push({ label, icon: name === "reject" ? "close" : "stop", danger: true, act: () => setAsking(name) });
  }
  if (!has("cancel")) more.push({ label: t("ask.cancel.send"), icon: "stop", danger: true, act: () => setAsking("cancel") });

  return (
    <section className="decision" data-compact={compact || undefined} data-grown={isGrown || undefined} aria-label={t("decision.title")}>
      {isOld && (
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
      {has("approve") && !isOld && !wasShown && (
        <p className="decision-why" role="status">
          {t("approve.offUnread")}
        </p>
      )}
      {needsVerified && has("approve") && <SignatureNote what="approve" people={plan.needs?.people ?? 1} />}
      {needsVerified && !has("approve") && direct.some(({ made }) => made.choice !== "stop") && <SignatureNote what="continue" />}
      {plan.incompleteApproval !== undefined && has("approve") && (
        <Banner tone="waiting" icon="person">
          {t("approve.bySome", { words: plan.incompleteApproval.words })}
        </Banner>
      )}
      {!verifying && continuing === undefined && <Outcome decision={decision} plan={plan} />}
      {note !== undefined && has("approve") && (
        <label className="decision-note">
          <span>{t("approve.note")}</span>
          <textarea dir="auto" autoFocus rows={2} value={note} maxLength={16384} onChange={(event) => setNote(event.target.value)} />
        </label>
      )}
      <div className="decision-row">
        <Footing plan={plan} shown={shown} out={out} compact={compact} />
        <div className="decision-buttons">
          {has("approve") && (
            <Button ref={approveButton} look="primary" off={off} busy={busy} onClick={() => void approve()} aria-describedby="covers" aria-keyshortcuts="a">
              {sending("approve") ? t("approve.sending") : isOld ? t("approve.plain", { version: shown.version }) : approveLabel(shown, out.length, comments, coversWords(covers))}
            </Button>
          )}
          {has("approve") && plan.steps.length > 1 && (
            <label className="decision-pace">
              <input type="checkbox" checked={stepByStep} onChange={(event) => setStepByStep(event.target.checked)} />
              <span>{t("approve.stepByStep")}</span>
            </label>
          )}
          {plan.askId !== undefined && compact && (
            <Link className="button" data-look="primary" to="/" search={{ item: plan.askId }}>
              {t("ask.open")}
            </Link>
          )}
          {direct.map(({ label, made }, index) => (
            <Button key={label} look={index === 0 ? "primary" : undefined} busy={busy} onClick={() => resume(label, made)}>
              {label}
            </Button>
          ))}
          {has("revise") && (
            <Button busy={sending("revise")} onClick={() => setAsking("revise")} aria-keyshortcuts="r">
              {comments > 0 ? t("revise.withComments", { count: comments }) : action("revise")?.label}
            </Button>
          )}
          <IconButton icon="chevron" className="grow" label={t(isGrown ? "decision.shrink" : "decision.grow")} aria-expanded={isGrown} onClick={() => setGrown(!isGrown)} />
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
      {continuing !== undefined && (
        <VerifyDialog
          title={t("verify.continueTitle", { number: plan.number })}
          words={t("verify.continueWords")}
          send={continuing.label}
          passkey={t("verify.continuePasskey")}
          busy={busy}
          problem={decision.state.phase === "refused" ? decision.state.problem : undefined}
          onPassphrase={(entry) => decision.send({ ...continuing.made, ...entry })}
          onPasskey={(approver) => continueWithPasskey(continuing.made, approver)}
          onClose={() => {
            setContinuing(undefined);
            decision.clear();
          }}
        />
      )}
      {isAskingUnsent && review !== null && (
        <UnsentDialog
          plan={shown}
          review={review}
          busy={busy}
          approve={t("unsent.approve", { version: shown.version })}
          onApprove={send}
          onRevise={() => decision.send({ kind: "revise", feedback: "", review: true })}
          onClose={() => setAskingUnsent(false)}
          problem={decision.state.phase === "refused" ? decision.state.problem : undefined}
        />
      )}
      <Ask key={asking} asking={asking} plan={plan} comments={comments} finish={review?.finish} busy={busy} onClose={() => setAsking(undefined)} onSend={decision.send} problem={decision.state.phase === "refused" ? decision.state.problem : undefined} />
    </section>
  );
}

function approveLabel(shown: Plan, out: number, comments: number, covers: readonly string[]): string {
  const values = { version: shown.version, count: shown.steps.length, out, kept: shown.steps.length - out };
  const approve = out > 0 ? t("approve.some", values) : shown.steps.length > 0 ? t("approve.all", values) : t("approve.plain", values);
  const words = [approve, ...covers].join(" · ");
  return comments > 0 ? t("approve.withNotes", { words, count: comments }) : words;
}

/** What the decision is about, and the digest that an approval names. */
function Footing({ plan, shown, out, compact }: { plan: Plan; shown: Plan; out: ReturnType<typeof leftOut>; compact: boolean }): ReactNode {
  const dependants = out.filter((one) => one.because !== undefined).map((one) => one.position);
  return (
    <div className="covers" id="covers" data-needed={out.length > 0 || plan.status !== "READY" || undefined}>
      {plan.status === "READY" ? (
        <>
          {!compact && <span>{t("covers.version", { version: shown.version })}</span>}
          {!compact && shown.steps.length > 0 && <span>{t("covers.steps", { count: shown.steps.length - out.length })}</span>}
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
        {t("decision.unknown", { what: t(`decision.name.${state.decision.kind}`) })} {t(isRepeatable(state.decision) ? "decision.repeats" : "decision.doesNotRepeat")}
      </Banner>
    );
  }
  if (state.phase !== "refused") return null;
  const problem = state.problem;
  const newer = isStale(problem) && state.decision.kind === "approve" ? ((problem as ApiProblem).plan?.version ?? plan.version) : undefined;
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
      {newer !== undefined ? t("decision.stale", { version: newer }) : t("decision.refused", { what: t(`decision.name.${state.decision.kind}`), why: errorWords(problem) })}
    </Banner>
  );
}

/** The questions that come before what ends or changes a plan. */
function Ask({
  asking,
  plan,
  comments,
  finish,
  busy,
  onClose,
  onSend,
  problem,
}: {
  asking: Asking | undefined;
  plan: Plan;
  comments: number;
  /** Keeps the comment that is half written, and answers whether the server has all of them. */
  finish: (() => Promise<boolean>) | undefined;
  busy: boolean;
  onClose: () => void;
  onSend: (decision: PlanDecision) => void;
  problem: unknown;
}): ReactNode {
  const [words, setWords] = useState("");
  const [isUnsaved, setUnsaved] = useState(false);
  if (asking === undefined) return null;
  const takesComments = asking === "revise" && comments > 0;
  const off = asking === "revise" && !takesComments && words.trim() === "" ? t("revise.offEmpty") : undefined;
  const send = async () => {
    if (off !== undefined || busy) return;
    setUnsaved(false);
    if (takesComments && (await finish?.()) === false) setUnsaved(true);
    else if (asking === "revise") onSend({ kind: "revise", feedback: words, review: takesComments });
    else onSend({ kind: asking, reason: words });
  };
  return (
    <Dialog open onClose={onClose} title={t(`ask.${asking}.title`, { number: plan.number })} look="sheet">
      <form
        className="ask"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            void send();
          }
        }}
      >
        <p>{asking === "cancel" && plan.status === "EXECUTING" ? t("ask.cancel.running") : t(`ask.${asking}.words`)}</p>
        <label>
          <span>{t(`ask.${asking}.label`)}</span>
          <textarea dir="auto" autoFocus rows={asking === "revise" ? 6 : 3} maxLength={16384} value={words} onChange={(event) => setWords(event.target.value)} />
        </label>
        {(isUnsaved || problem !== undefined) && (
          <p className="problem" role="alert">
            {isUnsaved ? t("unsent.notSaved") : errorWords(problem)}
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
