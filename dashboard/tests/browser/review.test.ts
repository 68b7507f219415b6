import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";

import { until, visit } from "./browser";
import { sharedStack, type Stack } from "./stack";

let stack: Stack;
let plan: string;

beforeAll(async () => {
  stack = await sharedStack();
  await stack.api("POST", "/api/sessions", { sessionId: "reviewed-1" });
  for (const text of ["/plan on", "move the blog to a new host"]) await stack.api("POST", "/api/sessions/reviewed-1/messages", { text });
  plan = (await stack.api("GET", "/api/plans?sessionId=reviewed-1")).plans[0].id;
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

describe("comments on a plan", () => {
  test("are collected from selected words, survive a reload and a crash, go with the request for changes and are found in the next version", async () => {
    const { page } = await visit(stack, `/p/${plan}`);
    const panel = page.getByRole("complementary", { name: "Comments" });
    await panel.waitFor();
    await select(page, "end of the month");
    await page.getByRole("button", { name: "Comment", exact: true }).click();
    await page.getByLabel("Your comment").fill("Which day?");
    await page.keyboard.press("Control+Enter");
    await select(page, "Lower the TTL of the DNS records to 60 seconds");
    await page.getByRole("button", { name: "Strike", exact: true }).click();
    const drafted = await until(() => stack.api("GET", `/api/plans/${plan}/review`), (seen: any) => seen.comments.length === 2);
    expect(drafted.comments.map(({ kind, text, anchor }: any) => [kind, text, anchor.quote])).toEqual([
      ["comment", "Which day?", "end of the month"],
      ["strike", "", "Lower the TTL of the DNS records to 60 seconds"],
    ]);
    await stack.kill();
    await stack.restart();
    await page.reload();
    await panel.getByText("Which day?").waitFor();
    await page.getByText("Kept on the server until you send them").waitFor();

    await page.getByRole("button", { name: "Request changes · 2 comments" }).click();
    await page.getByLabel("What should be changed").fill("shorter please, with a maintenance window");
    await page.getByRole("button", { name: "Send to the agent" }).click();
    await page.getByText("Version 2 arrived while you were reading version 1.").waitFor();
    const sent = await stack.api("GET", `/api/plans/${plan}/review`);
    expect(sent.comments).toEqual([]);
    expect(sent.rounds[0].comments.map(({ kind, state }: any) => [kind, state])).toEqual([
      ["comment", "open"],
      ["strike", "addressed"],
    ]);
    // The agent read them.
    expect(stack.model.asked().some((text) => text.includes('On "end of the month": Which day?'))).toBe(true);
    await page.getByText("Sent with version 1: 2 comments").click();
    await panel.getByText("addressed").waitFor();
    await panel.getByText("open", { exact: true }).waitFor();
  });

  test("go with an approval as notes", async () => {
    const { page } = await visit(stack, `/p/${plan}`);
    await page.getByRole("complementary", { name: "Comments" }).waitFor();
    await select(page, "Set up the new host");
    await page.getByRole("button", { name: "Comment", exact: true }).click();
    await page.getByLabel("Your comment").fill("Use the small machine.");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("button", { name: /^Approve version \d+ · \d+ steps, with 1 note$/ }).click();
    const approved = await until(() => stack.api("GET", `/api/plans/${plan}`), (seen: any) => seen.approval !== null);
    expect(approved.approval.note).toContain('On "Set up the new host": Use the small machine.');
  });
});
