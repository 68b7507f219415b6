import { expect, test } from "vitest";

import type { Plan } from "../api/types";
import { decisionOf } from "./choices";

const plan = { status: "EXECUTING", execution: { afterStep: 1 } } as Plan;

// The choices themselves are the server's: `crates/core/tests/core/choices.rs` walks all states.
test.each([
  ["resume", { kind: "resume" }],
  ["next", { kind: "resume", afterStep: 1 }],
  ["retry", { kind: "resume", choice: "retry" }],
  ["skip", { kind: "resume", choice: "skip" }],
  ["stop", { kind: "resume", choice: "stop" }],
  ["approve", undefined],
  ["revise", undefined],
  ["reject", undefined],
  ["cancel", undefined],
  ["watch", undefined],
])("%s sends %j at once", (name, decision) => {
  expect(decisionOf(plan, name)).toEqual(decision);
});
