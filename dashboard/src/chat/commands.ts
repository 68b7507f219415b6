import { t, type TextKey } from "../texts/t";

/** The commands that the composer completes. The server knows what each means and says so when one is not right. */
const COMMANDS: readonly (readonly [string, TextKey])[] = [
  ["/plan ", "command.plan"],
  ["/plan on", "command.planOn"],
  ["/plan on collect", "command.planOnCollect"],
  ["/plan on build", "command.planOnBuild"],
  ["/plan off", "command.planOff"],
  ["/plan done", "command.planDone"],
  ["/plan status", "command.planStatus"],
  ["/plan show", "command.planShow"],
  ["/plan approve", "command.planApprove"],
  ["/plan revise ", "command.planRevise"],
  ["/plan reject", "command.planReject"],
  ["/plan cancel", "command.planCancel"],
  ["/plan resume", "command.planResume"],
  ["/plan diff", "command.planDiff"],
  ["/plan export", "command.planExport"],
  ["/plan files on", "command.planFilesOn"],
  ["/plan files off", "command.planFilesOff"],
  ["/plans", "command.plans"],
  ["/new", "command.new"],
  ["/sessions", "command.sessions"],
  ["/switch ", "command.switch"],
  ["/compact", "command.compact"],
  ["/reset", "command.reset"],
  ["/stop", "command.stop"],
  ["/status", "command.status"],
  ["/tools", "command.tools"],
  ["/help", "command.help"],
];

export interface Completion {
  text: string;
  about: string;
}

export function completions(typed: string): Completion[] {
  if (!typed.startsWith("/") || typed.includes("\n")) return [];
  const found = COMMANDS.filter(([text]) => text.startsWith(typed) && text !== typed).slice(0, 8);
  return found.map(([text, about]) => ({ text, about: t(about) }));
}
