import { expect, test } from "vitest";

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

test("what is not JSON is named", () => {
  expect(editedCall(CALL, { ...editableTexts(CALL), env: "{" })).toEqual({ wrong: "env" });
});
