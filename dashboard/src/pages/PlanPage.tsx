import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useMemo, useRef, useState, type ReactNode } from "react";

import { planDiffQuery } from "../api/queries";
import type { Plan, PlanDiff, ReviewComment } from "../api/types";
import { useFollowSession } from "../live/useLive";
import { PlanAsk } from "../ask/PlanAsk";
import { DecisionBar } from "../plan/DecisionBar";
import { changedLines, diffSize, SizeBadge } from "../plan/diffSize";
import { lastSeen, rememberSeen } from "../plan/lastSeen";
import { PlanText, usePlanOutline } from "../plan/PlanText";
import { usePlanToRead, useShownVersion } from "../plan/useShownVersion";
import { canSelect, leftOut } from "../plan/selection";
import { CommentPanel, StepComments } from "../review/CommentPanel";
import { SelectionBar } from "../review/SelectionBar";
import { useCommentPlaces } from "../review/highlights";
import { useReview } from "../review/useReview";
import { sessionIdOf } from "../session/id";
import { SessionName } from "../session/SessionName";
import { useKeys } from "../shell/keys";
import { usePageActions } from "../shell/pageActions";
import { PageHead } from "../shell/Shell";
import { t } from "../texts/t";
import { Banner, Button, Failure, Loading } from "../ui/basics";
import { CopyButton } from "../ui/CopyButton";
import { Visible, visible } from "../ui/hidden";
import { Words } from "../ui/Words";
import { PlanBadge, planState } from "../ui/status";

// What is needed to read the plan and to decide comes first.
const PlanChanges = lazy(() => import("../plan/PlanChanges").then(({ PlanChanges }) => ({ default: PlanChanges })));
const ChangedFiles = lazy(() => import("../plan/ChangedFiles").then(({ ChangedFiles }) => ({ default: ChangedFiles })));
const History = lazy(() => import("../plan/History").then(({ History }) => ({ default: History })));
const Approved = lazy(() => import("../plan/Approved").then(({ Approved }) => ({ default: Approved })));

export type PlanView = "plan" | "changes" | "files" | "history" | "raw";

export function PlanPage(): ReactNode {
  const { plan: planId } = useParams({ from: "/p/$plan" });
  const { plan, error, retry } = usePlanToRead(planId);
  if (plan) return <PlanRoom key={planId} plan={plan} />;
  return (
    <main id="main" tabIndex={-1} className="page">
      <PageHead title={t("plan.title")} />
      <div className="page-body">{error ? <Failure error={error} retry={retry} /> : <Loading words={t("plan.loading")} />}</div>
    </main>
  );
}

