import { expect, test } from "vitest";

import { addScheduleAct, continueAct, permitAct, promoteAct, resumeRunAct, resumeScheduleAct, signed, startRunAct } from "./acts";
import type { InboxItem } from "./types";

test("what is signed names the session, and what the call names", () => {
  expect(startRunAct("blog", { taskId: "t1" }, undefined)).toEqual({ kind: "start_run", sessionId: "blog", taskId: "t1" });
  expect(resumeRunAct("mcp:blog", { id: "r1" })).toEqual({ kind: "resume_run", sessionId: "blog", channel: "mcp", id: "r1" });
  expect(resumeScheduleAct("blog", { id: "s1" })).toEqual({ kind: "resume_schedule", sessionId: "blog", id: "s1" });
  expect(promoteAct("blog", { id: "m1" })).toEqual({ kind: "promote", sessionId: "blog", id: "m1" });
  const terms = { title: "Read the news", cron: "0 9 * * 1", timeZone: "UTC" };
  expect(addScheduleAct("blog", terms)).toEqual({ kind: "add_schedule", sessionId: "blog", schedule: terms });
  expect(addScheduleAct("blog", { ...terms, goalId: "g1", maxExecutions: 3 })).toEqual({ kind: "add_schedule", sessionId: "blog", schedule: { ...terms, maxExecutions: 3 }, goalId: "g1" });
});

test("what is signed is what was shown", () => {
  const digest = "9f86";
  const acts = [
    startRunAct("blog", { goalId: "g1" }, digest),
    resumeRunAct("blog", { id: "r1", digest }),
    resumeScheduleAct("blog", { id: "s1", digest }),
    promoteAct("blog", { id: "m1", digest }),
    continueAct("p1", { kind: "resume", afterStep: 2, digest }),
  ];
  for (const act of acts) expect(act).toMatchObject({ digest });
  const passphrase = { approver: "ada", passphrase: "correct horse battery" };
  expect(signed(passphrase, digest)).toEqual({ ...passphrase, digest });
  expect(signed(passphrase, undefined)).toEqual(passphrase);
  expect(signed(undefined, digest)).toBeUndefined();
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
