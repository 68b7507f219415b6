/** A line of a unified diff. `from` and `to` are its numbers in the old and the new file. */
export type DiffRow = { mark: "same" | "removed" | "added"; from: number | undefined; to: number | undefined; text: string } | { mark: "gap" | "note"; text: string };

/** Reads the form of `git diff` for one file. The head is left out: the path stands above it. */
export function parseUnifiedDiff(diff: string): DiffRow[] {
  const rows: DiffRow[] = [];
  let from = 0;
  let to = 0;
  let inHunk = false;
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/.exec(line);
    if (hunk) {
      from = Number(hunk[1]);
      to = Number(hunk[2]);
      if (inHunk || from > 1 || to > 1) rows.push({ mark: "gap", text: hunk[3] ?? "" });
      inHunk = true;
    } else if (!inHunk) {
      if (/^(?:Binary files|GIT binary patch|rename |similarity |old mode|new mode)/.test(line)) rows.push({ mark: "note", text: line });
    } else if (line.startsWith("+")) {
      rows.push({ mark: "added", from: undefined, to, text: line.slice(1) });
      to += 1;
    } else if (line.startsWith("-")) {
      rows.push({ mark: "removed", from, to: undefined, text: line.slice(1) });
      from += 1;
    } else if (line.startsWith("\\")) {
      rows.push({ mark: "note", text: line.slice(1).trim() });
    } else {
      rows.push({ mark: "same", from, to, text: line.slice(1) });
      from += 1;
      to += 1;
    }
  }
  return rows;
}
