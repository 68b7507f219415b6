import { expect, test } from "vitest";

import { decisionBody } from "./decisions";

test("an approval names the pace only where the person chose it", () => {
  const approve = { kind: "approve" as const, digest: "9f", skip: [], note: "", review: false };
  expect(decisionBody(approve)).toEqual({ digest: "9f" });
  expect(decisionBody({ ...approve, stepByStep: false })).toEqual({ digest: "9f" });
  expect(decisionBody({ ...approve, stepByStep: true })).toEqual({ digest: "9f", stepByStep: true });
});

test("a go names the step that was shown", () => {
  expect(decisionBody({ kind: "resume" })).toEqual({});
  expect(decisionBody({ kind: "resume", afterStep: 2 })).toEqual({ afterStep: 2 });
  expect(decisionBody({ kind: "resume", digest: "9f", approver: "ada", passphrase: "correct horse battery" })).toEqual({ digest: "9f", approver: "ada", passphrase: "correct horse battery" });
  expect(decisionBody({ kind: "resume", choice: "stop" })).toEqual({ choice: "stop" });
});
