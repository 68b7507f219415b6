import { useState, type ReactNode } from "react";

import type { Plan } from "../api/types";
import { t } from "../texts/t";
import { Button, errorWords } from "../ui/basics";
import { Dialog } from "../ui/Dialog";
import { Visible } from "../ui/hidden";
import { Anchor } from "./CommentPanel";
import type { ReviewDraft } from "./useReview";

/** Asks what becomes of comments that no decision took along, before a plan is approved without them. */
export function UnsentDialog({
  plan,
  review,
  busy,
  approve,
  onApprove,
  onRevise,
  onClose,
  problem,
}: {
  plan: Plan;
  review: ReviewDraft;
  busy: boolean;
  /** What is approved. */
  approve: string;
  /** Approves with the comments as notes, or without them. */
  onApprove: (withReview: boolean) => void;
  onRevise: () => void;
  onClose: () => void;
  problem: unknown;
}): ReactNode {
  const [doing, setDoing] = useState(false);
  const [isUnsaved, setUnsaved] = useState(false);
  const count = review.unsent.length;
  const after = (done: () => Promise<boolean>, act: () => void) => {
    setDoing(true);
    setUnsaved(false);
    void done().then((isDone) => {
      setDoing(false);
      if (isDone) act();
      else setUnsaved(true);
    });
  };
  return (
    <Dialog open onClose={onClose} title={t("unsent.title", { count })} look="sheet">
      <div className="ask unsent">
        <p>{t("unsent.words", { count })}</p>
        <ol className="comment-list">
          {review.unsent.map((comment) => (
            <li key={comment.id} className="comment" data-kind={comment.kind}>
              <Anchor anchor={comment.anchor} plan={plan} kind={comment.kind} />
              {comment.text !== "" && (
                <p>
                  <Visible text={comment.text} />
                </p>
              )}
            </li>
          ))}
        </ol>
        {(isUnsaved || problem !== undefined) && (
          <p className="problem" role="alert">
            {isUnsaved ? t("unsent.notSaved") : errorWords(problem)}
          </p>
        )}
        <div className="ask-buttons">
          <Button onClick={onClose}>{t("ask.back")}</Button>
          <Button look="danger" busy={busy || doing} onClick={() => after(review.discard, () => onApprove(false))}>
            {t("unsent.discard", { count, approve })}
          </Button>
          <Button busy={busy || doing} onClick={() => after(review.finish, () => onApprove(true))}>
            {t("unsent.withNotes", { count, approve })}
          </Button>
          <Button look="primary" busy={busy || doing} onClick={() => after(review.finish, onRevise)}>
            {t("unsent.send", { count })}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
