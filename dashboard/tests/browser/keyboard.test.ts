// Every room with the keyboard alone: no test of this file has a mouse.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";

import { until, untilCount, visit } from "./browser";
import { sharedStack, type Stack } from "./stack";

let stack: Stack;

beforeAll(async () => {
  stack = await sharedStack();
  await stack.api("POST", "/api/sessions", { sessionId: "keys-only" });
});

const say = (text: string) => stack.api("POST", "/api/sessions/keys-only/messages", { text });
const listOf = async (path: string) => (await stack.api<{ items: any[] }>("GET", `/api/${path}?sessionId=keys-only`)).items;

/** Presses Tab until this is focused, and sees that the focus can be seen. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let left = 150; left > 0; left -= 1) {
    if (await target.evaluate((element) => element === document.activeElement)) {
      expect(await target.evaluate((element) => getComputedStyle(element).outlineStyle !== "none" || getComputedStyle(element).boxShadow !== "none" || element.matches("input, textarea, select")), "the focus is seen").toBe(true);
      return;
    }
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not lead to ${String(target)}`);
}

/** Waits until the focus is back there. */
async function untilFocused(target: Locator): Promise<void> {
  await until(() => target.evaluate((element) => element === document.activeElement), (is) => is);
}

/** Opens a room from the page's own links. */
async function room(name: string): Promise<Page> {
  const { page } = await visit(stack, "/s/keys-only");
  await tabTo(page, page.getByRole("navigation", { name: "Rooms of this session" }).getByRole("link", { name, exact: true }));
  await page.keyboard.press("Enter");
  return page;
}

/** Opens a menu and chooses the entry with this name. */
async function choose(page: Page, button: Locator, entry: string): Promise<void> {
  await tabTo(page, button);
  await page.keyboard.press("Enter");
  const item = page.getByRole("menuitem", { name: entry });
  await item.waitFor();
  await until(
    async () => {
      if (await item.evaluate((element) => element === document.activeElement)) return true;
      await page.keyboard.press("ArrowDown");
      return false;
    },
    (found) => found,
  );
  await page.keyboard.press("Enter");
}

test("a goal, a task of it and the diary", async () => {
  const page = await room("Goals");
  await tabTo(page, page.getByLabel("A new goal"));
  await page.keyboard.type("Open the shop in May");
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByLabel("A new task of goal 1"));
  await page.keyboard.type("tidy the shelf");
  await page.keyboard.press("Enter");
  await page.getByText("tidy the shelf").waitFor();
  await choose(page, page.getByRole("button", { name: "Change goal 1" }), "Pause it");
  await page.getByText("Paused", { exact: true }).waitFor();
  // The menu gives the focus back.
  await untilFocused(page.getByRole("button", { name: "Change goal 1" }));
  await choose(page, page.getByRole("button", { name: "Change goal 1" }), "Make it active again");
  await tabTo(page, page.getByLabel("What was done"));
  await page.keyboard.type("Bought green paint.");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Diary" }).getByText("Bought green paint.").waitFor();
  await until(() => listOf("goals"), (goals) => goals[0]?.status === "active");
  expect(await listOf("tasks")).toMatchObject([{ title: "tidy the shelf", status: "open" }]);
});

test("a run and a schedule", async () => {
  await stack.api("POST", "/api/tasks", { sessionId: "keys-only", title: "tidy the shop" });
  const page = await room("Runs");
  await tabTo(page, page.getByLabel("What the run should work on"));
  await page.keyboard.press("End");
  await tabTo(page, page.getByRole("button", { name: "Start a run" }));
  stack.model.hold();
  await page.keyboard.press("Enter");
  await page.getByRole("article", { name: "Run 1" }).getByText("Running", { exact: true }).waitFor();
  await tabTo(page, page.getByRole("button", { name: "Stop it" }));
  await page.keyboard.press("Enter");
  await page.getByRole("article", { name: "Run 1" }).getByText("Stopped", { exact: true }).waitFor();
  stack.model.release();

  await tabTo(page, page.getByRole("button", { name: "New schedule" }));
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByLabel("What to do each time"));
  await page.keyboard.type("read the news");
  await tabTo(page, page.getByRole("button", { name: "Add the schedule" }));
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Schedules" }).locator(".row", { hasText: "read the news" }).waitFor();
  // A question that is not answered gives the focus back to the menu that it came from.
  await choose(page, page.getByRole("button", { name: "Change schedule 1" }), "Delete the schedule");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await untilFocused(page.getByRole("button", { name: "Change schedule 1" }));
  await choose(page, page.getByRole("button", { name: "Change schedule 1" }), "Delete the schedule");
  await tabTo(page, page.getByRole("dialog").getByRole("button", { name: "Delete the schedule" }));
  await page.keyboard.press("Enter");
  await untilCount(page.getByRole("dialog"), 0);
  expect(await listOf("schedules")).toEqual([]);
  expect(await listOf("runs")).toMatchObject([{ number: 1, state: "stopped" }]);
});

