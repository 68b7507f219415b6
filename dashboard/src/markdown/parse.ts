import type { Heading, Nodes, Root } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";

/**
 * The same Markdown as `crates/core/src/plan/markdown.rs` reads: without footnotes, in which indented code is a paragraph. What is code in a plan
 * decides which shell lines its approval covers.
 */
const extensions = [gfm(), { disable: { null: ["gfmFootnoteDefinition", "gfmFootnoteCall", "gfmPotentialFootnoteCall"] } }];
const mdastExtensions = [gfmFromMarkdown()];

/** How many texts are kept parsed: a message that is scrolled into view again is not parsed again. */
const MAX_CACHED = 300;
const parsed = new Map<string, Root>();

export function parse(text: string): Root {
  const known = parsed.get(text);
  if (known) return known;
  const root = parseOnce(text);
  parsed.set(text, root);
  for (const oldest of parsed.keys()) {
    if (parsed.size <= MAX_CACHED) break;
    parsed.delete(oldest);
  }
  return root;
}

/** Parses a text that will not be shown again as it is now: it takes no place of one that will. */
export function parseOnce(text: string): Root {
  return fromMarkdown(text, { extensions, mdastExtensions });
}

export interface OutlineItem {
  depth: number;
  text: string;
  /** The line it begins in, from 1; also its anchor in the page. */
  line: number;
}

export function outline(root: Root): OutlineItem[] {
  return root.children
    .filter((node): node is Heading => node.type === "heading")
    .map((node) => ({ depth: node.depth, text: plainText(node), line: node.position?.start.line ?? 0 }))
    .filter((item) => item.text.trim() !== "");
}

export function plainText(root: Nodes): string {
  let text = "";
  for (const node of everyNode(root)) {
    if ("value" in node) text += node.value;
    else if ("alt" in node && typeof node.alt === "string") text += node.alt;
  }
  return text;
}

/** A node and all that is in it, in the order of the text. A text may be nested deeper than functions can call each other. */
export function* everyNode(root: Nodes): Generator<Nodes> {
  const waiting: Nodes[] = [root];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    yield node;
    if ("children" in node) for (let index = node.children.length - 1; index >= 0; index -= 1) waiting.push(node.children[index] as Nodes);
  }
}

/** The block in which a document says what its work needs (`crates/core/src/plan/needs.rs`). A stored one has one at most. */
export function needsOf(root: Nodes): string | undefined {
  for (const node of everyNode(root)) if (node.type === "code" && [node.lang, node.meta].join(" ").trim().split(/[\s\u0085]/)[0] === "planwright-needs") return node.value;
  return undefined;
}

/**
 * Splits a text that still grows at the last blank line outside of code: what stands before it will not change any more and
 * need not be parsed again.
 */
export function settled(text: string): [string, string] {
  let fence: string | undefined;
  let cut = 0;
  let at = 0;
  for (const line of text.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined && fence === undefined) fence = mark;
    else if (mark !== undefined && fence !== undefined && mark.startsWith(fence)) fence = undefined;
    at += line.length + 1;
    if (fence === undefined && line.trim() === "" && at < text.length && !/^\s/.test(text.slice(at, at + 1))) cut = at;
  }
  // A list continues after a blank line; cutting it would number it anew.
  const next = text.slice(cut);
  if (/^(?:(?:[-*+]|\d+[.)])\s|[-*+]?$|\d{1,9}[.)]?$)/.test(next)) {
    const before = text.slice(0, cut).trimEnd();
    const block = before.slice(before.lastIndexOf("\n\n") + 1).trimStart();
    if (/^(?:[-*+]|\d+[.)])\s/.test(block)) return ["", text];
  }
  return [text.slice(0, cut), next];
}

/** A text that still grows, as parts that will not change any more, each parsed once, and the rest. */
export interface GrowingText {
  text: string;
  parts: readonly string[];
  rest: string;
}

/** Takes in what was added to a text. The cost is that of the rest and not of the whole text. */
export function grow(before: GrowingText | undefined, text: string): GrowingText {
  const known = before && text.startsWith(before.text) ? before : { text: "", parts: [], rest: "" };
  const [done, rest] = settled(known.rest + text.slice(known.text.length));
  return { text, parts: done === "" ? known.parts : [...known.parts, done], rest };
}

/** The code of a text that begins with a fence and does not close it. */
export function openFence(text: string): { code: string; language: string | undefined } | undefined {
  const [, mark, about] = /^(`{3,}|~{3,})([^\n`]*)\n/.exec(text) ?? [];
  if (mark === undefined || about === undefined) return undefined;
  const code = text.slice(mark.length + about.length + 1);
  for (let at = code.indexOf(mark); at >= 0; at = code.indexOf(mark, at + 1)) {
    // It may be the end of the code, or become it.
    if (/^ {0,3}$/.test(code.slice(code.lastIndexOf("\n", at - 1) + 1, at))) return undefined;
  }
  return { code, language: about.trim().split(/\s+/)[0] || undefined };
}

/** Addresses that a link may lead to. Everything else is shown as text. */
export function safeAddress(url: string): string | undefined {
  const trimmed = url.trim();
  if (trimmed.startsWith("#")) return undefined;
  try {
    const { protocol } = new URL(trimmed);
    return protocol === "https:" || protocol === "http:" || protocol === "mailto:" ? trimmed : undefined;
  } catch {
    return undefined;
  }
}

/** The host that a browser asks, where the address names it in other letters: those of another alphabet may look the same. */
export function askedHost(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { hostname } = new URL(address);
  const written = /^[a-z]+:[\\/]*(?:[^\\/?#]*@)?([^\\/?#]*)/i.exec(address)?.[1]?.replace(/:\d*$/, "");
  return hostname === "" || written?.toLowerCase() === hostname ? undefined : hostname;
}

/** Pictures that are part of the text itself. Others would be a request to somewhere else. */
export function isInlineImage(url: string): boolean {
  return /^data:image\/(?:png|jpeg|gif|webp);base64,[a-zA-Z0-9+/=\s]+$/.test(url);
}

/** The path in the session's folder that an address without a scheme or a host names. */
export function sessionFile(url: string): string | undefined {
  if (url === "" || /^(?:[a-zA-Z][a-zA-Z0-9+.-]*:|[\\/#?])/.test(url) || url.includes("..")) return undefined;
  try {
    return decodeURIComponent(url).replace(/^\.\//, "");
  } catch {
    return undefined;
  }
}
