import type { Command } from "../api/types";

export interface Completion {
  text: string;
  about: string;
  /** A file of the session that is named. */
  file?: { path: string; directory: boolean };
}

/** What the typed beginning of a command may become. The server knows what each command means and says so when one is not right. */
export function completions(typed: string, commands: readonly Command[]): Completion[] {
  if (!typed.startsWith("/") || typed.includes("\n")) return [];
  return commands
    .flatMap(forms)
    .filter(({ text }) => text.startsWith(typed) && text !== typed && text.trimEnd() !== typed)
    .slice(0, 8);
}

/** A command with each of the words that its first argument is one of: `/plan on [document|collect|build]`. */
function forms({ name, usage, help }: Command): Completion[] {
  const rest = usage.slice(name.length).trim();
  const choices = /^\[?([a-z]+(?:\|[a-z]+)+)\]?$/.exec(rest)?.[1]?.split("|") ?? [];
  const isOptional = rest === "" || rest.startsWith("[");
  const alone = { text: isOptional ? name : `${name} `, about: help };
  const chosen = choices.map((choice) => ({ text: `${name} ${choice}`, about: help }));
  return isOptional || choices.length === 0 ? [alone, ...chosen] : chosen;
}
