import { expect, test } from "vitest";

import { differenceRows } from "./PreviewView";

test("changed lines are shown with three around them and their numbers in both texts", () => {
  const before = Array.from({ length: 20 }, (_, i) => `line ${i + 1}`).join("\n");
  const rows = differenceRows(before, before.replace("line 10", "line ten"));
  expect(rows.map((row) => ("from" in row ? [row.mark, row.from, row.to] : row.mark))).toEqual([
    "gap",
    ["same", 7, 7],
    ["same", 8, 8],
    ["same", 9, 9],
    ["removed", 10, undefined],
    ["added", undefined, 10],
    ["same", 11, 11],
    ["same", 12, 12],
    ["same", 13, 13],
    "gap",
  ]);
});

test("texts that are the same have no difference", () => {
  expect(differenceRows("a\nb\n", "a\nb\n")).toEqual([]);
});
