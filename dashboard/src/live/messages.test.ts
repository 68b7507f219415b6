import { describe, expect, test } from "vitest";

import type { EntryFrame } from "./frames";
import { emptyReading, joinPage, takeIn, type Reading } from "./messages";

const by = { kind: "agent" as const, name: "model", through: "web" };
const person = { kind: "person" as const, name: "person", through: "web" };

function entry(seq: number, type: string, event: Record<string, unknown>, who: EntryFrame["by"] = by): EntryFrame {
  return { type, sessionId: "k3yk3y8x", channel: "web", seq, at: `2026-03-01T12:00:${String(seq).padStart(2, "0")}Z`, by: who, planId: null, event: { type, ...event } };
}

function read(entries: EntryFrame[], from: Reading = emptyReading()): { reading: Reading; unknown: number[] } {
  const unknown: number[] = [];
  const reading = entries.reduce((before, one) => {
    const taken = takeIn(before, one);
    if (!taken.known) unknown.push(one.seq);
    return taken.reading;
  }, from);
  return { reading, unknown };
}

const TURN = [
  entry(4, "turn_begun", { turn: "t1", text: "move the blog" }, person),
  entry(5, "model_replied", { turn: "t1", reply: { calls: [{ name: "plan_get", arguments: "{}" }, { name: "list_files", arguments: "{}" }] } }),
  entry(6, "tool_ended", { turn: "t1", call: 1, outcome: { status: "done", text: "a" } }),
  entry(7, "tool_ended", { turn: "t1", call: 2, outcome: { status: "failed", text: "b" } }),
  entry(8, "model_replied", { turn: "t1", reply: { text: "Ready." } }),
  entry(9, "turn_ended", { turn: "t1", end: { kind: "answered" }, shown: { plan: "p1" } }),
];

describe("a conversation from its entries", () => {
  test("has the messages that the server would list", () => {
    const { reading } = read(TURN);
    expect(reading.messages.map((message) => [message.seq, message.role, message.text])).toEqual([
      [4, "person", "move the blog"],
      [5, "agent", ""],
      [6, "tool", "a"],
      [7, "tool", "b"],
      [8, "agent", "Ready."],
      [9, "note", ""],
    ]);
    expect(reading.messages[1]?.calls).toEqual([
      { name: "plan_get", arguments: "{}", status: "done" },
      { name: "list_files", arguments: "{}", status: "failed" },
    ]);
    expect(reading.messages[3]?.tool).toBe("list_files");
    expect(reading.messages[5]?.planId).toBe("p1");
  });

  test("takes no entry twice", () => {
    const once = read(TURN).reading;
    expect(read([...TURN, ...TURN]).reading.messages).toEqual(once.messages);
  });

  test("leaves out the turns of specialists", () => {
    const { reading } = read([
      entry(1, "turn_begun", { turn: "s", text: "Do step 1", purpose: { for: "step", plan: "p1" } }),
      entry(2, "model_replied", { turn: "s", reply: { text: "done" } }),
    ]);
    expect(reading.messages).toEqual([]);
  });

  test("leaves out the turns of a run and has its result", () => {
    const { reading } = read([
      entry(1, "turn_begun", { turn: "r", text: "[TASK_RUN 1] Begin", purpose: { for: "run", run_id: "run-1", own_conversation: true } }),
      entry(2, "model_replied", { turn: "r", reply: { text: "Working." } }),
      entry(3, "compacted", { messages: 4, run: "run-1" }),
      entry(4, "turn_ended", { turn: "r", end: { kind: "answered" } }),
      entry(5, "run_ended", { run: "run-1", end: "completed", result: "Run 1 is completed." }),
    ]);
    expect(reading.messages.map(({ role, text, runId }) => ({ role, text, runId }))).toEqual([{ role: "note", text: "Run 1 is completed.", runId: "run-1" }]);
    const older = read([entry(1, "turn_begun", { turn: "r", text: "[TASK_RUN 1] Begin", purpose: { for: "run", run_id: "run-1" } })]);
    expect(older.reading.messages.length).toBe(1);
  });

  test("says so when a turn began before what was read", () => {
    expect(read(TURN.slice(2)).unknown).toEqual([6, 7, 8, 9]);
  });

  test("is joined with pages without doubles, in order", () => {
    const live = read(TURN).reading;
    const page = live.messages.slice(0, 2).map(({ turn: _, ...message }) => message);
    const older = { ...page[0]!, seq: 2, text: "before" };
    const joined = joinPage(live, [older, ...page]);
    expect(joined.messages.map((message) => message.seq)).toEqual([2, 4, 5, 6, 7, 8, 9]);
    expect(joined.messages[2]?.turn).toBe("t1");
  });
});
