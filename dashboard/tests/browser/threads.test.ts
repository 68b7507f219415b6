// Comments and differences: from the words to the comment and back, through the versions, and what was looked at.
import type { Page } from "playwright-core";
import { beforeEach, expect, test } from "vitest";

import { until, untilCount, visit } from "./browser";
import { sharedStack, type Stack } from "./stack";

let stack: Stack;

beforeEach(async () => {
  stack = await sharedStack();
});

async function blog(key: string): Promise<string> {
  await stack.api("POST", "/api/sessions", { sessionId: key });
  for (const text of ["/plan on", "move the blog to a new host"]) await stack.api("POST", `/api/sessions/${key}/messages`, { text });
  return (await stack.api("GET", `/api/plans?sessionId=${key}`)).plans[0].id;
}

const keep = (id: string, comments: [id: string, kind: string, quote: string, text: string, prefix?: string][]) =>
  stack.api("PUT", `/api/plans/${id}/review`, { version: 1, comments: comments.map(([id, kind, quote, text, prefix = ""]) => ({ id, kind, text, anchor: { quote, prefix, suffix: "" } })) });

/** Clicks the middle of words in the text. */
async function clickWords(page: Page, words: string): Promise<void> {
  const place = await page.evaluate((text) => {
    const walker = document.createTreeWalker(document.querySelector("[data-plan-text]")!, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const at = node.textContent!.indexOf(text);
      if (at < 0) continue;
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + text.length);
      node.parentElement!.scrollIntoView({ block: "center" });
      const box = range.getClientRects()[0]!;
      return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
    }
    throw new Error(`no ${text}`);
  }, words);
  await page.mouse.click(place.x, place.y);
}

const isInView = (page: Page, words: string) => page.getByText(words).first().evaluate((element) => element.getBoundingClientRect().top < innerHeight - 80 && element.getBoundingClientRect().top > 60);

test("a comment leads to its words and back, and the outline counts it", async () => {
  const id = await blog("threads-1");
  await keep(id, [["c1", "comment", "end of the month", "Which day?"], ["c2", "comment", "DNS cannot be undone quickly", "How slow?"]]);
  const { page } = await visit(stack, `/p/${id}`, { viewport: { width: 1440, height: 700 } });
  const panel = page.getByRole("complementary", { name: "Comments" });
  const outline = page.getByRole("navigation", { name: "Outline" });
  await outline.locator("li", { hasText: "Risks" }).getByText("1", { exact: true }).waitFor();
  await untilCount(outline.locator(".outline-count"), 2);
  await panel.getByRole("button", { name: "DNS cannot be undone quickly" }).click();
  await until(() => isInView(page, "DNS cannot be undone quickly."), (seen) => seen);
  await panel.locator("[data-active]", { hasText: "How slow?" }).waitFor();
  await panel.getByRole("button", { name: "end of the month" }).click();
  await clickWords(page, "end of the month");
  await panel.locator("[data-active]", { hasText: "Which day?" }).waitFor();
});

test("on a phone the comments are a sheet that a word of the text opens", async () => {
  const id = await blog("threads-2");
  await keep(id, [["c1", "comment", "end of the month", "Which day?"]]);
  const { page } = await visit(stack, `/p/${id}`, { viewport: { width: 360, height: 640 } });
  await page.getByRole("button", { name: "1 comment", exact: true }).waitFor();
  await untilCount(page.getByText("Which day?").filter({ visible: true }), 0);
  // One line, so that most of the screen is the plan.
  const foot = await page.locator(".plan-foot").boundingBox();
  expect(foot!.height).toBeLessThan(110);
  await clickWords(page, "end of the month");
  await page.getByText("Which day?").waitFor();
  await page.getByRole("button", { name: "Close the comments" }).click();
  await untilCount(page.getByText("Which day?").filter({ visible: true }), 0);
  await page.getByRole("button", { name: "Show all of it" }).click();
  await page.getByRole("button", { name: "Request changes · 1 comment" }).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
});

