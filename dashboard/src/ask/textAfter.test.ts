import { expect, test } from "vitest";

import { textAfter } from "./textAfter";

const edit = (...edits: object[]) => ({ path: "a", edits });

test.each([
  ["a write", "write_file", "old", { path: "a", content: "new" }, "new"],
  ["edits one after the other", "edit_file", "one two", edit({ old: "one", new: "two" }, { old: "two two", new: "three" }), "three"],
  ["every place, if the call says so", "edit_file", "x x", edit({ old: "x", new: "$&", all: true }), "$& $&"],
  ["words that are there twice", "edit_file", "x x", edit({ old: "x", new: "y" }), undefined],
  ["words that are not there", "edit_file", "x", edit({ old: "z", new: "y" }), undefined],
  ["an argument that is not known", "write_file", "x", { path: "a", content: "y", append: true }, undefined],
])("the text after %s", (_, tool, before, args, after) => {
  expect(textAfter(before, tool, args)).toBe(after);
});
