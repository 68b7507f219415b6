import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { launch, visit, type Visitor } from "./browser";
import { startStack, type Stack } from "./stack";

let browser: Browser;
let stack: Stack;
let plan: string;

beforeAll(async () => {
  browser = await launch();
  stack = await startStack();
  await stack.api("POST", "/api/sessions", { sessionId: "reviewed-1" });
  for (const text of ["/plan on", "move the blog to a new host"]) await stack.api("POST", "/api/sessions/reviewed-1/messages", { text });
  plan = (await stack.api("GET", "/api/plans?sessionId=reviewed-1")).plans[0].id;
});
afterAll(async () => {
  await browser.close();
  await stack.close();
});

async function select(page: Page, words: string): Promise<void> {
  await page.evaluate((text) => {
    const root = document.querySelector("[data-plan-text]")!;
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const at = node.textContent!.indexOf(text);
      if (at < 0) continue;
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + text.length);
      const selection = getSelection()!;
      selection.removeAllRanges();
      selection.addRange(range);
      return;
    }
    throw new Error(`no ${text}`);
  }, words);
}

/** Stands in for the server's drafts until it keeps them. */
async function withDrafts(visitor: Visitor): Promise<{ comments: any[] }> {
  const draft = { version: 1, comments: [] as any[], rounds: [] };
  await visitor.page.route("**/review", async (route) => {
    if (route.request().method() === "PUT") draft.comments = (route.request().postDataJSON() as typeof draft).comments;
    await route.fulfill({ json: draft });
  });
  return draft;
}

describe("comments on a plan", () => {
  test("are not offered by a server that keeps none", async () => {
    const visitor = await visit(browser, stack, `/p/${plan}`);
    await visitor.page.getByText("Lower the TTL").waitFor();
    expect(await visitor.page.getByRole("complementary", { name: "Comments" }).count()).toBe(0);
    await select(visitor.page, "Lower the TTL");
    expect(await visitor.page.getByRole("toolbar").count()).toBe(0);
    await visitor.close();
  });

  test("are collected from selected words, survive a reload and go with the request for changes", async () => {
    const visitor = await visit(browser, stack);
    const draft = await withDrafts(visitor);
    await visitor.go(`/p/${plan}`);
    const { page } = visitor;
    const panel = page.getByRole("complementary", { name: "Comments" });
    await panel.waitFor();
    await select(page, "end of the month");
    await page.getByRole("button", { name: "Comment", exact: true }).click();
    await page.getByLabel("Your comment").fill("Which day?");
    await page.keyboard.press("Control+Enter");
    await select(page, "Lower the TTL of the DNS records to 60 seconds");
    await page.getByRole("button", { name: "Strike", exact: true }).click();
    await page.getByText("Kept on the server until you send them").waitFor();
    expect(draft.comments.map(({ kind, text, anchor }) => [kind, text, anchor.quote])).toEqual([
      ["comment", "Which day?", "end of the month"],
      ["strike", "", "Lower the TTL of the DNS records to 60 seconds"],
    ]);
    await page.reload();
    await panel.getByText("Which day?").waitFor();

    await page.getByRole("button", { name: "Request changes · 2 comments" }).click();
    const [request] = await Promise.all([page.waitForRequest("**/revise"), page.getByRole("button", { name: "Send to the agent" }).click()]);
    expect(request.postDataJSON()).toMatchObject({ review: true });
    await visitor.close();
  });
});