test("the next version says which suggestions were taken; whether a comment is answered is the person's to say", async () => {
  const id = await blog("threads-3");
  await keep(id, [
    ["c1", "replace", "Copy the uploads with rsync", "Announce a maintenance window, then copy the uploads with rsync"],
    ["c2", "comment", "Lower the TTL of the DNS records", "Why sixty?", "Set up the new host from the same Ansible role\n"],
    ["c3", "comment", "end of the month", "Which day?"],
  ]);
  await stack.api("POST", `/api/plans/${id}/revise`, { feedback: "shorter please", review: true });
  await until(() => stack.api("GET", `/api/plans/${id}`), (plan: any) => plan.version === 2 && plan.status === "READY");
  const { page } = await visit(stack, `/p/${id}`);
  await page.getByText("Sent with version 1: 3 comments").click();
  const panel = page.getByRole("complementary", { name: "Comments" });
  const thread = (words: string) => panel.locator("li.comment", { hasText: words });
  await thread("Announce a maintenance window").getByText("taken", { exact: true }).waitFor();
  // It looks like what it is: the words that were there, struck, and those in their place.
  const suggestion = thread("Announce a maintenance window");
  expect(await suggestion.locator("q").evaluate((words) => getComputedStyle(words).textDecorationLine)).toBe("line-through");
  await suggestion.locator("ins", { hasText: "Announce a maintenance window" }).waitFor();
  // The words of one are gone, which is no answer: only that is said.
  await thread("Why sixty?").getByText("words changed", { exact: true }).waitFor();
  await thread("Why sixty?").getByText(/That only says that the quoted words are different now/).waitFor();
  // What is still in the text is marked there.
  expect(await page.evaluate(() => (CSS as unknown as { highlights: Map<string, { size: number }> }).highlights.get("review-sent")?.size)).toBe(1);
  await thread("Which day?").getByText("open", { exact: true }).waitFor();
  await untilCount(thread("Which day?").getByText("resolved", { exact: true }), 0);
  await thread("Which day?").getByRole("button", { name: "Resolve" }).click();
  await thread("Which day?").getByText("resolved", { exact: true }).waitFor();
  // It is kept on the server: every browser of the person knows it.
  const { rounds } = await until(() => stack.api("GET", `/api/plans/${id}/review`), (seen: any) => seen.rounds[0].comments.some((comment: any) => comment.resolved));
  expect(rounds[0].comments.filter((comment: any) => comment.resolved).map((comment: any) => comment.id)).toEqual(["c3"]);
  await page.reload();
  await page.getByText("Sent with version 1: 3 comments").click();
  await thread("Which day?").getByText("resolved", { exact: true }).waitFor();
  await thread("Which day?").getByRole("button", { name: "Open it again" }).click();
  await thread("Which day?").getByText("open", { exact: true }).waitFor();
});

test("the agent answers a comment, and the person reads it there", async () => {
  const id = await blog("threads-5");
  await keep(id, [["c1", "comment", "end of the month", "Which day?"]]);
  const { page } = await visit(stack, `/p/${id}`);
  await page.getByRole("cell", { name: "120,481 rows" }).waitFor();
  await stack.api("POST", `/api/plans/${id}/revise`, { feedback: "answer the comments", review: true });
  await until(() => stack.api("GET", `/api/plans/${id}`), (plan: any) => plan.version === 2 && plan.status === "READY");
  await page.getByText("Sent with version 1: 1 comment").click();
  await page.getByRole("complementary", { name: "Comments" }).getByText("It is the 30th; the text says so now.").waitFor();
});

test("a difference is shown as it is read, and a mark of what was viewed ends when that step changes", async () => {
  const id = await blog("threads-4");
  const { page } = await visit(stack, `/p/${id}`);
  await page.getByRole("cell", { name: "120,481 rows" }).waitFor();
  await stack.api("POST", "/api/sessions/threads-4/messages", { text: "make it shorter" });
  await page.getByRole("button", { name: "Show the difference" }).click();
  await page.getByRole("button", { name: "As it is read" }).click();
  await page.getByText("0 of 2 changes viewed").waitFor();
  const step = page.locator(".part-change", { hasText: "Step 2" });
  await step.locator("ins").getByText("Announce a maintenance window").waitFor();
  await step.getByRole("checkbox", { name: "Viewed" }).check();
  await page.getByText("1 of 2 changes viewed").waitFor();
  await untilCount(step.locator("ins"), 0);
  await page.reload();
  await page.getByRole("button", { name: "As it is read" }).click();
  await page.getByText("1 of 2 changes viewed").waitFor();
  // Back leads to the plan.
  await page.getByRole("button", { name: "Plan", exact: true }).click();
  await page.goBack();
  await page.getByRole("button", { name: "Changes", pressed: true }).waitFor();
});
