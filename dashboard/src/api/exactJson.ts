/**
 * An integer that JavaScript would count as another one: 12345678901234567 as 12345678901234568. A person approves a call with the number that the
 * server has.
 */
export class ExactNumber {
  constructor(readonly digits: string) {}

  /** Where only something like it is asked for, as a key. */
  toJSON(): string {
    return this.digits;
  }
}

/** No text has it: it is another one on every page. */
const MARK = `exact ${Math.random().toString(36).slice(2)}${Math.random().toString(36).slice(2)} `;

/** As `JSON.parse`, with `ExactNumber` for what would be another number. */
export function parseExact(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const marked = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g, (token) => (/^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? JSON.stringify(MARK + token) : token));
  if (marked === text) return JSON.parse(text);
  return JSON.parse(marked, (_, value: unknown) => (typeof value === "string" && value.startsWith(MARK) ? new ExactNumber(value.slice(MARK.length)) : value));
}

/** As `JSON.stringify`, with the digits of an `ExactNumber`. */
export function stringifyExact(value: unknown, space?: number): string {
  const marked: string | undefined = JSON.stringify(value, function (this: Record<string, unknown>, key: string, found: unknown) {
    const before = this[key];
    return before instanceof ExactNumber ? MARK + before.digits : found;
  }, space);
  if (marked === undefined) return "null";
  return marked.includes(MARK) ? marked.replaceAll(new RegExp(`"${MARK}(-?\\d+)"`, "g"), "$1") : marked;
}
