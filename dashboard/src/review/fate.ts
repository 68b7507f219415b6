import type { ReviewComment } from "../api/review";
import type { Plan } from "../api/types";
import { findAnchor } from "./anchors";

const letters = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, " ").trim();

/** Whether the words of a comment are in the text, and among the words that stood around them. */
export function whereIs(plan: Pick<Plan, "markdown">, { anchor }: Pick<ReviewComment, "anchor">): "here" | "moved" | "gone" {
  if (anchor.quote === undefined) return "here";
  const found = findAnchor(plan.markdown, anchor);
  if (!found) return letters(plan.markdown).includes(letters(anchor.quote)) ? "here" : "gone";
  const around = (text: string | undefined, now: string) => text !== undefined && letters(text) !== "" && letters(now).includes(letters(text));
  const { prefix, suffix } = anchor;
  const isNear = around(prefix?.slice(-12), plan.markdown.slice(Math.max(0, found.start - 80), found.start)) || around(suffix?.slice(0, 12), plan.markdown.slice(found.end, found.end + 80));
  const knows = letters(prefix ?? "") !== "" || letters(suffix ?? "") !== "";
  return !knows || isNear ? "here" : "moved";
}

/** Whether a later version has the words that a comment asked for, in place of those that it was about. */
export function isTaken(plan: Pick<Plan, "markdown">, comment: ReviewComment): boolean {
  const { kind, text, state, anchor } = comment;
  if (state !== "addressed") return false;
  const now = letters(plan.markdown);
  if (kind === "replace") return letters(text) !== "" && now.includes(letters(text));
  return kind === "strike" && anchor.quote !== undefined && letters(anchor.quote) !== "" && !now.includes(letters(anchor.quote));
}
