import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { resolveComment, reviewQuery, type ReviewAnchor, type ReviewComment } from "../api/review";
import type { Plan, Step } from "../api/types";
import { t } from "../texts/t";
import { Banner, Button, errorWords, IconButton, Time } from "../ui/basics";
import { Visible } from "../ui/hidden";
import { say } from "../ui/toasts";
import { findAnchor } from "./anchors";
import { isTaken, whereIs } from "./fate";
import type { ReviewDraft } from "./useReview";

export interface CommentPanelProps {
  review: ReviewDraft;
  plan: Plan;
  /** The comment whose place in the text is marked. */
  active: string | undefined;
  /** Shows where in the text a comment is. */
  onGo: (comment: ReviewComment) => void;
  /** On a narrow screen the comments are a sheet. */
  open: boolean;
  onClose: () => void;
}

/** Comments in the order of the text; earlier rounds below. */
export function CommentPanel({ review, plan, active, onGo, open, onClose }: CommentPanelProps): ReactNode {
  const comments = inOrder(review.comments, plan);
  return (
    <aside className="comments" aria-label={t("review.title")} data-open={open || undefined}>
      <div className="comments-head">
        <h2>{t("review.title")}</h2>
        <IconButton icon="close" className="only-sheet" label={t("review.close")} onClick={onClose} />
      </div>
      <p className="secondary" role="status">
        {t(`review.${review.saving}`)}
      </p>
      {review.saving === "failed" && (
        <Banner tone="failed" actions={<Button onClick={review.saveAgain}>{t("state.retry")}</Button>}>
          {t("review.notSaved")}
        </Banner>
      )}
      {review.writing && <Write review={review} plan={plan} />}
      {comments.length === 0 && !review.writing && <p className="secondary">{t("review.none")}</p>}
      <ol className="comment-list">
        {comments.map((comment) => (
          <li key={comment.id} className="comment" id={`comment-${comment.id}`} data-kind={comment.kind} data-active={comment.id === active || undefined}>
            <Said comment={comment} plan={plan} onGo={onGo} />
            <div className="comment-foot">
              {comment.state && <CommentStateBadge comment={comment} plan={plan} />}
              {comment.kind !== "strike" && <IconButton icon="edit" label={t("review.edit")} onClick={() => review.edit(comment.id)} />}
              <IconButton icon="trash" label={t("review.remove")} onClick={() => review.remove(comment.id)} />
            </div>
          </li>
        ))}
      </ol>
      {review.rounds.map((round, index) => (
        <Round key={index} round={round} plan={plan} active={active} onGo={onGo} />
      ))}
    </aside>
  );
}

/** Comments that were sent: what became of their words, what the agent says, and whether the person is satisfied. */
function Round({ round, plan, active, onGo }: { round: ReviewDraft["rounds"][number]; plan: Plan } & Pick<CommentPanelProps, "active" | "onGo">): ReactNode {
  const client = useQueryClient();
  const resolve = useMutation({
    mutationFn: ({ id, resolved = false }: ReviewComment) => resolveComment(round.planId, id, !resolved),
    onSettled: () => client.invalidateQueries({ queryKey: reviewQuery(plan.id).queryKey }),
    onError: (error) => say(errorWords(error), { tone: "failed" }),
  });
  const open = round.comments.filter(({ resolved }) => resolved !== true).length;
  return (
    <details className="round">
      <summary>
        {t("review.round", { version: round.version, count: round.comments.length })} <Time at={round.at} />
        {open === 0 && <span className="badge" data-tone="done">{t("review.resolved")}</span>}
      </summary>
      <ol className="comment-list">
        {round.comments.map((comment) => {
          const { id, kind, answer, resolved = false, state } = comment;
          return (
            <li key={id} className="comment" id={`comment-${id}`} data-kind={kind} data-resolved={resolved || undefined} data-active={id === active || undefined}>
              <Said comment={comment} plan={plan} onGo={onGo} />
              {answer !== undefined && (
                <blockquote className="comment-answer" dir="auto">
                  <strong>{t("review.agent")}</strong> <Visible text={answer} />
                </blockquote>
              )}
              <div className="comment-foot">
                {resolved ? <span className="badge" data-tone="done">{t("review.resolved")}</span> : state && <CommentStateBadge comment={comment} plan={plan} />}
                <Button look="quiet" busy={resolve.isPending && resolve.variables.id === id} onClick={() => resolve.mutate(comment)}>
                  {t(resolved ? "review.reopen" : "review.resolve")}
                </Button>
              </div>
              {!resolved && state === "addressed" && !isTaken(plan, comment) && <p className="secondary">{t("review.changedWords")}</p>}
            </li>
          );
        })}
      </ol>
    </details>
  );
}

