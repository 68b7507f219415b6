/** The text of a file after a write or an edit; `undefined` if the edits do not fit, or if the call does more than is known here. */
export function textAfter(before: string, tool: string, args: Record<string, unknown>): string | undefined {
  const { path: _path, content, edits, ...rest } = args;
  if (Object.keys(rest).length > 0) return undefined;
  if (tool === "write_file") return typeof content === "string" && edits === undefined ? content : undefined;
  if (!Array.isArray(edits) || content !== undefined) return undefined;
  let text = before;
  for (const edit of edits) {
    const { old, new: now, all, ...more } = (typeof edit === "object" && edit !== null ? edit : {}) as Record<string, unknown>;
    if (typeof old !== "string" || typeof now !== "string" || old === "" || Object.keys(more).length > 0) return undefined;
    const places = text.split(old).length - 1;
    if (places === 0 || (places > 1 && all !== true)) return undefined;
    text = text.split(old).join(now);
  }
  return text;
}
