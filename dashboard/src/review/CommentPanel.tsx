import type { ReactNode } from "react";

import type { ReviewAnchor, ReviewComment } from "../api/review";
import type { Plan, Step } from "../api/types";
import { t } from "../texts/t";
import { Banner, Button, IconButton, Time } from "../ui/basics";
import { Visible } from "../ui/hidden";
import { findAnchor } from "./anchors";
import type { ReviewDraft } from "./useReview";

/** Comments in the order of the text; earlier rounds below. */
export function CommentPanel({ review, plan }: { review: ReviewDraft; plan: Plan }): ReactNode {
  const comments = inOrder(review.comments, plan);
  return (
    <aside className="comments" aria-label={t("review.title")} data-empty={(comments.length === 0 && !review.writing && review.rounds.length === 0 && review.saving !== "failed") || undefined}>
      <h2>{t("review.title")}</h2>
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
          <li key={comment.id} className="comment" data-kind={comment.kind}>
            <Anchor anchor={comment.anchor} plan={plan} kind={comment.kind} />
            {comment.text !== "" && (
              <p>
                <Visible text={comment.text} />
              </p>
            )}
            <div className="comment-foot">
              {comment.state && (
                <span className="badge" data-tone={comment.state === "addressed" ? "done" : comment.state === "open" ? "waiting" : "quiet"}>
                  {t(`review.state.${comment.state}`)}
                </span>
              )}
              {comment.kind !== "strike" && <IconButton icon="edit" label={t("review.edit")} onClick={() => review.edit(comment.id)} />}
              <IconButton icon="trash" label={t("review.remove")} onClick={() => review.remove(comment.id)} />
            </div>
          </li>
        ))}
      </ol>
      {review.rounds.map((round, index) => (
        <details key={index} className="round">
          <summary>
            {t("review.round", { version: round.version, count: round.comments.length })} <Time at={round.at} />
          </summary>
          <ol className="comment-list">
            {round.comments.map((comment) => (
              <li key={comment.id} className="comment">
                <Anchor anchor={comment.anchor} plan={plan} kind={comment.kind} />
                {comment.state && (
                  <span className="badge" data-tone={comment.state === "addressed" ? "done" : comment.state === "open" ? "waiting" : "quiet"}>
                    {t(`review.state.${comment.state}`)}
                  </span>
                )}
                <p>
                  <Visible text={comment.text} />
                </p>
              </li>
            ))}
          </ol>
        </details>
      ))}
    </aside>
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
        <textarea
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
    return <p className="comment-anchor">{step ? t("step.number", { n: step.position }) : t("review.state.orphaned")}</p>;
  }
  if (anchor.quote === undefined) return <p className="comment-anchor">{t("review.whole")}</p>;
  return (
    <blockquote className="comment-anchor" data-kind={kind}>
      <Visible text={anchor.quote.length > 160 ? `${anchor.quote.slice(0, 160)}…` : anchor.quote} />
    </blockquote>
  );
}

function inOrder(comments: readonly ReviewComment[], plan: Plan): ReviewComment[] {
  const place = (comment: ReviewComment): number => {
    if (comment.anchor.step !== undefined) return plan.steps.findIndex((step) => step.id === comment.anchor.step);
    return findAnchor(plan.markdown, comment.anchor)?.start ?? Number.MAX_SAFE_INTEGER;
  };
  return [...comments].sort((a, b) => place(a) - place(b));
}
