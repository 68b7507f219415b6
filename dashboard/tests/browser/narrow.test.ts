// A phone of 360 pixels, the narrowest that is common: nothing to press or to read lies beside the screen or is cut.
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";

import { until, visit } from "./browser";
import { planned, sharedStack, type Stack } from "./stack";

let stack: Stack;
let pages: [name: string, path: string][];

const waits = (kind: string) => until(() => stack.api("GET", "/api/inbox"), (seen: any) => seen.items.some((item: any) => item.kind === kind));

beforeAll(async () => {
  stack = await sharedStack();
  const approved = async (id: string) => {
    const { digest } = await stack.api("GET", `/api/plans/${id}`);
    await stack.api("POST", `/api/plans/${id}/approve`, { digest });
    return id;
  };
  const failed = await approved(await planned(stack, "narrow-failed", "/plan on collect", "plan what fails"));
  await waits("failed");
  const asking = await approved(await planned(stack, "narrow-asking", "/plan on build", "plan the door"));
  await waits("permission");
  const document = await planned(stack, "narrow-text", "/plan on", "move the blog to a new host");
  const recorded = await planned(stack, "narrow-calls", "/plan on collect", "record the calls");
  const many = await planned(stack, "narrow-many", "/plan on build", "plan twenty-two steps");
  await stack.api("POST", "/api/sessions", { sessionId: "narrow-question" });
  await stack.api("POST", "/api/sessions/narrow-question/messages", { text: "ask me" });
  await waits("question");
  pages = [
    ["the inbox", "/"],
    ["a plan that failed", `/p/${failed}`],
    ["its execution", `/p/${failed}/run/1`],
    ["its history", `/p/${failed}?view=history`],
    ["a plan that asks", `/p/${asking}`],
    ["a chat that asks", "/s/narrow-asking"],
    ["a document", `/p/${document}`],
    ["its raw text", `/p/${document}?view=raw`],
    ["recorded calls", `/p/${recorded}`],
    ["many steps", `/p/${many}`],
    ["the settings", "/settings"],
  ];
});

/** What can be pressed or read and is beside the screen, or cut at its end. The rooms of a session are scrolled sideways, and calls that were made are told in one line. */
function beside(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const name = (element: Element) => `${element.tagName.toLowerCase()}.${element.getAttribute("class") ?? ""} ${(element.textContent ?? "").trim().slice(0, 60)}`;
    for (const element of document.querySelectorAll("main :is(button, a, input, select, textarea, label, h1, h2, h3, p, li, td, th, dd, code, span)")) {
      if (!element.checkVisibility() || element.closest("nav.segments, .tools-head, .visually-hidden, .visually-hidden *") || element.matches(".visually-hidden")) continue;
      const box = element.getBoundingClientRect();
      if (box.width === 0 || box.height === 0) continue;
      if (box.left < -1 || box.right > innerWidth + 1) found.push(`beside: ${name(element)}`);
      const { overflowX, textOverflow } = getComputedStyle(element);
      if (overflowX !== "visible" && textOverflow === "ellipsis" && element.scrollWidth > element.clientWidth + 1) found.push(`cut: ${name(element)}`);
    }
    return found;
  });
}

test("at 360 pixels every page is whole", async () => {
  const { page, go, settled } = await visit(stack, "/", { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
  // One is put off: every filter is there.
  await page.getByRole("checkbox", { name: /Move the blog/ }).check();
  await page.getByRole("button", { name: "Not now", exact: true }).click();
  await page.getByRole("button", { name: "Not now 1" }).waitFor();
  for (const [name, path] of pages) {
    await go(path);
    await settled();
    expect(await beside(page), name).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), name).toBe(true);
    const grow = page.getByRole("button", { name: "Show all of it" });
    if ((await grow.count()) === 0 || !(await grow.isVisible())) continue;
    await grow.click();
    expect(await beside(page), `${name}, with its whole footer`).toEqual([]);
  }
});
