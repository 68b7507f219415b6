// What stands on a page only in some state of it: on a desk, a tablet and a phone, light and dark, and with the keyboard alone.
import type { Locator, Page } from "playwright-core";
import { beforeEach, describe, expect, test } from "vitest";

import { expectAccessible, expectFits } from "./axe";
import { until, untilCount, visit } from "./browser";
import { planned, sharedStack, type Stack } from "./stack";

let stack: Stack;

beforeEach(async () => {
  stack = await sharedStack();
});

const waits = (kind: string) => until(() => stack.api("GET", "/api/inbox"), (seen: any) => seen.items.some((item: any) => item.kind === kind));
const keep = (id: string, text: string) => stack.api("PUT", `/api/plans/${id}/review`, { version: 1, comments: [{ id: "c1", kind: "comment", text, anchor: { quote: "end of the month", prefix: "", suffix: "" } }] });
const at = (width: number) => ({ viewport: { width, height: 900 }, reducedMotion: "reduce" as const, bypassCSP: true });

async function expectGood(page: Page, name: string): Promise<void> {
  await expectAccessible(page, name);
  await expectFits(page, name);
}

describe.each([1440, 820, 390])("at %i pixels, accessible and in its place:", (width) => {
  test("what an agent asks, on every page", async () => {
    const id = await planned(stack, "ask-look", "/plan on build", "plan the door");
    const { digest } = await stack.api("GET", `/api/plans/${id}`);
    await stack.api("POST", `/api/plans/${id}/approve`, { digest });
    await waits("permission");
    const { page, go, settled } = await visit(stack, `/p/${id}`, at(width));
    for (const path of [`/p/${id}`, `/p/${id}/run/1`, "/s/ask-look", "/"]) {
      await go(path);
      if (path === "/") await page.getByRole("button", { name: /delete_file: door.md/ }).click();
      const card = page.getByRole("region", { name: "The agent asks for permission" }).first();
      await card.getByRole("button", { name: "Allow once" }).waitFor();
      if (path === `/p/${id}`) await card.getByText("Step 1", { exact: true }).waitFor();
      await card.getByRole("button", { name: "Change it before allowing it" }).click();
      await settled();
      await expectGood(page, path);
    }
  });

  test("comments, a newer version, and the difference as it is read", async () => {
    const id = await planned(stack, "review-look", "/plan on", "move the blog to a new host");
    await keep(id, "Which day?");
    const { page, settled } = await visit(stack, `/p/${id}`, at(width));
    await page.getByRole("cell", { name: "120,481 rows" }).waitFor();
    // Where there is no room beside the text they are a sheet.
    if (width < 1440) await page.getByRole("button", { name: "1 comment", exact: true }).click();
    await page.getByText("Which day?").waitFor();
    await expectGood(page, "comments");
    if (width < 1440) await page.getByRole("button", { name: "Close the comments" }).click();
    await stack.api("POST", "/api/sessions/review-look/messages", { text: "make it shorter" });
    await page.getByText("You are reading version 1. Version 2 is there.").waitFor();
    await expectGood(page, "a newer version");
    await page.getByRole("button", { name: "Show the difference" }).click();
    await page.getByRole("button", { name: "As it is read" }).click();
    await page.getByText("0 of 2 changes viewed").waitFor();
    await settled();
    await expectGood(page, "the difference");
  });

  test("a plan that failed, and one whose steps are many", async () => {
    const failed = await planned(stack, "failed-look", "/plan on collect", "plan what fails");
    const { digest } = await stack.api("GET", `/api/plans/${failed}`);
    await stack.api("POST", `/api/plans/${failed}/approve`, { digest });
    await waits("failed");
    const many = await planned(stack, "many-look", "/plan on build", "plan twenty-two steps");
    const { page, go, settled } = await visit(stack, `/p/${failed}`, at(width));
    await page.locator(".badge[data-tone=failed]", { hasText: "Failed" }).first().waitFor();
    await settled();
    await expectGood(page, "a plan that failed");
    // A badge is as wide as its words.
    const badge = await page.locator(".badge", { hasText: "Failed" }).first().boundingBox();
    expect(badge!.width).toBeLessThan(140);
    await go(`/p/${many}`);
    await page.getByText("rm -rf /srv/backups").first().waitFor();
    await settled();
    await expectGood(page, "many steps");
    await page.getByRole("button", { name: /^Approve version 1 · 22 steps · 2 commands · 1 host named$/ }).waitFor();
  });

  test("the palette, the keys and a menu", async () => {
    const id = await planned(stack, "palette-look", "/plan on", "move the blog to a new host");
    const { page } = await visit(stack, `/p/${id}`, at(width));
    await page.getByRole("cell", { name: "120,481 rows" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: /Show: Changes/ }).waitFor();
    await expectGood(page, "the palette");
    await page.keyboard.press("Escape");
    await untilCount(page.getByRole("dialog"), 0);
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).getByText("A question for permission").waitFor();
    await expectGood(page, "the keys");
    await page.keyboard.press("Escape");
    await untilCount(page.getByRole("dialog"), 0);
    await page.getByRole("button", { name: "More decisions" }).click();
    await page.getByRole("menuitem", { name: "Reject" }).waitFor();
    await expectFits(page, "a menu");
  });
});