test("what is remembered: saved, searched, promoted and taken back", async () => {
  const page = await room("Memory");
  await tabTo(page, page.getByLabel("Something to remember in this session"));
  await page.keyboard.type("The door is painted green");
  await page.keyboard.press("Enter");
  const list = page.getByRole("list", { name: "Memory" });
  await list.getByText("The door is painted green").waitFor();
  await choose(page, list.getByRole("button", { name: "Change this item" }), "Let every session read it");
  await tabTo(page, page.getByRole("dialog").getByRole("button", { name: "Let every session read it" }));
  await page.keyboard.press("Enter");
  await until(() => listOf("memory"), (items) => items[0]?.scope === "global");
  await untilCount(page.getByRole("dialog"), 0);
  await tabTo(page, page.getByRole("button", { name: "Undo the last change" }));
  await page.keyboard.press("Enter");
  await until(() => listOf("memory"), (items) => items[0]?.scope === "session:web:keys-only");
});

test("the changes of a message are undone", async () => {
  await say("write the notes");
  const written = async () => (await readdir(join(stack.data, "users"), { recursive: true })).filter((name) => name.endsWith("notes.md"));
  expect(await written()).toHaveLength(1);
  const page = await room("Files");
  await tabTo(page, page.getByRole("button", { name: "Undo the last message's changes" }));
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByRole("dialog").getByRole("button", { name: "Put 1 file back" }));
  await page.keyboard.press("Enter");
  await page.getByText("Everything was put back.").waitFor();
  expect(await written()).toEqual([]);
});

test("an entry of the journal, and the session as it was then", async () => {
  await say("hello");
  const page = await room("Journal");
  const list = page.getByRole("group", { name: "Journal", exact: true });
  await tabTo(page, page.getByRole("button", { name: "Conversation", exact: true }));
  await page.keyboard.press("Enter");
  await tabTo(page, list.locator(".journal-row").first().getByRole("button").first());
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByRole("button", { name: "The session as it was then" }));
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await untilCount(page.getByRole("dialog"), 0);
  // The dialog gives the focus back.
  await untilFocused(page.getByRole("button", { name: "The session as it was then" }));
});

test("a document of the workbook is edited", async () => {
  await say("/plan say hello");
  const page = await room("Workbook");
  await tabTo(page, page.getByRole("tab", { selected: true }));
  await page.keyboard.press("ArrowRight");
  await page.getByRole("tab", { name: "Findings", selected: true }).waitFor();
  await tabTo(page, page.getByRole("button", { name: "Edit" }));
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByLabel("The text, in Markdown"));
  await page.keyboard.press("Control+End");
  await page.keyboard.type("\nthe shed has no roof");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("button", { name: "Edit" }).waitFor();
  const { current } = await stack.api("GET", "/api/workbook?sessionId=keys-only");
  expect(current.documents.find((one: any) => one.which === "findings").markdown).toContain("the shed has no roof");
});

test("another browser is signed out", async () => {
  const other = await visit(stack, "/", { userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0" });
  const { page } = await visit(stack);
  await tabTo(page, page.getByRole("link", { name: "Settings" }));
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByRole("button", { name: "Sign out Firefox on Linux" }));
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByRole("dialog").getByRole("button", { name: "Sign it out" }));
  await page.keyboard.press("Enter");
  await other.page.getByLabel("Access token").waitFor();
});
