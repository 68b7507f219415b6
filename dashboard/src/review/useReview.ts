import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";

import { reviewQuery, saveReview, type CommentKind, type Review, type ReviewAnchor, type ReviewComment, type ReviewRound } from "../api/review";
import type { Plan } from "../api/types";

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

/** `null` while the server does not offer reviews. */
export function useReview(plan: Plan): ReviewDraft | null {
  const client = useQueryClient();
  const query = useQuery(reviewQuery(plan.id));
  const [writing, setWriting] = useState<Writing>();
  const [saving, setSaving] = useState<ReviewDraft["saving"]>("saved");
  const last = useRef(0);
  const review = query.data ?? null;
  const comments = review?.comments ?? NONE;

  const save = useCallback(
    (next: readonly ReviewComment[]) => {
      const mine = (last.current += 1);
      const version = plan.version;
      client.setQueryData<Review | null>(["plan", plan.id, "review"], (before) => (before ? { ...before, version, comments: [...next] } : before));
      setSaving("saving");
      saveReview(plan.id, { version, comments: [...next] }).then(
        () => mine === last.current && setSaving("saved"),
        () => mine === last.current && setSaving("failed"),
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
    rounds: review.rounds ?? [],
    writing,
    saving,
    begin: (anchor, kind = "comment") => {
      if (kind === "strike" && anchor) save([...comments, { id: crypto.randomUUID(), anchor, kind, text: "" }]);
      else setWriting({ id: crypto.randomUUID(), anchor: anchor ?? {}, kind, text: kind === "replace" ? (anchor?.quote ?? "") : "" });
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
    sent: () => void client.invalidateQueries({ queryKey: ["plan", plan.id, "review"] }),
  };
}

const NONE: readonly ReviewComment[] = [];
