import { useEffect, type RefObject } from "react";

import type { ReviewComment } from "../api/review";
import { findAnchor, rangeOf } from "./anchors";

/** Marks the commented words in the text without changing the page, where the browser can. */
export function useCommentHighlights(root: RefObject<HTMLElement | null>, comments: readonly ReviewComment[], text: string): void {
  useEffect(() => {
    const registry = (CSS as unknown as { highlights?: Map<string, unknown> }).highlights;
    const Highlight = (window as unknown as { Highlight?: new (...ranges: Range[]) => unknown }).Highlight;
    const element = root.current;
    if (!registry || !Highlight || !element) return;
    const words = element.textContent ?? "";
    const ranges = { comment: [] as Range[], strike: [] as Range[] };
    for (const comment of comments) {
      const found = findAnchor(words, comment.anchor);
      const range = found && rangeOf(element, found.start, found.end);
      if (range) ranges[comment.kind === "strike" ? "strike" : "comment"].push(range);
    }
    registry.set("review-comment", new Highlight(...ranges.comment));
    registry.set("review-strike", new Highlight(...ranges.strike));
    return () => {
      registry.delete("review-comment");
      registry.delete("review-strike");
    };
  }, [root, comments, text]);
}