/** What a comment is about and what it says. A replacement is shown as one. */
function Said({ comment, plan, onGo }: { comment: ReviewComment; plan: Plan; onGo: (comment: ReviewComment) => void }): ReactNode {
  const { anchor, kind, text } = comment;
  const isPlaced = anchor.step !== undefined || anchor.quote !== undefined;
  const about = <Anchor anchor={anchor} plan={plan} kind={kind} />;
  return (
    <>
      {isPlaced ? (
        <button type="button" className="comment-go" title={t("review.go")} onClick={() => onGo(comment)}>
          {about}
        </button>
      ) : (
        about
      )}
      {kind === "replace" ? (
        <ins className="comment-new" dir="auto">
          <Visible text={text} />
        </ins>
      ) : (
        text !== "" && (
          <p dir="auto">
            <Visible text={text} />
          </p>
        )
      )}
    </>
  );
}

/** What became of the words of a comment. Whether that answers it is for the person to say. */
function CommentStateBadge({ comment, plan }: { comment: ReviewComment; plan: Plan }): ReactNode {
  if (isTaken(plan, comment)) {
    return (
      <span className="badge" data-tone="done">
        {t("review.taken")}
      </span>
    );
  }
  const { state = "open" } = comment;
  const isMoved = state === "open" && whereIs(plan, comment) === "moved";
  return (
    <span className="badge" data-tone={state === "open" ? "waiting" : "quiet"}>
      {t(isMoved ? "review.moved" : `review.state.${state}`)}
    </span>
  );
}

/** The comments on one step, and the way to a new one. */
export function StepComments({ review, step }: { review: ReviewDraft; step: Step }): ReactNode {
  const count = review.comments.filter((comment) => comment.anchor.step === step.id).length;
  return (
    <Button look="quiet" icon="comment" className="step-comment" onClick={() => review.begin({ step: step.id })}>
      {count > 0 ? t("review.count", { count }) : t("review.comment")}
    </Button>
  );
}

function Write({ review, plan }: { review: ReviewDraft; plan: Plan }): ReactNode {
  const { writing } = review;
  if (!writing) return null;
  return (
    <form
      className="comment comment-write"
      onSubmit={(event) => {
        event.preventDefault();
        review.keep();
      }}
    >
      <Anchor anchor={writing.anchor} plan={plan} kind={writing.kind} />
      <label>
        <span className="visually-hidden">{t(`review.write.${writing.kind}`)}</span>
        <textarea dir="auto"
          autoFocus
          rows={4}
          value={writing.text}
          placeholder={t(`review.write.${writing.kind}`)}
          onChange={(event) => review.write(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) review.keep();
            if (event.key === "Escape") review.drop();
          }}
        />
      </label>
      <div className="comment-foot">
        <Button look="quiet" onClick={review.drop}>
          {t("ask.back")}
        </Button>
        <Button type="submit" look="primary">
          {t("review.keep")}
        </Button>
      </div>
    </form>
  );
}

/** What a comment is about. */
export function Anchor({ anchor, plan, kind }: { anchor: ReviewAnchor; plan: Plan; kind: ReviewComment["kind"] }): ReactNode {
  if (anchor.step !== undefined) {
    const step = plan.steps.find((one) => one.id === anchor.step);
    return <span className="comment-anchor">{step ? t("step.number", { n: step.position }) : t("review.state.orphaned")}</span>;
  }
  if (anchor.quote === undefined) return <span className="comment-anchor">{t("review.whole")}</span>;
  return (
    <q className="comment-anchor" dir="auto" data-kind={kind}>
      <Visible text={anchor.quote.length > 160 ? `${anchor.quote.slice(0, 160)}…` : anchor.quote} />
    </q>
  );
}

function inOrder(comments: readonly ReviewComment[], plan: Plan): ReviewComment[] {
  const place = (comment: ReviewComment): number => {
    if (comment.anchor.step !== undefined) return plan.steps.findIndex((step) => step.id === comment.anchor.step);
    return findAnchor(plan.markdown, comment.anchor)?.start ?? Number.MAX_SAFE_INTEGER;
  };
  return [...comments].sort((a, b) => place(a) - place(b));
}
