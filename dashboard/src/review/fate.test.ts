import { expect, test } from "vitest";

import type { ReviewComment } from "../api/review";
import { isTaken, whereIs } from "./fate";

const comment = (more: Partial<ReviewComment>): ReviewComment => ({ id: "c", kind: "comment", text: "", anchor: { quote: "the old host", prefix: "switch off ", suffix: " at noon" }, ...more });

test.each([
  ["where it was", "We switch off the old host at noon.", "here"],
  ["elsewhere", "Nobody loves the old host, they say.", "moved"],
  ["in other marks", "We switch off **the** old *host* at noon.", "here"],
  ["not any more", "We keep it.", "gone"],
])("the words are %s", (_, markdown, expected) => {
  expect(whereIs({ markdown }, comment({}))).toBe(expected);
});

test("a suggestion is taken where the text has its words now", () => {
  const replace = comment({ kind: "replace", text: "the *new* host", state: "addressed" });
  expect(isTaken({ markdown: "Switch off the new host." }, replace)).toBe(true);
  expect(isTaken({ markdown: "Switch nothing off." }, replace)).toBe(false);
  expect(isTaken({ markdown: "Switch off the new host." }, { ...replace, state: "open" })).toBe(false);
  expect(isTaken({ markdown: "Nothing." }, comment({ kind: "strike", state: "addressed" }))).toBe(true);
  // Other words in its place are a change and no answer.
  expect(isTaken({ markdown: "Nothing." }, comment({ state: "addressed" }))).toBe(false);
});
