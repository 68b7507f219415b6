import { queryOptions } from "@tanstack/react-query";

import { ApiProblem, request } from "./client";

/** Where a comment belongs: a step, or a quotation with the text around it. */
export interface ReviewAnchor {
  step?: string;
  quote?: string;
  prefix?: string;
  suffix?: string;
}

export type CommentKind = "comment" | "replace" | "strike";
export type CommentState = "open" | "addressed" | "orphaned";

export interface ReviewComment {
  id: string;
  anchor: ReviewAnchor;
  kind: CommentKind;
  text: string;
  /** On a later version than the one it was written for. */
  state?: CommentState;
}

/** One person's comments that were not sent yet, and the rounds that were. */
export interface Review {
  version: number;
  comments: ReviewComment[];
  rounds?: ReviewRound[];
}

export interface ReviewRound {
  version: number;
  at: string;
  by: string;
  sentWith: "revise" | "approve";
  comments: ReviewComment[];
}

/** `null` if the server has no reviews: the dashboard then offers none. */
let isOffered = true;

export function reviewQuery(planId: string) {
  return queryOptions({
    queryKey: ["plan", planId, "review"],
    queryFn: async ({ signal }): Promise<Review | null> => {
      if (!isOffered) return null;
      try {
        return await request<Review>("GET", `/api/plans/${encodeURIComponent(planId)}/review`, { signal });
      } catch (error) {
        if (error instanceof ApiProblem && (error.status === 404 || error.status === 405)) {
          // The plan is there: it is the call that is not.
          isOffered = false;
          return null;
        }
        throw error;
      }
    },
    staleTime: 60_000,
  });
}

export function saveReview(planId: string, review: Pick<Review, "version" | "comments">): Promise<Review> {
  return request<Review>("PUT", `/api/plans/${encodeURIComponent(planId)}/review`, { body: review });
}
