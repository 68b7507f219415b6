import { parseExact, stringifyExact } from "../api/exactJson";

type Arguments = Record<string, unknown>;

/** The arguments as a person edits them: texts as they are, everything else as JSON. */
export function editableTexts(args: Arguments): Record<string, string> {
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, typeof value === "string" ? value : stringifyExact(value, 2)]));
}

/** The arguments after an edit, or the name of the first one that is not JSON. Nothing is `changed` if they say the same. */
export function editedCall(args: Arguments, texts: Readonly<Record<string, string>>): { args: Arguments; isChanged: boolean } | { wrong: string } {
  const now: Arguments = {};
  for (const [name, before] of Object.entries(args)) {
    const text = texts[name] ?? "";
    if (typeof before === "string") now[name] = text;
    else if (text.trim() !== "") {
      try {
        now[name] = parseExact(text);
      } catch {
        return { wrong: name };
      }
    }
  }
  return { args: now, isChanged: stringifyExact(now) !== stringifyExact(args) };
}
