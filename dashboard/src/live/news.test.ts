import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";

import type { EntryFrame } from "./frames";
import { Invalidator, staleAfter, staleAfterChange } from "./news";

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

test("a change somewhere makes lists old, and of sessions only the state of its own", () => {
  expect(staleAfterChange({ session: "cli:main", kinds: ["plan"] })).toEqual([["sessions"], ["inbox"], ["plan-control-state", "cli:main"]]);
  expect(staleAfterChange({ session: "cli:main", kinds: ["workbook"] })).toEqual([["workbook", "cli:main"]]);
  // Replies and results of a running turn change no list.
  expect(staleAfterChange({ session: "cli:main", kinds: [] })).toEqual([]);
  expect(staleAfterChange({ session: undefined, kinds: [] })).toEqual([["sessions"], ["inbox"], ["plan-control-state"], ["plan"]]);
});

test.each([
  ["an entry of its session", (to: Invalidator) => to.take("aaaaaaaa", { kind: "entry", entry: entry("plan_finalized", "p1") })],
  ["a change of some session", (to: Invalidator) => to.takeChange({ session: "aaaaaaaa", kinds: ["plan"] })],
])("a plan that changes while it is loaded for the first time is asked for once more, after %s", async (_, arrive) => {
  const client = new QueryClient();
  const answers: ((plan: object) => void)[] = [];
  const observer = new QueryObserver(client, { queryKey: ["plan", "p1"], queryFn: () => new Promise<object>((resolve) => answers.push(resolve)) });
  const leave = observer.subscribe(() => undefined);
  const invalidator = new Invalidator(client, 0);
  const plan = (status: string) => ({ sessionId: "aaaaaaaa", channel: "web", status });

  expect(answers).toHaveLength(1);
  // Several events lead to one more request.
  for (let n = 0; n < 3; n += 1) {
    arrive(invalidator);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  answers[0]?.(plan("COLLECTING"));
  await vi.waitFor(() => expect(answers).toHaveLength(2));
  answers[1]?.(plan("READY"));
  await vi.waitFor(() => expect(observer.getCurrentResult().data).toEqual(plan("READY")));
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(answers).toHaveLength(2);
  leave();
});
