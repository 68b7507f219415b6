import type { Message, ToolStatus } from "../api/types";
import { t } from "../texts/t";
import type { EntryFrame } from "./frames";

/** A message of the conversation. What arrives live also has the turn it belongs to. */
export type ChatMessage = Message & { turn?: string };

/** A conversation put together from pages of messages and from entries of the journal, in the way the server does it. */
export interface Reading {
  messages: ChatMessage[];
  turns: Map<string, Turn>;
  /** The last entry that was taken in. */
  head: number;
  /** The turn that is under way, if it is known. */
  open: string | undefined;
}

interface Turn {
  /** It is not part of the conversation. */
  apart: boolean;
  /** For each of its calls, the entry it was made in and its place there. */
  calls: { seq: number; place: number }[];
}

/** What a turn is for, as its first entry says it. */
export interface Purpose {
  for: string;
  plan?: string;
  own_conversation?: boolean;
}

/** Whether the turn is not part of the conversation: that of a specialist, and that of a run with a conversation of its own. */
export function isApart(purpose: Purpose | undefined): boolean {
  return purpose?.for === "step" || purpose?.for === "question" || isOwnRun(purpose);
}

export function isOwnRun(purpose: Purpose | undefined): boolean {
  return purpose?.for === "run" && purpose.own_conversation === true;
}

export function emptyReading(): Reading {
  return { messages: [], turns: new Map(), head: 0, open: undefined };
}

/**
 * Takes in one entry. `known` is false if it belongs to a turn whose beginning was not read: then the page of newest
 * messages has to be read again.
 */
export function takeIn(reading: Reading, entry: EntryFrame): { reading: Reading; known: boolean } {
  if (entry.seq <= reading.head) return { reading, known: true };
  const next: Reading = { ...reading, head: entry.seq };
  const event = entry.event;
  const turnId = typeof event.turn === "string" ? event.turn : undefined;

  if (entry.type === "turn_begun" && turnId) {
    const purpose = (event.purpose ?? { for: "answer" }) as Purpose;
    const apart = isApart(purpose);
    next.turns = new Map(reading.turns).set(turnId, { apart, calls: [] });
    if (!apart) {
      next.open = turnId;
      const role = entry.by.kind === "person" ? "person" : "note";
      next.messages = insert(reading.messages, {
        ...base(entry, role, String(event.text ?? "")),
        turn: turnId,
        ...(purpose.plan ? { planId: purpose.plan } : {}),
      });
    }
    return { reading: next, known: true };
  }

  if (turnId) {
    const turn = reading.turns.get(turnId);
    if (!turn) return { reading: next, known: false };
    if (turn.apart) return { reading: next, known: true };
    return { reading: takeInTurn(next, entry, turnId, turn), known: true };
  }

  if (entry.type === "compacted" && event.run === undefined) {
    const count = Number(event.messages ?? 0);
    next.messages = insert(reading.messages, base(entry, "note", t("chat.compacted", { count })));
  } else if (entry.type === "run_ended" && typeof event.result === "string") {
    next.messages = insert(reading.messages, { ...base(entry, "note", event.result), runId: String(event.run) });
  } else if (entry.type === "conversation_reset") {
    next.messages = insert(reading.messages, base(entry, "note", t("chat.reset")));
  }
  return { reading: next, known: true };
}

function takeInTurn(reading: Reading, entry: EntryFrame, turnId: string, turn: Turn): Reading {
  const event = entry.event;
  switch (entry.type) {
    case "model_replied": {
      const reply = event.reply as { text?: string; calls?: { name: string; arguments: string }[] };
      const calls = reply.calls ?? [];
      const text = reply.text ?? "";
      if (text.trim() === "" && calls.length === 0) return reading;
      const made = calls.map((_, place) => ({ seq: entry.seq, place }));
      const turns = new Map(reading.turns).set(turnId, { ...turn, calls: [...turn.calls, ...made] });
      const message: ChatMessage = {
        ...base(entry, "agent", text),
        turn: turnId,
        ...(calls.length > 0 ? { calls: calls.map(({ name, arguments: args }) => ({ name, arguments: args })) } : {}),
      };
      return { ...reading, turns, messages: insert(reading.messages, message) };
    }
    case "tool_ended": {
      const call = turn.calls[Number(event.call) - 1];
      const outcome = event.outcome as { status: ToolStatus; text: string };
      if (!call) return reading;
      let name = "";
      const messages = reading.messages.map((message) => {
        if (message.seq !== call.seq || message.role !== "agent") return message;
        const calls = (message.calls ?? []).map((made, place) => {
          if (place !== call.place) return made;
          name = made.name;
          return { ...made, status: outcome.status };
        });
        return { ...message, calls };
      });
      const result: ChatMessage = { ...base(entry, "tool", outcome.text), turn: turnId, tool: name, status: outcome.status };
      return { ...reading, messages: insert(messages, result) };
    }
    case "turn_ended": {
      const { end, text, shown } = event as unknown as {
        end: { kind: string; plan?: string };
        text?: string;
        shown?: { plan: string };
      };
      const own = end.kind === "stopped" ? "*Stopped.*" : "";
      const words = [text?.trim() ?? "", own].filter((part) => part !== "").join("\n\n");
      const planId = shown?.plan ?? end.plan;
      const open = reading.open === turnId ? undefined : reading.open;
      if (words === "" && planId === undefined) return { ...reading, open };
      const note: ChatMessage = {
        ...base(entry, "note", words),
        turn: turnId,
        outcome: end.kind,
        ...(planId === undefined ? {} : { planId }),
      };
      return { ...reading, open, messages: insert(reading.messages, note) };
    }
    default:
      return reading;
  }
}

/** Joins a page of messages that was read from the server. What is live is kept where it says more. */
export function joinPage(reading: Reading, page: readonly Message[]): Reading {
  const oldest = reading.messages[0]?.seq;
  // A page of older messages stands before the others as it is.
  if (oldest !== undefined && page.every(({ seq }, index) => seq < oldest && (index === 0 || seq > (page[index - 1]?.seq ?? 0)))) {
    return { ...reading, messages: [...page, ...reading.messages] };
  }
  const known = new Map(reading.messages.map((message) => [message.seq, message]));
  for (const message of page) {
    const live = known.get(message.seq);
    known.set(message.seq, live ? { ...live, ...message } : message);
  }
  const messages = [...known.values()].sort((a, b) => a.seq - b.seq);
  return { ...reading, messages };
}

function base(entry: EntryFrame, role: Message["role"], text: string): ChatMessage {
  return { seq: entry.seq, at: entry.at, by: entry.by, role, text } as ChatMessage;
}

function insert(messages: ChatMessage[], message: ChatMessage): ChatMessage[] {
  const last = messages.at(-1);
  if (!last || last.seq < message.seq) return [...messages, message];
  const others = messages.filter((other) => other.seq !== message.seq);
  return [...others, message].sort((a, b) => a.seq - b.seq);
}
