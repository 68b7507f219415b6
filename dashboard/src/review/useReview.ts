import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useSyncExternalStore } from "react";

import { newId } from "../api/newId";
import { changeReview, reviewQuery } from "../api/review";
import type { CommentKind, Plan, Review, ReviewAnchor, ReviewComment, ReviewRound } from "../api/types";
import { changed, draftStoreOf, type CommentChange, type DraftState, type Writing } from "./draft";

export type { Writing } from "./draft";

/** One person's comments on a plan, collected on the server until they are sent with a decision. */
export interface ReviewDraft {
  comments: readonly ReviewComment[];
  rounds: readonly ReviewRound[];
  /** The comment that is being written. */
  writing: Writing | undefined;
  saving: DraftState["saving"];
  /** Whether the server has every comment, and none is half written. */
  isSaved: boolean;
  /** The comments that no decision took along yet, with one that is half written. */
  unsent: readonly ReviewComment[];
  begin: (anchor: ReviewAnchor | undefined, kind?: CommentKind) => void;
  write: (text: string) => void;
  keep: () => void;
  drop: () => void;
  edit: (id: string) => void;
  remove: (id: string) => void;
  saveAgain: () => void;
  /** Keeps what is half written, and answers whether the server has all comments then. */
  finish: () => Promise<boolean>;
  /** Throws all of them away, and answers whether the server did. */
  discard: () => Promise<boolean>;
  /** The comments went with a decision. */
  sent: () => void;
}

/** The same on every page that shows the plan. `null` until the comments are loaded. */
export function useReview(plan: Pick<Plan, "id" | "version">, enabled = true): ReviewDraft | null {
  const client = useQueryClient();
  const query = useQuery({ ...reviewQuery(plan.id), enabled });
  const store = draftStoreOf(plan.id);
  const { writing, pending, saving } = useSyncExternalStore(store.subscribe, () => store.state);
  const review = query.data;
  const comments = useMemo(() => changed(review?.comments ?? NONE, pending), [review, pending]);

  const send = useCallback(
    async (changes: readonly CommentChange[]) => {
      const saved = await changeReview(plan.id, plan.version, (now) => changed(now, changes));
      client.setQueryData<Review>(reviewQuery(plan.id).queryKey, saved);
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

  if (review === undefined) return null;
  const put = (comment: ReviewComment) => store.add({ put: comment }, send);
  const keep = () => {
    const { writing: now } = store.state;
    if (!now) return;
    const text = now.text.trim();
    if (text !== "" || now.kind === "strike") put({ id: now.id, anchor: now.anchor, kind: now.kind, text });
    store.write(undefined);
  };
  const flush = async () => {
    await store.save(send);
    return store.state.saving === "saved";
  };
  const half = writing !== undefined && writing.text.trim() !== "" ? writing : undefined;
  const unsent = half === undefined ? comments : [...comments.filter((comment) => comment.id !== half.id), { id: half.id, anchor: half.anchor, kind: half.kind, text: half.text }];
  return {
    comments,
    rounds: review.rounds,
    writing,
    saving,
    isSaved: saving === "saved" && half === undefined,
    unsent,
    begin: (anchor, kind = "comment") => {
      // What was begun before is not thrown away.
      keep();
      if (kind === "strike" && anchor) put({ id: newId(), anchor, kind, text: "" });
      else store.write({ id: newId(), anchor: anchor ?? {}, kind, text: kind === "replace" ? (anchor?.quote ?? "") : "" });
    },
    write: (text) => {
      const { writing: now } = store.state;
      if (now) store.write({ ...now, text });
    },
    keep,
    drop: () => store.write(undefined),
    edit: (id) => {
      const comment = comments.find((one) => one.id === id);
      if (comment) store.write({ id, anchor: comment.anchor, kind: comment.kind, text: comment.text });
    },
    remove: (id) => store.add({ remove: id }, send),
    saveAgain: () => void store.save(send),
    finish: () => {
      keep();
      return flush();
    },
    discard: () => {
      store.write(undefined);
      for (const { id } of comments) store.add({ remove: id }, send);
      return flush();
    },
    sent: () => void client.invalidateQueries({ queryKey: reviewQuery(plan.id).queryKey }),
  };
}

const NONE: readonly ReviewComment[] = [];
