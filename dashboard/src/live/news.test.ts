import { expect, test } from "vitest";

import type { EntryFrame } from "./frames";
import { staleAfter } from "./news";

function entry(type: string, planId: string | null = null): EntryFrame {
  return { type, sessionId: "aaaaaaaa", channel: "web", seq: 1, at: "", by: { kind: "person", name: "p", through: "web" }, planId, event: { type } };
}

test("an event makes only the plan state of its own session old", () => {
  for (const type of ["content_set", "plan_approved", "plan_mode_disabled", "turn_ended", "conversation_reset", "workbook_written"]) {
    for (const key of staleAfter("aaaaaaaa", { kind: "entry", entry: entry(type, type.includes("plan") || type === "content_set" ? "p1" : null) })) {
      if (key[0] === "plan-control-state" || key[0] === "workbook") expect(key).toEqual([key[0], "aaaaaaaa"]);
      if (key[0] === "plan") expect(key).toEqual(["plan", "p1"]);
    }
  }
});

test("a plan's event reaches the plan, the panel and the inbox", () => {
  expect(staleAfter("cli:main", { kind: "entry", entry: entry("step_ended", "p1") })).toEqual([["plan", "p1"], ["plan-control-state", "cli:main"], ["inbox"]]);
});
