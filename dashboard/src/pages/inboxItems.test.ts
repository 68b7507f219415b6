import { expect, test } from "vitest";

import type { InboxItem } from "../api/types";
import { inboxWords } from "./inboxItems";

const item = (title: string, situation: string, more: Partial<InboxItem> = {}) => ({ kind: "permission", title, situation, ...more }) as InboxItem;

test.each([
  ["delete_file: door.md", "The agent asks for permission: delete_file: door.md", undefined],
  ["Run 1 is paused, the budget of turns is spent: count the screws", "It is paused: the budget of turns is spent.", undefined],
  ["Three files", "It failed: step 2 was not done.", "It failed: step 2 was not done."],
  ["Move the blog", "It waits for your decision.", "It waits for your decision."],
  ["Move the blog", "", ""],
])("%s: a row says once what waits", (title, situation, shown) => {
  expect(inboxWords(item(title, situation))).toBe(shown);
});

test("a step says what it is, unless it failed", () => {
  const step = { position: 2, description: "Copy the files" } as InboxItem["step"];
  expect(inboxWords(item("Move", "It ended.", { kind: "step", step } as Partial<InboxItem>))).toBe("Copy the files");
  expect(inboxWords(item("Move", "It failed: step 2.", { kind: "failed", step } as Partial<InboxItem>))).toBe("It failed: step 2.");
});
