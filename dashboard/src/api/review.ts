import { queryOptions } from "@tanstack/react-query";

import { request } from "./client";
import type { CommentKind, Review, ReviewAnchor, ReviewComment } from "./types";

/** One person's comments that were not sent yet, and the rounds that were. */
export function reviewQuery(planId: string) {
  return queryOptions({
    queryKey: ["plan", planId, "review"],
    queryFn: ({ signal }) => fetchReview(planId, signal),
    staleTime: 60_000,
  });
}

function fetchReview(planId: string, signal?: AbortSignal): Promise<Review> {
  return request<Review>("GET", reviewPath(planId), { signal });
}

/**
 * Changes the draft that the server has now, and not the one that this page knows: what another tab wrote meanwhile stays. The tabs
 * of a browser wait for each other.
 */
export function changeReview(planId: string, version: number, change: (comments: readonly ReviewComment[]) => readonly ReviewComment[]): Promise<Review> {
  return alone(`planwright.review.${planId}`, async () => {
    const now = await fetchReview(planId);
    const draft = change(now.comments).map(({ id, anchor, kind, text }) => ({ id, anchor, kind, text }));
    return request<Review>("PUT", reviewPath(planId), { body: { version, comments: draft } });
  });
}

/** Says whether the person is satisfied with what became of a comment. It belongs to the plan that it was sent on. */
export function resolveComment(planId: string, comment: string, resolved: boolean): Promise<Review> {
  return request<Review>("POST", `${reviewPath(planId)}/resolve`, { body: { comment, resolved } });
}

/** Locks exist on `https:` and on localhost only. */
function alone<T>(name: string, act: () => Promise<T>): Promise<T> {
  const locks = (navigator as { locks?: LockManager }).locks;
  return locks ? (locks.request(name, act) as Promise<T>) : act();
}

const reviewPath = (planId: string) => `/api/plans/${encodeURIComponent(planId)}/review`;

export type { CommentKind, Review, ReviewAnchor, ReviewComment };
