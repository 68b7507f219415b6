import { expect, test } from "vitest";

import type { Plan, PlanStatus } from "../api/types";
import { planButtons } from "./buttons";

const plan = (status: PlanStatus, more: Partial<Plan> = {}) => ({ status, execution: null, ...more }) as Plan;

// The life-cycle table of DESIGN §2, from a person's side.
test.each([
  ["COLLECTING", ["revise", "cancel"]],
  ["READY", ["approve", "revise", "reject", "cancel"]],
  ["APPROVED", ["start", "revise", "cancel"]],
  ["EXECUTING", ["revise", "cancel"]],
  ["PARTIALLY_COMPLETED", ["resume", "revise", "cancel"]],
  ["COMPLETED", []],
  ["REJECTED", []],
  ["CANCELLED", []],
  ["SUPERSEDED", []],
] as [PlanStatus, string[]][])("%s has the buttons %j", (status, buttons) => {
  expect(planButtons(plan(status))).toEqual(buttons);
});

test("a paused execution is resumed, an unknown result is decided", () => {
  expect(planButtons(plan("EXECUTING", { activity: "paused" }))).toContain("resume");
  const counts = { total: 2, done: 1, failed: 0, skipped: 0, uncertain: 1, inProgress: 0, notBegun: 0 };
  const uncertain = plan("EXECUTING", { activity: "paused", execution: { id: "e", number: 1, startedAt: "", finishedAt: null, tookMs: null, counts, permissions: { covered: 0, asked: 0, refused: 0 } } });
  expect(planButtons(uncertain)).toEqual(["retry", "skip", "stopStep", "cancel"]);
});

test("after a step to look at, the person goes on, changes the rest or stops", () => {
  const counts = { total: 2, done: 1, failed: 0, skipped: 0, uncertain: 0, inProgress: 0, notBegun: 1 };
  const permissions = { covered: 0, asked: 0, refused: 0 };
  const execution = { id: "e", number: 1, startedAt: "", finishedAt: null, tookMs: null, counts, permissions, pausedFor: "step" as const, afterStep: 1 };
  expect(planButtons(plan("EXECUTING", { activity: "paused", execution }))).toEqual(["next", "revise", "cancel"]);
});