function PlanRoom({ plan }: { plan: Plan }): ReactNode {
  const session = sessionIdOf(plan);
  useFollowSession(session);
  const navigate = useNavigate({ from: "/p/$plan" });
  const search = useSearch({ from: "/p/$plan" });
  const view = search.view ?? "plan";
  const [unticked, setUnticked] = useState<ReadonlySet<number>>(new Set());
  const { shown, accept } = useShownVersion(plan);
  const [seen] = useState(() => lastSeen(plan.id));
  const [at, setAt] = useState<number>();
  const text = useRef<HTMLDivElement>(null);
  const review = useReview(shown);

  useEffect(() => {
    if (shown.digest === plan.digest) rememberSeen(plan.id, { version: plan.version, digest: plan.digest, at: new Date().toISOString() });
  }, [plan.id, plan.version, plan.digest, shown.digest]);

  const isOld = shown.digest !== plan.digest;
  const hasChanged = seen !== undefined && seen.digest !== shown.digest && seen.version < shown.version;
  const base = isOld ? shown.version : hasChanged ? seen.version : undefined;
  const since = useQuery({ ...planDiffQuery(plan.id, base, plan.version), enabled: base !== undefined });
  const changed = useMemo(() => (base !== undefined && !isOld && since.data ? changedLines(since.data) : undefined), [base, isOld, since.data]);

  const selectable = canSelect(shown);
  const out = useMemo(() => (selectable ? leftOut(shown.steps, unticked) : []), [selectable, shown.steps, unticked]);
  const toggle = (position: number) =>
    setUnticked((before) => {
      const next = new Set(before);
      if (!next.delete(position)) next.add(position);
      return next;
    });

  const show = (next: PlanView, from?: number, to?: number) =>
    void navigate({ search: { view: next === "plan" ? undefined : next, from, to }, replace: next === view });
  const reviewChanges = () => {
    accept();
    show("changes", base, plan.version);
  };

  const [active, setActive] = useState<string>();
  const [areCommentsOpen, setCommentsOpen] = useState(false);
  const sent = useMemo(() => review?.rounds.flatMap((round) => round.comments.filter(({ resolved }) => resolved !== true)) ?? [], [review?.rounds]);
  const places = useCommentPlaces(text, review?.comments ?? NO_COMMENTS, sent, active, view === "plan" ? shown.digest : "");
  const go = (comment: ReviewComment) => {
    setActive(comment.id);
    places.show(comment);
  };
  // A comment that is begun opens them, and what was not saved is not left out of sight.
  const writingId = review?.writing?.id;
  const isUnsaved = review?.saving === "failed";
  useEffect(() => {
    if (writingId !== undefined || isUnsaved) setCommentsOpen(true);
  }, [writingId, isUnsaved]);
  /** From the words in the text to their comment. */
  const openComment = (x: number, y: number) => {
    const found = document.getSelection()?.isCollapsed === false ? undefined : places.at(x, y);
    setActive(found);
    if (found === undefined) return;
    setCommentsOpen(true);
    const element = document.getElementById(`comment-${found}`);
    element?.closest("details")?.setAttribute("open", "");
    element?.scrollIntoView({ block: "nearest" });
  };
  useKeys({
    d: () => show(view === "changes" ? "plan" : "changes"),
    e: () => plan.execution && void navigate({ to: "/p/$plan/run/$number", params: { plan: plan.id, number: String(plan.execution.number) } }),
    j: () => move(1),
    k: () => move(-1),
    x: () => at !== undefined && selectable && toggle(at),
    c: () => review && review.begin(at === undefined ? undefined : { step: shown.steps[at - 1]?.id ?? "" }),
  });
  function move(by: number): void {
    if (shown.style === "document" || shown.steps.length === 0) {
      document.querySelector(".plan-scroll")?.scrollBy({ top: by * 120 });
      return;
    }
    const next = Math.min(shown.steps.length, Math.max(1, (at ?? (by > 0 ? 0 : shown.steps.length + 1)) + by));
    setAt(next);
    document.getElementById(`step-row-${next}`)?.scrollIntoView({ block: "nearest" });
  }

  const views = plan.execution ? VIEWS : VIEWS.filter((one) => one !== "files");
  usePageActions([
    ...views.filter((one) => one !== view).map((one) => ({ id: one, label: t("palette.show", { view: t(`plan.view.${one}`) }), icon: "book" as const, ...(one === "changes" ? { key: "d" } : {}), act: () => show(one) })),
    ...(review ? [{ id: "comment", label: t("review.comment"), icon: "comment" as const, key: "c", act: () => review.begin(undefined) }] : []),
    ...(plan.execution ? [{ id: "run", label: t("plan.openRun"), icon: "run" as const, key: "e", act: () => void navigate({ to: "/p/$plan/run/$number", params: { plan: plan.id, number: String(plan.execution?.number) } }) }] : []),
    { id: "session", label: t("palette.session"), icon: "comment", act: () => void navigate({ to: "/s/$session", params: { session } }) },
  ]);

  const state = planState(plan);
  return (
    <main id="main" tabIndex={-1} className="page plan-page" data-comments={review !== null || undefined}>
      <PageHead
        title={<Visible text={shown.title} />}
        about={
          <>
            <PlanBadge state={state} />
            <span>{t("plan.number", { n: plan.number })}</span>
            <span>{t("plan.version", { n: shown.version })}</span>
            {shown.steps.length > 0 && <span>{t("plan.steps", { count: shown.steps.length })}</span>}
            {since.data && !isOld && <SizeBadge size={diffSize(since.data)} />}
            <Link to="/s/$session" params={{ session }}>
              <SessionName session={session} />
            </Link>
          </>
        }
        actions={<ViewTabs views={views} view={view} onView={(next) => show(next)} />}
      />
      <div className="plan-grid">
        <Outline plan={shown} counts={places.counts} />
        <div className="plan-scroll" onClick={(event) => openComment(event.clientX, event.clientY)}>
          <div className="plan-column">
            <PlanAsk plan={plan} />
            {isOld && <NewerVersion plan={plan} shown={shown} difference={since.data} onChanges={reviewChanges} onRead={() => (accept(), show("plan"))} />}
            <PlanBanners plan={plan} state={state} hasChanged={hasChanged && !isOld && view === "plan"} seenVersion={seen?.version} onChanges={reviewChanges} />
            {view === "plan" && (
              <PlanText
                plan={shown}
                ref={text}
                changed={changed}
                at={at}
                selection={selectable ? { out, toggle } : undefined}
                {...(review ? { extra: (step) => <StepComments review={review} step={step} /> } : {})}
              />
            )}
            {view === "raw" && <RawText plan={shown} />}
            <Suspense fallback={view === "plan" ? null : <Loading />}>
              {view === "changes" && <PlanChanges plan={plan} from={search.from} to={search.to} onChoose={(from, to) => show("changes", from, to)} />}
              {view === "files" && <ChangedFiles plan={plan} />}
              {view === "history" && <History plan={plan} />}
              {view === "plan" && plan.approval && <Approved plan={plan} />}
            </Suspense>
          </div>
        </div>
        {review && <CommentPanel review={review} plan={shown} active={active} onGo={go} open={areCommentsOpen} onClose={() => setCommentsOpen(false)} />}
      </div>
      {review && view === "plan" && <SelectionBar within={text} review={review} />}
      <footer className="plan-foot">
        {review && (
          <Button look="plain" icon="comment" className="comments-toggle" aria-label={t("review.count", { count: review.unsent.length })} aria-expanded={areCommentsOpen} onClick={() => setCommentsOpen(!areCommentsOpen)}>
            {review.unsent.length}
          </Button>
        )}
        <DecisionBar plan={plan} shown={shown} unticked={unticked} areCommentsShown onReviewChanges={reviewChanges} />
      </footer>
    </main>
  );
}

