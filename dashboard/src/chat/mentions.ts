/** The beginning of a file's name after an `@`, where the cursor stands behind it. */
export interface Mention {
  /** Where the `@` stands. */
  start: number;
  prefix: string;
}

export function mentionAt(text: string, cursor: number): Mention | undefined {
  const found = /(?:^|\s)@([^\s@]*)$/.exec(text.slice(0, cursor));
  if (!found) return undefined;
  const prefix = found[1] ?? "";
  return { start: cursor - prefix.length - 1, prefix };
}

/** Puts the chosen name in place of what was typed. A folder is typed on. */
export function completeMention(text: string, cursor: number, mention: Mention, path: string, isFolder: boolean): { text: string; cursor: number } {
  const name = `@${path}${isFolder ? (path.endsWith("/") ? "" : "/") : " "}`;
  const after = text.slice(cursor).replace(/^ /, isFolder ? " " : "");
  return { text: text.slice(0, mention.start) + name + after, cursor: mention.start + name.length };
}

/** A text in pieces: words, and names of files after `@`. */
export function mentionPieces(text: string): { text: string; path?: string }[] {
  const pieces: { text: string; path?: string }[] = [];
  let at = 0;
  // A file has a name with a dot or is in a folder; `@ann` is a person.
  for (const found of text.matchAll(/(^|\s)@([^\s@]*[./][^\s@]*[^\s@.,;:!?)/])/g)) {
    const start = (found.index ?? 0) + (found[1] ?? "").length;
    if (start > at) pieces.push({ text: text.slice(at, start) });
    pieces.push({ text: `@${found[2] ?? ""}`, path: found[2] ?? "" });
    at = start + (found[2] ?? "").length + 1;
  }
  if (at < text.length) pieces.push({ text: text.slice(at) });
  return pieces;
}
