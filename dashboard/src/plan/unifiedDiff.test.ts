import { expect, test } from "vitest";

import { parseUnifiedDiff } from "./unifiedDiff";

test("lines have their numbers in both files, and hunks are apart", () => {
  const diff = "diff --git a/notes.md b/notes.md\n--- a/notes.md\n+++ b/notes.md\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n@@ -20 +20,2 @@ section\n twenty\n+more\n\\ No newline at end of file\n";
  expect(parseUnifiedDiff(diff)).toEqual([
    { mark: "same", from: 1, to: 1, text: "one" },
    { mark: "removed", from: 2, to: undefined, text: "two" },
    { mark: "added", from: undefined, to: 2, text: "zwei" },
    { mark: "same", from: 3, to: 3, text: "three" },
    { mark: "gap", text: "section" },
    { mark: "same", from: 20, to: 20, text: "twenty" },
    { mark: "added", from: undefined, to: 21, text: "more" },
    { mark: "note", text: "No newline at end of file" },
  ]);
});

test("a removed line that looks like a head is a line", () => {
  const diff = "--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- old\n keep\n";
  expect(parseUnifiedDiff(diff)[0]).toEqual({ mark: "removed", from: 1, to: undefined, text: "-- old" });
});
