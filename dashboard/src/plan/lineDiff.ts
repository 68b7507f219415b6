/** A line of a difference between two texts. */
export interface Line {
  mark: "same" | "removed" | "added";
  text: string;
}

/** Beyond this the texts are shown one after the other. */
const MAX_LINES = 1_500;

export function diffLines(before: string, after: string): Line[] {
  const old = splitLines(before);
  const now = splitLines(after);
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const middle = compare(old.slice(start, old.length - end), now.slice(start, now.length - end));
  const same = (text: string): Line => ({ mark: "same", text });
  return [...old.slice(0, start).map(same), ...middle, ...old.slice(old.length - end).map(same)];
}

/** The longest common subsequence. */
function compare(old: readonly string[], now: readonly string[]): Line[] {
  const removed = (text: string): Line => ({ mark: "removed", text });
  const added = (text: string): Line => ({ mark: "added", text });
  if (old.length * now.length > MAX_LINES * MAX_LINES) return [...old.map(removed), ...now.map(added)];
  const width = now.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  const length = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] = old[i] === now[j] ? length(i + 1, j + 1) + 1 : Math.max(length(i + 1, j), length(i, j + 1));
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    const [left, right] = [old[i], now[j]];
    if (left !== undefined && left === right) {
      lines.push({ mark: "same", text: left });
      i += 1;
      j += 1;
    } else if (left !== undefined && (right === undefined || length(i + 1, j) >= length(i, j + 1))) {
      lines.push(removed(left));
      i += 1;
    } else if (right !== undefined) {
      lines.push(added(right));
      j += 1;
    }
  }
  return lines;
}

function splitLines(text: string): string[] {
  if (text === "") return [];
  return text.replace(/\n$/, "").split("\n");
}
