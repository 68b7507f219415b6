// The inbox with many items: filtered, searched and put off, on a desk and on a phone; and a path that has no page.
import { beforeEach, describe, expect, test } from "vitest";

import { untilCount, visit } from "./browser";
import { sharedStack, type Stack } from "./stack";

let stack: Stack;

beforeEach(async () => {
  stack = await sharedStack();
});

async function session(key: string, title: string, ...said: string[]): Promise<void> {
  await stack.api("POST", "/api/sessions", { sessionId: key });
  await stack.api("PATCH", `/api/sessions/${key}`, { title });
  for (const text of said) await stack.api("POST", `/api/sessions/${key}/messages`, { text });
}

describe("an inbox of two plans and a question", () => {
  beforeEach(async () => {
    await session("inbox-blog", "The blog", "/plan on", "move the blog to a new host");
    await session("inbox-bills", "The bills", "/plan on build", "build a plan");
    await session("inbox-door", "The door", "ask me");
  });

  test("is filtered by kind, and Back leads to the list before", async () => {
    const { page } = await visit(stack);
    await page.getByText("3 decisions waiting").waitFor();
    await page.getByRole("button", { name: "Questions 1" }).click();
    await untilCount(page.locator(".inbox-row"), 1);
    await page.getByRole("button", { name: /Which colour has the door/ }).waitFor();
    await page.goBack();
    await untilCount(page.locator(".inbox-row"), 3);
    // Sessions have their names.
    for (const name of ["The blog", "The bills", "The door"]) await page.locator(".inbox-where").getByText(name, { exact: true }).waitFor();
  });

  test("is put off in one go, decides nothing by that, and comes back", async () => {
    const { page } = await visit(stack);
    await page.getByRole("checkbox", { name: /Move the blog/ }).check();
    await page.getByRole("checkbox", { name: /Speed up the invoices/ }).check();
    await page.getByRole("button", { name: "Not now: 2 of them" }).click();
    await untilCount(page.locator(".inbox-row"), 1);
    await page.getByText("1 decision waiting").waitFor();
    await page.waitForFunction(() => document.title === "(1) Planwright");
    expect((await stack.api("GET", "/api/inbox")).items).toHaveLength(3);
    await page.reload();
    await page.getByText("1 decision waiting").waitFor();
    await page.getByRole("button", { name: "Not now 2" }).click();
    await untilCount(page.locator(".inbox-row"), 2);
    await page.getByRole("checkbox", { name: /Move the blog/ }).check();
    await page.getByRole("button", { name: "Bring it back" }).click();
    await page.getByText("2 decisions waiting").waitFor();
    await page.getByRole("button", { name: "All 2" }).click();
    await page.getByRole("checkbox", { name: /Move the blog/ }).check();
    await page.getByRole("button", { name: "Not now", exact: true }).click();
    await page.getByText("1 decision waiting").waitFor();
    // A new version is something else to decide about.
    await stack.api("POST", "/api/sessions/inbox-blog/messages", { text: "make it shorter" });
    await page.getByText("2 decisions waiting").waitFor();
  });

  test("with the keyboard alone: x selects, s puts off", async () => {
    const { page } = await visit(stack);
    await page.getByText("3 decisions waiting").waitFor();
    await page.keyboard.press("x");
    await page.getByRole("button", { name: "Not now", exact: true }).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.keyboard.press("s");
    await page.getByText("1 decision waiting").waitFor();
    await page.keyboard.press("s");
    await page.getByText("Nothing waits for you.").waitFor();
  });

  test.each([390, 360])("on a phone of %i pixels a question has the whole screen, also with the keyboard open", async (width) => {
    const { page } = await visit(stack, "/", { viewport: { width, height: 740 }, hasTouch: true, isMobile: true });
    await page.getByRole("button", { name: /Which colour has the door/ }).click();
    const send = page.getByRole("button", { name: "Send the answers" });
    await send.waitFor();
    await untilCount(page.locator(".inbox-list").filter({ visible: true }), 0);
    // The keyboard takes the lower half.
    await page.setViewportSize({ width, height: 380 });
    for (const target of [page.getByRole("radio", { name: "blue" }), page.getByRole("textbox", { name: "And why?" }), send]) {
      await target.scrollIntoViewIfNeeded();
      const box = await target.boundingBox();
      expect(box !== null && box.x >= 0 && box.x + box.width <= width && box.y >= 0 && box.y + box.height <= 380).toBe(true);
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
    await page.setViewportSize({ width, height: 740 });
    await page.getByRole("link", { name: "All decisions" }).click();
    await untilCount(page.locator(".inbox-row"), 3);
  });
});

test("a path without a page says so, with a way back, and a program gets a problem", async () => {
  const { page } = await visit(stack);
  const answer = await page.goto(`${stack.url}/plans/3`);
  expect(answer?.status()).toBe(404);
  await page.getByRole("link", { name: "Inbox" }).first().waitFor();
  await page.getByRole("main").getByRole("link", { name: "Inbox" }).click();
  await page.getByRole("heading", { name: "Inbox", level: 1 }).waitFor();
  const asked = await fetch(`${stack.url}/plans/3`, { headers: { Authorization: "Bearer a-token-for-the-browser-tests" } });
  expect([asked.status, asked.headers.get("content-type")]).toEqual([404, "application/problem+json"]);
});

test("the page of another site that opened ours has no hold on it", async () => {
  const answer = await fetch(`${stack.url}/`);
  expect(answer.headers.get("cross-origin-opener-policy")).toBe("same-origin");
});