test.each([390, 360])("on a phone of %i pixels a comment is written and a decision made with the keyboard of the phone open", async (width) => {
  const id = await planned(stack, "phone-review", "/plan on", "move the blog to a new host");
  await keep(id, "Which day?");
  const { page } = await visit(stack, `/p/${id}`, { viewport: { width, height: 740 }, hasTouch: true, isMobile: true });
  await page.getByRole("cell", { name: "120,481 rows" }).waitFor();
  const isInView = async (target: Locator) => {
    await target.scrollIntoViewIfNeeded();
    const box = await target.boundingBox();
    expect(box !== null && box.x >= 0 && box.x + box.width <= width && box.y >= -1 && box.y + box.height <= 381, `${await target.textContent()}: ${JSON.stringify(box)}`).toBe(true);
  };
  await page.getByRole("button", { name: "1 comment", exact: true }).click();
  await page.getByRole("button", { name: "Edit the comment" }).click();
  // The keyboard takes the lower half.
  await page.setViewportSize({ width, height: 380 });
  const field = page.getByLabel("Your comment");
  await field.fill("Which day, and at what time?");
  await isInView(field);
  await isInView(page.getByRole("button", { name: "Keep", exact: true }));
  await page.getByRole("button", { name: "Keep", exact: true }).click();
  await page.getByText("Which day, and at what time?").first().waitFor();
  await page.getByRole("button", { name: "Close the comments" }).click();
  await isInView(page.getByRole("button", { name: "Approve version 1 · 7 steps, with 1 note" }));
  await page.getByRole("button", { name: "Show all of it" }).click();
  await page.getByRole("button", { name: "Request changes · 1 comment" }).click();
  const dialog = page.getByRole("dialog");
  await isInView(dialog.getByRole("textbox"));
  await isInView(dialog.getByRole("button", { name: "Send to the agent" }));
  await expectFits(page, `${width} pixels`);
});

test("the palette does with the keyboard alone what the page can do", async () => {
  const id = await planned(stack, "palette-keys", "/plan on", "move the blog to a new host");
  const { page } = await visit(stack, `/p/${id}`);
  await page.getByRole("cell", { name: "120,481 rows" }).waitFor();
  const choose = async (words: string, option: RegExp) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Go to a session" }).waitFor();
    await page.keyboard.type(words);
    await page.getByRole("option", { name: option, selected: true }).waitFor();
    await page.keyboard.press("Enter");
    await untilCount(page.getByRole("dialog", { name: "Search and commands" }), 0);
  };
  await choose("show raw", /Show: Raw text/);
  await page.getByRole("button", { name: "Raw text", pressed: true }).waitFor();
  await page.goBack();
  await page.getByRole("button", { name: "Plan", exact: true, pressed: true }).waitFor();
  // It leads to Approve, and the person approves there.
  await choose("approve", /Go to Approve/);
  await until(() => page.evaluate(() => document.activeElement?.textContent ?? ""), (seen) => seen.startsWith("Approve version 1"));
  expect((await stack.api("GET", `/api/plans/${id}`)).status).toBe("READY");
  await choose("request changes", /Request changes/);
  await page.getByRole("dialog").getByRole("textbox").waitFor();
  await page.keyboard.press("Escape");
  await choose("open its session", /Open its session/);
  await page.locator("#composer").waitFor();
  await choose("journal", /Show: Journal/);
  await until(async () => new URL(page.url()).pathname, (path) => path === "/s/palette-keys/journal");
  await choose("delete session", /Delete session/);
  await page.getByRole("dialog", { name: /^Delete/ }).waitFor();
});

test("boxes of a document are no controls, its steps have numbers, and what is typed to the right is shown there", async () => {
  const id = await planned(stack, "small-ones", "/plan on", "planted: # Tidy up\n\n- [ ] tidy the shelf\n- [ ] \u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd\n");
  const { page } = await visit(stack, `/p/${id}`);
  const text = page.locator("[data-plan-text]");
  await text.getByText("tidy the shelf").waitFor();
  await untilCount(text.getByRole("checkbox"), 0);
  expect(await text.locator(".md-task .md-item").evaluateAll((steps) => steps.map((step) => getComputedStyle(step).direction))).toEqual(["ltr", "rtl"]);
  expect(await text.locator(".md-task").evaluateAll((steps) => steps.map((step) => getComputedStyle(step, "::before").content))).toEqual(['"1"', '"2"']);
});

test("a message of the page covers no heading, and a new session takes what is typed", async () => {
  await planned(stack, "toast-one", "/plan on", "move the blog to a new host");
  const { page } = await visit(stack, "/");
  await page.getByRole("button", { name: "New session" }).first().click();
  await until(() => page.evaluate(() => document.activeElement?.id), (seen) => seen === "composer");
  await page.goto(`${stack.url}/s/toast-one/memory`);
  await page.getByLabel("Something to remember in this session").fill("The door is green");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Change this item" }).click();
  await page.getByRole("menuitem", { name: "Forget" }).click();
  const toast = await page.locator(".toast").first().boundingBox();
  const heading = await page.getByRole("heading", { level: 1 }).boundingBox();
  expect(toast!.y).toBeGreaterThanOrEqual(heading!.y + heading!.height);
});