const NO_COMMENTS: readonly ReviewComment[] = [];

const VIEWS: readonly PlanView[] = ["plan", "changes", "files", "history", "raw"];

/** Files are there once the plan was begun. */
function ViewTabs({ views, view, onView }: { views: readonly PlanView[]; view: PlanView; onView: (view: PlanView) => void }): ReactNode {
  return (
    <div className="segments" role="group" aria-label={t("plan.views")}>
      {views.map((one) => (
        <button key={one} type="button" aria-pressed={view === one} onClick={() => onView(one)}>
          {t(`plan.view.${one}`)}
        </button>
      ))}
    </div>
  );
}

function Outline({ plan, counts }: { plan: Plan; counts: ReadonlyMap<string, number> }): ReactNode {
  const parts = usePlanOutline(plan, counts);
  return (
    <nav className="outline" aria-label={t("plan.outline")}>
      <h2>{t("plan.outline")}</h2>
      <ol>
        {parts.map((part) => (
          <li key={part.anchor} data-depth={part.depth}>
            <a
              href={`#${part.anchor}`}
              onClick={(event) => {
                event.preventDefault();
                document.getElementById(part.anchor)?.scrollIntoView({ behavior: "smooth", block: "start" });
              }}
            >
              {visible(part.text)}
            </a>
            {(counts.get(part.anchor) ?? 0) > 0 && (
              <span className="outline-count" title={t("review.count", { count: counts.get(part.anchor) ?? 0 })}>
                {counts.get(part.anchor)}
              </span>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** Says that the text in view is not the newest, and leads there. The text itself stays until the person asks. */
function NewerVersion({ plan, shown, difference, onChanges, onRead }: { plan: Plan; shown: Plan; difference: PlanDiff | undefined; onChanges: () => void; onRead: () => void }): ReactNode {
  return (
    <Banner
      tone="waiting"
      icon="swap"
      actions={
        <>
          <Button onClick={onChanges}>{t("plan.newerChanges")}</Button>
          <Button look="quiet" onClick={onRead}>
            {t("plan.newerRead", { version: plan.version })}
          </Button>
        </>
      }
    >
      {t("plan.newer", { version: plan.version, shown: shown.version })} {difference && <SizeBadge size={diffSize(difference)} />}
    </Banner>
  );
}

function PlanBanners({
  plan,
  state,
  hasChanged,
  seenVersion,
  onChanges,
}: {
  plan: Plan;
  state: ReturnType<typeof planState>;
  hasChanged: boolean;
  seenVersion: number | undefined;
  onChanges: () => void;
}): ReactNode {
  const run = plan.execution && (
    <Link className="button" data-look="plain" to="/p/$plan/run/$number" params={{ plan: plan.id, number: String(plan.execution.number) }}>
      {t("plan.openRun")}
    </Link>
  );
  const progress = { done: plan.progress?.done ?? 0, total: plan.progress?.total ?? 0, step: plan.progress?.next?.step ?? 0 };
  const stuck = plan.steps.find((step) => step.status === "UNCERTAIN");
  const failed = plan.steps.find((step) => step.status === "FAILED");
  return (
    <>
      {hasChanged && (
        <Banner tone="quiet" icon="clock" actions={<Button onClick={onChanges}>{t("plan.showChanges")}</Button>}>
          {t("plan.changedSince", { version: seenVersion ?? 0 })}
        </Banner>
      )}
      {plan.feedback !== null && (plan.status === "COLLECTING" || plan.status === "READY") && (
        <Banner tone="quiet" icon="comment">
          {t("plan.feedback")} <Visible text={plan.feedback} />
        </Banner>
      )}
      {plan.supersededBy !== null && (
        <Banner
          tone="waiting"
          icon="swap"
          actions={
            <Link className="button" data-look="plain" to="/p/$plan" params={{ plan: plan.supersededBy }}>
              {t("plan.openReplacement")}
            </Link>
          }
        >
          {t("plan.replaced")}
        </Banner>
      )}
      {state === "EXECUTING" && (
        <Banner tone="running" icon="run" actions={run}>
          {t("plan.running", progress)}
        </Banner>
      )}
      {state === "PAUSED" && (
        <Banner tone="waiting" icon="pause" actions={run}>
          <Visible text={plan.situation} />
        </Banner>
      )}
      {state === "LEFT_TO_AGENT" && (
        <Banner tone="running" icon="run" actions={run}>
          {t("plan.leftToAgent", progress)}
        </Banner>
      )}
      {state === "UNCERTAIN" && (
        <Banner tone="waiting" icon="question" actions={run}>
          <Visible text={plan.situation} /> {stuck?.note && <Words text={stuck.note} />}
        </Banner>
      )}
      {(state === "COMPLETED" || state === "PARTIALLY_COMPLETED") && (
        <Banner tone={state === "COMPLETED" ? "done" : "waiting"} icon={state === "COMPLETED" ? "check" : "pause"} actions={run}>
          {t(state === "COMPLETED" ? "plan.completed" : "plan.partly", progress)}
        </Banner>
      )}
      {state === "FAILED" && (
        <Banner tone="failed" icon="warning" actions={run}>
          <Visible text={plan.situation} /> {t("plan.partly", progress)} {failed?.note && <Words text={failed.note} />}
        </Banner>
      )}
      {plan.endedBecause !== null && (
        <Banner tone="quiet" icon="comment">
          {t("plan.endedBecause")} <Visible text={plan.endedBecause} />
        </Banner>
      )}
    </>
  );
}

/** The text that the digest is made of, with nothing hidden in it. */
function RawText({ plan }: { plan: Plan }): ReactNode {
  return (
    <section className="raw">
      <div className="raw-head">
        <p className="secondary">{t("raw.words")}</p>
        <CopyButton text={plan.digest} label={t("covers.copyDigest")}>
          <code className="digest">{plan.digest}</code>
        </CopyButton>
      </div>
      <pre className="raw-text" tabIndex={0}>
        <Visible text={plan.markdown} />
      </pre>
    </section>
  );
}
