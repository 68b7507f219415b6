import { expect, test } from "vitest";

import type { InboxItem } from "../api/types";
import { hasWords, inView } from "./InboxTools";

const item = (kind: InboxItem["kind"]) => ({ kind, id: kind }) as InboxItem;
const ITEMS = (["plan", "permission", "question", "uncertain", "failed", "step", "run", "budget", "tool_change", "refused"] as const).map(item);

test("every kind stands in one view beside all", () => {
  const kinds = (view: Parameters<typeof inView>[0]) => inView(view, ITEMS, [item("plan")]).map(({ kind }) => kind);
  expect(kinds("all")).toHaveLength(10);
  expect([...kinds("plans"), ...kinds("asks"), ...kinds("stopped"), ...kinds("tools")].sort()).toEqual(kinds("all").sort());
  expect(kinds("asks")).toEqual(["permission", "question"]);
  expect(kinds("later")).toEqual(["plan"]);
});

test.each([
  ["blog host", true],
  ["HOST  blog", true],
  ["blog invoices", false],
])("%j is searched word by word", (words, found) => {
  expect(hasWords(words, "Plan 1 is waiting: Move the blog to a new host")).toBe(found);
});
