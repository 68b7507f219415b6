import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";

import { newId } from "../api/newId";
import { reviewQuery, saveReview } from "../api/review";
import type { CommentKind, Plan, Review, ReviewAnchor, ReviewComment, ReviewRound } from "../api/types";
import { SaveQueue } from "./saveQueue";

/** One person's comments on a plan, collected on the server until they are sent with a decision. */
export interface ReviewDraft {
  comments: readonly ReviewComment[];
  rounds: readonly ReviewRound[];
  /** The comment that is being written. */
  writing: Writing | undefined;
  saving: "saved" | "saving" | "failed";
  begin: (anchor: ReviewAnchor | undefined, kind?: CommentKind) => void;
  write: (text: string) => void;
  keep: () => void;
  drop: () => void;
  edit: (id: string) => void;
  remove: (id: string) => void;
  saveAgain: () => void;
  /** The comments went with a decision. */
  sent: () => void;
}

export interface Writing {
  id: string;
  anchor: ReviewAnchor;
  kind: CommentKind;
  text: string;
}

/** `null` until the comments are loaded. */
export function useReview(plan: Plan): ReviewDraft | null {
  const client = useQueryClient();
  const query = useQuery(reviewQuery(plan.id));
  const [writing, setWriting] = useState<Writing>();
  const [saving, setSaving] = useState<ReviewDraft["saving"]>("saved");
  const queue = useRef(new SaveQueue());
  const review = query.data ?? null;
  const comments = review?.comments ?? NONE;

  const save = useCallback(
    (next: readonly ReviewComment[]) => {
      const version = plan.version;
      client.setQueryData<Review>(reviewQuery(plan.id).queryKey, (before) => before && { ...before, version, comments: [...next] });
      setSaving("saving");
      queue.current.add(
        () => saveReview(plan.id, version, next),
        (isSaved) => setSaving(isSaved ? "saved" : "failed"),
      );
    },
    [client, plan.id, plan.version],
  );

  // What could not be saved must not be lost with the page.
  useEffect(() => {
    if (saving === "saved") return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [saving]);

  if (review === null) return null;
  return {
    comments,
    rounds: review.rounds,
    writing,
    saving,
    begin: (anchor, kind = "comment") => {
      if (kind === "strike" && anchor) save([...comments, { id: newId(), anchor, kind, text: "" }]);
      else setWriting({ id: newId(), anchor: anchor ?? {}, kind, text: kind === "replace" ? (anchor?.quote ?? "") : "" });
    },
    write: (text) => setWriting((before) => before && { ...before, text }),
    keep: () => {
      if (!writing) return;
      const kept = comments.filter((comment) => comment.id !== writing.id);
      if (writing.text.trim() !== "") save([...kept, { id: writing.id, anchor: writing.anchor, kind: writing.kind, text: writing.text.trim() }]);
      setWriting(undefined);
    },
    drop: () => setWriting(undefined),
    edit: (id) => {
      const comment = comments.find((one) => one.id === id);
      if (comment) setWriting({ id, anchor: comment.anchor, kind: comment.kind, text: comment.text });
    },
    remove: (id) => save(comments.filter((comment) => comment.id !== id)),
    saveAgain: () => save(comments),
    sent: () => void client.invalidateQueries({ queryKey: reviewQuery(plan.id).queryKey }),
  };
}

const NONE: readonly ReviewComment[] = [];
