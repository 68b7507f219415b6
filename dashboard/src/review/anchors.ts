import type { ReviewAnchor } from "../api/review";

/** How much text around a quotation is kept to find it again. */
const AROUND = 40;

/** The anchor of a piece of a text. */
export function anchorAt(text: string, start: number, end: number): ReviewAnchor {
  return {
    quote: text.slice(start, end),
    prefix: text.slice(Math.max(0, start - AROUND), start),
    suffix: text.slice(end, end + AROUND),
  };
}

/**
 * Where an anchor is in a text. Among several places with the same words the one with the most similar surroundings counts;
 * `undefined` if the words are gone.
 */
export function findAnchor(text: string, anchor: ReviewAnchor): { start: number; end: number } | undefined {
  const quote = anchor.quote;
  if (quote === undefined || quote === "") return undefined;
  let best: { start: number; end: number } | undefined;
  let bestScore = -1;
  for (let at = text.indexOf(quote); at >= 0; at = text.indexOf(quote, at + 1)) {
    const end = at + quote.length;
    const score = commonEnd(anchor.prefix ?? "", text.slice(Math.max(0, at - AROUND), at)) + commonStart(anchor.suffix ?? "", text.slice(end, end + AROUND));
    if (score > bestScore) {
      bestScore = score;
      best = { start: at, end };
    }
  }
  return best;
}

function commonStart(a: string, b: string): number {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n += 1;
  return n;
}

function commonEnd(a: string, b: string): number {
  let n = 0;
  while (n < a.length && n < b.length && a[a.length - 1 - n] === b[b.length - 1 - n]) n += 1;
  return n;
}

/** Offsets in the text of an element for a selection in it. */
export function selectedOffsets(root: HTMLElement, range: Range): { start: number; end: number } | undefined {
  if (!root.contains(range.startContainer) || !root.contains(range.endContainer)) return undefined;
  const before = document.createRange();
  before.selectNodeContents(root);
  before.setEnd(range.startContainer, range.startOffset);
  const start = before.toString().length;
  const end = start + range.toString().length;
  return end > start ? { start, end } : undefined;
}

/** The range of an element that has this piece of its text. */
export function rangeOf(root: HTMLElement, start: number, end: number): Range | undefined {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let at = 0;
  let begun = false;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const length = node.textContent?.length ?? 0;
    if (!begun && start < at + length) {
      range.setStart(node, start - at);
      begun = true;
    }
    if (begun && end <= at + length) {
      range.setEnd(node, end - at);
      return range;
    }
    at += length;
  }
  return undefined;
}
