import { expect, test } from "vitest";

import { ExactNumber } from "../api/exactJson";
import { editableTexts, editedCall } from "./editedCall";

const CALL = { command: "rm -rf build", timeout_seconds: 30, env: { CI: true } };

test("a call that is only looked at is not changed", () => {
  expect(editedCall(CALL, editableTexts(CALL))).toEqual({ args: CALL, isChanged: false });
});

test.each([
  ["a text", { command: "rm -rf build/cache" }, { ...CALL, command: "rm -rf build/cache" }],
  ["a number", { timeout_seconds: "60" }, { ...CALL, timeout_seconds: 60 }],
  ["an argument that is left out", { env: " " }, { command: CALL.command, timeout_seconds: 30 }],
])("%s is changed", (_, edit, args) => {
  expect(editedCall(CALL, { ...editableTexts(CALL), ...edit })).toEqual({ args, isChanged: true });
});

test("a number that JavaScript would count as another one stays what it is", () => {
  const call = { command: "pay", account: new ExactNumber("12345678901234567891") };
  expect(editableTexts(call).account).toBe("12345678901234567891");
  expect(editedCall(call, editableTexts(call))).toEqual({ args: call, isChanged: false });
  expect(editedCall(call, { ...editableTexts(call), command: "refund" })).toEqual({ args: { ...call, command: "refund" }, isChanged: true });
});

test("what is not JSON is named", () => {
  expect(editedCall(CALL, { ...editableTexts(CALL), env: "{" })).toEqual({ wrong: "env" });
});
