import { expect, test } from "vitest";

import type { Plan } from "../api/types";
import { planState } from "./status";

const plan = (status: Plan["status"], more: { failed?: number; uncertain?: number; activity?: Plan["activity"] } = {}) =>
  planState({ status, ...(more.activity && { activity: more.activity }), execution: { counts: { failed: more.failed ?? 0, uncertain: more.uncertain ?? 0 } } } as Plan);

test.each([
  [plan("READY"), "READY"],
  [plan("PARTIALLY_COMPLETED"), "PARTIALLY_COMPLETED"],
  [plan("PARTIALLY_COMPLETED", { failed: 1, uncertain: 1 }), "FAILED"],
  [plan("PARTIALLY_COMPLETED", { uncertain: 1 }), "UNCERTAIN"],
  [plan("EXECUTING", { activity: "running", uncertain: 1 }), "EXECUTING"],
  [plan("EXECUTING", { activity: "paused", uncertain: 1 }), "UNCERTAIN"],
  [plan("EXECUTING", { activity: "paused" }), "PAUSED"],
  [plan("EXECUTING", { activity: "asking", uncertain: 1 }), "ASKING"],
  [plan("EXECUTING", { activity: "left_to_agent" }), "LEFT_TO_AGENT"],
  [plan("COMPLETED", { failed: 1 }), "COMPLETED"],
])("a plan stands as %s", (state, expected) => {
  expect(state).toBe(expected);
});
