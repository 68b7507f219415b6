import { useCallback, useEffect, useState, type RefObject } from "react";

import type { ReviewComment } from "../api/review";
import { findAnchor, rangeOf } from "./anchors";

export interface CommentPlaces {
  /** How many comments stand in each part of the text, by the part's anchor in the page. */
  counts: ReadonlyMap<string, number>;
  /** The comment at a point of the screen. */
  at: (x: number, y: number) => string | undefined;
  /** Scrolls to the words of a comment. */
  show: (comment: ReviewComment) => void;
}

interface Registry {
  set: (name: string, value: unknown) => void;
  delete: (name: string) => void;
}

const NAMES = ["review-comment", "review-strike", "review-sent", "review-active"] as const;

/** The parts of a plan that its outline lists. Other elements have ids, too. */
const OUTLINED = '[id^="line-"], [id^="step-row-"], section[id]';

/**
 * Finds the words of the comments in the text and marks them without changing the page, where the browser can. `sent` are those of
 * earlier rounds: what is still there is marked, too.
 */
export function useCommentPlaces(root: RefObject<HTMLElement | null>, comments: readonly ReviewComment[], sent: readonly ReviewComment[], active: string | undefined, text: string): CommentPlaces {
  const [places, setPlaces] = useState<ReadonlyMap<string, Range>>(new Map());
  const [counts, setCounts] = useState<ReadonlyMap<string, number>>(new Map());

  useEffect(() => {
    const element = root.current;
    if (!element || text === "") return setPlaces(new Map());
    const words = element.textContent ?? "";
    const found = new Map<string, Range>();
    const inParts = new Map<string, number>();
    const parts = [...element.querySelectorAll<HTMLElement>(OUTLINED)];
    for (const comment of [...comments, ...sent]) {
      const place = findAnchor(words, comment.anchor);
      const range = place && rangeOf(element, place.start, place.end);
      if (range) found.set(comment.id, range);
      const step = comment.anchor.step === undefined ? undefined : element.querySelector(`[data-anchor-step="${CSS.escape(comment.anchor.step)}"]`);
      const node = step ?? range?.startContainer;
      const part = node && parts.findLast((one) => one.contains(node) || (one.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0);
      if (part && comments.includes(comment)) inParts.set(part.id, (inParts.get(part.id) ?? 0) + 1);
    }
    setPlaces(found);
    setCounts(inParts);
  }, [root, comments, sent, text]);

  useEffect(() => {
    const registry = (CSS as unknown as { highlights?: Registry }).highlights;
    const Highlight = (window as unknown as { Highlight?: new (...ranges: Range[]) => unknown }).Highlight;
    if (!registry || !Highlight) return;
    const of = (list: readonly ReviewComment[]) => list.flatMap((comment) => places.get(comment.id) ?? []);
    const ranges: Record<(typeof NAMES)[number], Range[]> = {
      "review-comment": of(comments.filter((comment) => comment.kind !== "strike")),
      "review-strike": of(comments.filter((comment) => comment.kind === "strike")),
      "review-sent": of(sent),
      "review-active": of([...comments, ...sent].filter((comment) => comment.id === active)),
    };
    for (const name of NAMES) registry.set(name, new Highlight(...ranges[name]));
    return () => {
      for (const name of NAMES) registry.delete(name);
    };
  }, [places, comments, sent, active]);

  const at = useCallback(
    (x: number, y: number) => {
      for (const [id, range] of places) {
        if ([...range.getClientRects()].some((box) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom)) return id;
      }
      return undefined;
    },
    [places],
  );
  const show = useCallback(
    (comment: ReviewComment) => {
      const { step } = comment.anchor;
      const element = step === undefined ? places.get(comment.id)?.startContainer.parentElement : root.current?.querySelector(`[data-anchor-step="${CSS.escape(step)}"]`);
      element?.scrollIntoView({ block: "center" });
    },
    [places, root],
  );
  return { counts, at, show };
}
