import { expect, test } from "vitest";

import { anchorAt, findAnchor } from "./anchors";

const TEXT = "Copy the files. Check the files. Remove the files.";

test("a quotation is found where it was, among others like it", () => {
  const start = TEXT.lastIndexOf("the files");
  const anchor = anchorAt(TEXT, start, start + 9);
  expect(findAnchor(TEXT, anchor)).toEqual({ start, end: start + 9 });
  expect(findAnchor(`First of all. ${TEXT}`, anchor)?.start).toBe(start + 14);
});

test("words that are gone have no place", () => {
  expect(findAnchor("Something else.", anchorAt(TEXT, 0, 4))).toBeUndefined();
  expect(findAnchor(TEXT, {})).toBeUndefined();
});
