import type { Outgoing } from "../live/conversation";
import type { ChatMessage } from "../live/messages";
import type { ToolStatus } from "../api/types";

/** A call of the agent with its outcome. */
export interface ToolCall {
  /** The entry that has its arguments, and its place there. */
  seq: number;
  place: number;
  name: string;
  status: ToolStatus | undefined;
  args: string | undefined;
  result: string | undefined;
  tookMs: number | undefined;
}

/** What the conversation shows, one under the other. */
export type Row =
  | { kind: "person"; key: string; message: ChatMessage }
  | { kind: "agent"; key: string; message: ChatMessage }
  | { kind: "tools"; key: string; calls: ToolCall[] }
  | { kind: "note"; key: string; message: ChatMessage }
  | { kind: "plan"; key: string; planId: string }
  | { kind: "command"; key: string; outgoing: Outgoing; reply: string }
  | { kind: "queued"; key: string; outgoing: Outgoing };

/**
 * Puts the rows of before in place of equal new ones, so that what did not change is not drawn again: with each entry of the
 * journal and each page of older messages all rows are made anew.
 */
export function keepRows(before: readonly Row[], now: readonly Row[]): Row[] {
  const known = new Map(before.map((row) => [row.key, row]));
  return now.map((row) => {
    const old = known.get(row.key);
    return old && isSame(old, row) ? old : row;
  });
}

function isSame(a: Row, b: Row): boolean {
  switch (a.kind) {
    case "person":
    case "agent":
    case "note":
      return b.kind === a.kind && a.message === b.message;
    case "command":
      return b.kind === a.kind && a.outgoing === b.outgoing && a.reply === b.reply;
    case "queued":
      return b.kind === a.kind && a.outgoing === b.outgoing;
    case "plan":
      return b.kind === a.kind && a.planId === b.planId;
    case "tools":
      return b.kind === a.kind && a.calls.length === b.calls.length && a.calls.every((call, index) => isSameCall(call, b.calls[index]));
  }
}

function isSameCall(a: ToolCall, b: ToolCall | undefined): boolean {
  return b !== undefined && (Object.keys(a) as (keyof ToolCall)[]).every((name) => a[name] === b[name]);
}

export function rows(messages: readonly ChatMessage[], outgoing: readonly Outgoing[]): Row[] {
  const made: Row[] = [];
  const lastMention = new Map<string, number>();
  for (const message of messages) if (message.planId !== undefined) lastMention.set(message.planId, message.seq);
  const commands = outgoing.filter((one) => one.text.startsWith("/")).sort((a, b) => a.afterSeq - b.afterSeq);
  let nextCommand = 0;
  const placeCommands = (before: number) => {
    for (let one = commands[nextCommand]; one && one.afterSeq < before; one = commands[(nextCommand += 1)]) {
      made.push({ kind: "command", key: `o${one.key}`, outgoing: one, reply: replyOf(one, messages) });
    }
  };

  let waiting: { call: ToolCall; at: string }[] = [];
  for (const message of messages) {
    placeCommands(message.seq);
    switch (message.role) {
      case "person":
        waiting = [];
        made.push({ kind: "person", key: `m${message.seq}`, message });
        break;
      case "agent": {
        if (message.text.trim() !== "") made.push({ kind: "agent", key: `m${message.seq}`, message });
        const calls = (message.calls ?? []).map((call, place): ToolCall => ({
          seq: message.seq,
          place,
          name: call.name,
          status: call.status,
          args: call.argumentsCut ? undefined : call.arguments,
          result: undefined,
          tookMs: undefined,
        }));
        if (calls.length === 0) break;
        const last = made.at(-1);
        if (last?.kind === "tools") last.calls.push(...calls);
        else made.push({ kind: "tools", key: `t${message.seq}`, calls });
        waiting.push(...calls.map((call) => ({ call, at: message.at })));
        break;
      }
      case "tool": {
        const index = waiting.findIndex(({ call }) => call.result === undefined && call.name === message.tool);
        const found = waiting[index];
        if (!found) break;
        found.call.result = message.text;
        found.call.status = message.status ?? found.call.status;
        found.call.tookMs = message.tookMs ?? Math.max(0, new Date(message.at).getTime() - new Date(found.at).getTime());
        waiting.splice(index, 1);
        break;
      }
      case "note":
        if (message.text.trim() !== "") made.push({ kind: "note", key: `m${message.seq}`, message });
        break;
    }
    if (message.planId !== undefined && message.role === "note" && message.outcome !== undefined && lastMention.get(message.planId) === message.seq) {
      made.push({ kind: "plan", key: `p${message.seq}`, planId: message.planId });
    }
  }
  placeCommands(Number.MAX_SAFE_INTEGER);
  for (const one of outgoing) {
    if (!one.text.startsWith("/")) made.push({ kind: "queued", key: `o${one.key}`, outgoing: one });
  }
  return made;
}

/** What a command answers beside the messages of the turn that it began: those stand in the conversation. */
function replyOf({ answer, afterSeq }: Outgoing, messages: readonly ChatMessage[]): string {
  let reply = answer?.reply.trim() ?? "";
  if (answer === undefined || answer.outcome === "done") return reply;
  for (const { seq, role, text } of messages) {
    const said = text.trim();
    if (seq > afterSeq && said !== "" && (role === "agent" || role === "note") && reply.endsWith(said)) reply = reply.slice(0, -said.length).trimEnd();
  }
  return reply;
}
