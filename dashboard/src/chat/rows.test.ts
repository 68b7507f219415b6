import { expect, test } from "vitest";

import type { Outgoing } from "../live/conversation";
import type { ChatMessage } from "../live/messages";
import { rows } from "./rows";

const by = { kind: "agent" as const, name: "model", through: "web" };
const message = (seq: number, role: ChatMessage["role"], text: string, more: Partial<ChatMessage> = {}): ChatMessage => ({ seq, at: new Date(seq * 1000).toISOString(), role, by, text, ...more });
const outgoing = (key: string, text: string, afterSeq: number): Outgoing => ({ key, text, at: "", afterSeq, state: "answered", answer: undefined, problem: undefined });

test("calls in a row are one group, each with its result and time", () => {
  const made = rows(
    [
      message(1, "person", "go"),
      message(2, "agent", "", { calls: [{ name: "read_file" }, { name: "read_file" }] }),
      message(3, "tool", "first", { tool: "read_file", status: "done" }),
      message(5, "tool", "second", { tool: "read_file", status: "failed" }),
      message(6, "agent", "", { calls: [{ name: "plan_get" }] }),
      message(7, "tool", "third", { tool: "plan_get", status: "done" }),
      message(8, "agent", "Done."),
    ],
    [],
  );
  expect(made.map((row) => row.kind)).toEqual(["person", "tools", "agent"]);
  const tools = made[1];
  expect(tools?.kind === "tools" && tools.calls.map((call) => [call.result, call.status, call.tookMs])).toEqual([
    ["first", "done", 1000],
    ["second", "failed", 3000],
    ["third", "done", 1000],
  ]);
});

test("a command stands where it was typed, and what waits stands at the end", () => {
  const messages = [message(1, "person", "a"), message(4, "person", "b")];
  const made = rows(messages, [outgoing("k1", "/status", 1), outgoing("k2", "later", 4)]);
  expect(made.map((row) => row.key)).toEqual(["m1", "ok1", "m4", "ok2"]);
});

test("a plan has one card, where it was mentioned last", () => {
  const made = rows([message(1, "note", "", { planId: "p", outcome: "answered" }), message(2, "note", "", { planId: "p", outcome: "plan_ready" })], []);
  expect(made.map((row) => row.key)).toEqual(["p2"]);
});
