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
  const uncertain = plan("EXECUTING", { activity: "paused", execution: { id: "e", number: 1, startedAt: "", finishedAt: null, tookMs: null, counts } });
  expect(planButtons(uncertain)).toEqual(["retry", "skip", "stopStep", "cancel"]);
});
