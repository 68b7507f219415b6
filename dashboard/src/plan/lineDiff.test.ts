import { expect, test } from "vitest";

import { diffLines } from "./lineDiff";

const shown = (before: string, after: string) => diffLines(before, after).map(({ mark, text }) => `${mark === "added" ? "+" : mark === "removed" ? "-" : " "}${text}`);

test("a changed line is removed and added among those that stay", () => {
  expect(shown("a\nb\nc\n", "a\nx\nc\n")).toEqual([" a", "-b", "+x", " c"]);
});
test("nothing and something", () => {
  expect(shown("", "a\nb")).toEqual(["+a", "+b"]);
  expect(shown("a", "")).toEqual(["-a"]);
  expect(shown("a", "a")).toEqual([" a"]);
});
test("lines that move are found again", () => {
  expect(shown("a\nb\nc\nd", "b\nc\na\nd")).toEqual(["-a", " b", " c", "+a", " d"]);
});
