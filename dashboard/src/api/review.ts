import { queryOptions } from "@tanstack/react-query";

import { request } from "./client";
import type { CommentKind, Review, ReviewAnchor, ReviewComment } from "./types";

/** One person's comments that were not sent yet, and the rounds that were. */
export function reviewQuery(planId: string) {
  return queryOptions({
    queryKey: ["plan", planId, "review"],
    queryFn: ({ signal }) => request<Review>("GET", reviewPath(planId), { signal }),
    staleTime: 60_000,
  });
}

export function saveReview(planId: string, version: number, comments: readonly ReviewComment[]): Promise<Review> {
  const draft = comments.map(({ id, anchor, kind, text }) => ({ id, anchor, kind, text }));
  return request<Review>("PUT", reviewPath(planId), { body: { version, comments: draft } });
}

const reviewPath = (planId: string) => `/api/plans/${encodeURIComponent(planId)}/review`;

export type { CommentKind, Review, ReviewAnchor, ReviewComment };
