import { expect, test } from "vitest";

import { addScheduleAct, continueAct, permitAct, promoteAct, resumeRunAct, resumeScheduleAct, startRunAct } from "./acts";
import type { InboxItem } from "./types";

test("what is signed names the session, and what the call names", () => {
  expect(startRunAct("blog", { taskId: "t1" })).toEqual({ kind: "start_run", sessionId: "blog", taskId: "t1" });
  expect(resumeRunAct("mcp:blog", "r1")).toEqual({ kind: "resume_run", sessionId: "blog", channel: "mcp", id: "r1" });
  expect(resumeScheduleAct("blog", "s1")).toEqual({ kind: "resume_schedule", sessionId: "blog", id: "s1" });
  expect(promoteAct("blog", "m1")).toEqual({ kind: "promote", sessionId: "blog", id: "m1" });
  const terms = { title: "Read the news", cron: "0 9 * * 1", timeZone: "UTC" };
  expect(addScheduleAct("blog", terms)).toEqual({ kind: "add_schedule", sessionId: "blog", schedule: terms });
  expect(addScheduleAct("blog", { ...terms, goalId: "g1", maxExecutions: 3 })).toEqual({ kind: "add_schedule", sessionId: "blog", schedule: { ...terms, maxExecutions: 3 }, goalId: "g1" });
});

test("a permission is signed with the arguments that the person changed", () => {
  const item = { id: "a1", digest: "9f", sessionId: "blog", channel: "web" } as InboxItem;
  const shared = { kind: "permit", id: "a1", digest: "9f", sessionId: "blog", channel: "web" };
  expect(permitAct(item, { grant: "always", words: "" })).toEqual({ ...shared, grant: "always" });
  expect(permitAct(item, { grant: "once", words: "", args: { path: "b.md" } })).toEqual({ ...shared, grant: "once", arguments: { path: "b.md" } });
});

test("a plan continues by the step that was shown, and stops without a signature", () => {
  expect(continueAct("p1", { kind: "resume" })).toEqual({ kind: "resume", id: "p1" });
  expect(continueAct("p1", { kind: "resume", afterStep: 2 })).toEqual({ kind: "release", id: "p1", afterStep: 2 });
  expect(continueAct("p1", { kind: "resume", choice: "retry" })).toEqual({ kind: "retry", id: "p1" });
  expect(continueAct("p1", { kind: "resume", choice: "stop" })).toBeUndefined();
});
