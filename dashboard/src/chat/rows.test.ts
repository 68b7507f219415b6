import { expect, test } from "vitest";

import type { Outgoing } from "../live/conversation";
import type { ChatMessage } from "../live/messages";
import { keepRows, rows } from "./rows";

const by = { kind: "agent" as const, name: "model", through: "web" };
const message = (seq: number, role: ChatMessage["role"], text: string, more: Partial<ChatMessage> = {}): ChatMessage => ({ seq, at: new Date(seq * 1000).toISOString(), role, by, text, ...more });
const outgoing = (key: string, text: string, afterSeq: number): Outgoing => ({ key, text, at: "", afterSeq, state: "answered", answer: undefined, problem: undefined });

test("calls in a row are one group, each with its result and time", () => {
  const made = rows(
    [
      message(1, "person", "go"),
      message(2, "agent", "", { calls: [{ name: "read_file", arguments: "{}" }, { name: "read_file", arguments: "{}" }] }),
      message(3, "tool", "first", { tool: "read_file", status: "done" }),
      message(5, "tool", "second", { tool: "read_file", status: "failed" }),
      message(6, "agent", "", { calls: [{ name: "plan_get", arguments: "{}" }] }),
      message(7, "tool", "third", { tool: "plan_get", status: "done", tookMs: 12 }),
      message(8, "agent", "Done."),
    ],
    [],
  );
  expect(made.map((row) => row.kind)).toEqual(["person", "tools", "agent"]);
  const tools = made[1];
  expect(tools?.kind === "tools" && tools.calls.map((call) => [call.result, call.status, call.tookMs])).toEqual([
    ["first", "done", 1000],
    ["second", "failed", 3000],
    ["third", "done", 12],
  ]);
});

test("a command stands where it was typed, and what waits stands at the end", () => {
  const messages = [message(1, "person", "a"), message(4, "person", "b")];
  const made = rows(messages, [outgoing("k1", "/status", 1), outgoing("k2", "later", 4)]);
  expect(made.map((row) => row.key)).toEqual(["m1", "ok1", "m4", "ok2"]);
});

test("a command that began a turn does not repeat what the conversation has", () => {
  const answered = (reply: string, outcome: "answered" | "done"): Outgoing => ({ ...outgoing("k1", "/plan move the blog", 1), answer: { sessionId: "s", channel: "web", reply, outcome } });
  const messages = [message(1, "person", "a"), message(2, "person", "move the blog"), message(4, "agent", "The plan is ready.")];
  const replies = (one: Outgoing) => rows(messages, [one]).flatMap((row) => (row.kind === "command" ? [row.reply] : []));
  expect(replies(answered("Plan work is on.\n\nThe plan is ready.", "answered"))).toEqual(["Plan work is on."]);
  expect(replies(answered("The plan is ready.", "answered"))).toEqual([""]);
  // Without a turn it is an answer of its own, whatever the agent said.
  expect(replies(answered("The plan is ready.", "done"))).toEqual(["The plan is ready."]);
  // What was said before the command is something else.
  expect(rows([message(1, "agent", "The plan is ready.")], [answered("The plan is ready.", "answered")]).map((row) => row.kind === "command" && row.reply)).toEqual([false, "The plan is ready."]);
});

test("a plan has one card, where it was mentioned last", () => {
  const made = rows([message(1, "note", "", { planId: "p", outcome: "answered" }), message(2, "note", "", { planId: "p", outcome: "plan_ready" })], []);
  expect(made.map((row) => row.key)).toEqual(["p2"]);
});

test("rows that did not change are the same ones after an entry or a page of older messages", () => {
  const messages = [message(4, "person", "go"), message(5, "agent", "", { calls: [{ name: "plan_get", arguments: "{}" }] }), message(6, "agent", "Done.")];
  const before = rows(messages, []);
  const after = keepRows(before, rows([message(1, "person", "older"), ...messages, message(7, "person", "more")], []));
  expect(after.map((row) => before.includes(row))).toEqual([false, true, true, true, false]);
  // The result of a call changes its row only.
  const ended = keepRows(before, rows([...messages.slice(0, 2), message(8, "tool", "the plan", { tool: "plan_get", status: "done" }), ...messages.slice(2)], []));
  expect(ended.map((row) => before.includes(row))).toEqual([true, false, true]);
});
