import { expect, test } from "vitest";

import { completeMention, mentionAt, mentionPieces } from "./mentions";

test("a file is completed after an @ that begins a word", () => {
  expect(mentionAt("look at @src/ma", 15)).toEqual({ start: 8, prefix: "src/ma" });
  expect(mentionAt("@", 1)).toEqual({ start: 0, prefix: "" });
  expect(mentionAt("ann@example.org", 15)).toBeUndefined();
  expect(mentionAt("look at @src/ma then", 20)).toBeUndefined();
});

test("the chosen name replaces what was typed, and a folder is typed on", () => {
  const typed = "look at @sr please";
  expect(completeMention(typed, 11, { start: 8, prefix: "sr" }, "src/main.rs", false)).toEqual({ text: "look at @src/main.rs please", cursor: 21 });
  expect(completeMention("@sr", 3, { start: 0, prefix: "sr" }, "src", true)).toEqual({ text: "@src/", cursor: 5 });
});

test("names of files are found in what was sent, names of people are not", () => {
  expect(mentionPieces("see @attachments/plan.png, @ann and mail a@b.example")).toEqual([
    { text: "see " },
    { text: "@attachments/plan.png", path: "attachments/plan.png" },
    { text: ", @ann and mail a@b.example" },
  ]);
});
