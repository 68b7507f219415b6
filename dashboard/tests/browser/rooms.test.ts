import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { until, untilCount, visit } from "./browser";
import { type Stack, startStack, type StoreKind } from "./stack";

let stack: Stack;

describe.each<StoreKind>(["SQLite", "PostgreSQL"])("on %s", (store) => {
  beforeAll(async () => {
    // Two turns are the budget of a run.
    stack = await startStack(store, { PLANWRIGHT_AUTO_TURNS: "2" });
    for (const sessionId of ["shop-goals", "shop-runs", "shop-memory", "other-shop"]) await stack.api("POST", "/api/sessions", { sessionId });
  });
  afterAll(() => stack.close());

  describe("the room of goals", () => {
    test("adds goals and tasks, changes what they are, writes the diary, and shows what happens elsewhere", async () => {
      const { page } = await visit(stack, "/s/shop-goals");
      await page.getByRole("link", { name: "Goals", exact: true }).click();
      await page.getByText("No goals yet.").waitFor();
      await page.getByLabel("A new goal").fill("Open the shop in May");
      await page.getByRole("button", { name: "Add the goal" }).click();
      const goal = page.locator(".card", { hasText: "Open the shop in May" });
      await goal.getByLabel("A new task of goal 1").fill("Paint the door");
      await goal.getByLabel("A new task of goal 1").press("Enter");
      await goal.getByText("Paint the door").waitFor();
      await goal.getByRole("button", { name: "Change task 1" }).click();
      await page.getByRole("menuitem", { name: "Mark as done" }).click();
      await goal.getByText("1 of 1 tasks finished").waitFor();
      await goal.getByRole("button", { name: "Change goal 1" }).click();
      await page.getByRole("menuitem", { name: "Pause it" }).click();
      await goal.getByText("Paused", { exact: true }).waitFor();
      const { items } = await stack.api("GET", "/api/goals?sessionId=shop-goals");
      expect(items).toMatchObject([{ title: "Open the shop in May", status: "paused" }]);
      expect((await stack.api("GET", "/api/tasks?sessionId=shop-goals")).items).toMatchObject([{ title: "Paint the door", status: "done", goalId: items[0].id }]);

      await page.getByLabel("What was done").fill("Bought green paint.");
      await page.getByRole("button", { name: "Add to the diary" }).click();
      await page.getByRole("region", { name: "Diary" }).getByText("Bought green paint.").waitFor();

      await stack.api("POST", "/api/tasks", { sessionId: "shop-goals", title: "Order the sign" });
      await page.getByRole("region", { name: "Tasks without a goal" }).getByText("Order the sign").waitFor();
    });
  });

  describe("the room of runs", () => {
    test("starts a run, shows it live until it is done, and lets one at its budget continue or ends it", async () => {
      await stack.api("POST", "/api/tasks", { sessionId: "shop-runs", title: "tidy the shelf" });
      await stack.api("POST", "/api/tasks", { sessionId: "shop-runs", title: "count the screws" });
      const { page } = await visit(stack, "/s/shop-runs/runs");
      stack.model.hold();
      await page.getByLabel("What the run should work on").selectOption({ label: "Task 1: tidy the shelf" });
      await page.getByRole("button", { name: "Start a run" }).click();
      const first = page.getByRole("article", { name: "Run 1" });
      await first.getByText("Running", { exact: true }).waitFor();
      stack.model.release();
      await first.getByText("Completed", { exact: true }).waitFor();
      await first.getByText("1 turn", { exact: true }).waitFor();

      await page.getByLabel("What the run should work on").selectOption({ label: "Task 2: count the screws" });
      await page.getByRole("button", { name: "Start a run" }).click();
      const second = page.getByRole("article", { name: "Run 2" });
      await second.getByText("Waiting for you", { exact: true }).waitFor();
      await second.getByText("2 turns", { exact: true }).waitFor();
      // The inbox has it, too, and the sidebar counts it.
      expect((await stack.api("GET", "/api/inbox")).items).toMatchObject([{ kind: "budget" }]);
      await second.getByRole("button", { name: "Continue" }).click();
      await second.getByText("4 turns", { exact: true }).waitFor();
      await second.getByText("Waiting for you", { exact: true }).waitFor();
      await second.getByRole("button", { name: "Stop it" }).click();
      await second.getByText("Stopped", { exact: true }).waitFor();
      await untilCount(second.getByRole("button"), 0);
      expect((await stack.api("GET", "/api/runs?sessionId=shop-runs")).items.map((run: any) => [run.number, run.state])).toEqual(expect.arrayContaining([[1, "completed"], [2, "stopped"]]));
      expect((await stack.api("GET", "/api/inbox")).items).toEqual([]);
    });

    test("adds a schedule with its expression and zone, pauses it, and asks before it deletes one", async () => {
      const { page } = await visit(stack, "/s/shop-runs/runs");
      await page.getByRole("button", { name: "New schedule" }).click();
      const form = page.getByRole("form", { name: "New schedule" });
      await form.getByLabel("What to do each time").fill("read the news");
      await form.getByRole("combobox", { name: "When", exact: true }).selectOption({ label: "Monday to Friday at 9" });
      await form.getByLabel("Time zone").selectOption("Europe/Berlin");
      await form.getByLabel("Maximum number of runs (optional)").fill("10");
      // What the server does not understand is said in its words, and nothing is lost.
      await form.getByLabel("Cron expression").fill("99 9 * * 1-5");
      await form.getByRole("button", { name: "Add the schedule" }).click();
      await form.getByRole("alert").waitFor();
      await form.getByLabel("Cron expression").fill("30 9 * * 1-5");
      await form.getByRole("button", { name: "Add the schedule" }).click();
      const row = page.getByRole("region", { name: "Schedules" }).locator(".row", { hasText: "read the news" });
      await row.getByText("30 9 * * 1-5").waitFor();
      await row.getByText("Europe/Berlin").waitFor();
      await row.getByText("0 of 10 executions").waitFor();
      await row.getByText(/next on .* 9:30/).waitFor();
      await row.getByRole("button", { name: "Change schedule 1" }).click();
      await page.getByRole("menuitem", { name: "Pause" }).click();
      await row.getByText("paused", { exact: true }).waitFor();
      const { items } = await stack.api("GET", "/api/schedules?sessionId=shop-runs");
      expect(items).toMatchObject([{ cron: "30 9 * * 1-5", timeZone: "Europe/Berlin", maxExecutions: 10, status: "paused" }]);
      await row.getByRole("button", { name: "Change schedule 1" }).click();
      await page.getByRole("menuitem", { name: "Delete the schedule" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Back", exact: true }).click();
      expect((await stack.api("GET", "/api/schedules?sessionId=shop-runs")).items).toHaveLength(1);
      await row.getByRole("button", { name: "Change schedule 1" }).click();
      await page.getByRole("menuitem", { name: "Delete the schedule" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete the schedule" }).click();
      await page.getByText("No schedules yet.").waitFor();
      expect((await stack.api("GET", "/api/schedules?sessionId=shop-runs")).items).toHaveLength(0);
    });
  });

  describe("the room of what is remembered", () => {
    const remembered = async (session: string) => (await stack.api("GET", `/api/memory?sessionId=${session}`)).items.map((item: any) => [item.content, item.scope]);

    test("saves, searches with scores, forgets and brings back, and promotes after it asked", async () => {
      await stack.api("POST", "/api/memory", { sessionId: "shop-memory", content: "The supplier of screws closes on Fridays" });
      const { page } = await visit(stack, "/s/shop-memory/memory");
      await page.getByLabel("Something to remember in this session").fill("The door is painted green");
      await page.getByRole("combobox", { name: "Kind" }).selectOption("decision");
      await page.getByRole("button", { name: "Remember it" }).click();
      const list = page.getByRole("list", { name: "Memory" });
      await untilCount(list.locator(".row"), 2);

      await page.getByLabel("Search memory").fill("which colour has the green door");
      await untilCount(list.locator(".row"), 1);
      await list.getByText("The door is painted green").waitFor();
      expect(Number(await list.locator("meter").getAttribute("value"))).toBeGreaterThan(0);
      await list.getByRole("button", { name: "Why it was found" }).click();
      await list.getByText("its own words").waitFor();

      await list.getByRole("button", { name: "Change this item" }).click();
      await page.getByRole("menuitem", { name: "Forget it" }).click();
      await page.getByText("No results.").waitFor();
      expect(await remembered("shop-memory")).toHaveLength(1);
      await page.getByRole("button", { name: "Undo", exact: true }).click();
      await list.getByText("The door is painted green").waitFor();

      await list.getByRole("button", { name: "Change this item" }).click();
      await page.getByRole("menuitem", { name: "Let every session read it" }).click();
      const dialog = page.getByRole("dialog", { name: "Let every session read this?" });
      await dialog.getByText("The door is painted green").waitFor();
      // Nothing is promoted before the person says so.
      expect(await remembered("other-shop")).toEqual([]);
      await dialog.getByRole("button", { name: "Let every session read it" }).click();
      await dialog.waitFor({ state: "detached" });
      await until(() => remembered("other-shop"), (seen) => seen.length === 1);
      expect(await remembered("other-shop")).toEqual([["The door is painted green", "global"]]);
      await page.getByRole("button", { name: "Undo the last change" }).click();
      await until(() => remembered("other-shop"), (seen) => seen.length === 0);
    });

    test("offers to take back what the session changed, and nothing where there is no change", async () => {
      await stack.api("POST", "/api/sessions", { sessionId: "shop-undo" });
      const { page } = await visit(stack, "/s/shop-undo/memory");
      const undo = page.getByRole("button", { name: "Undo the last change" });
      await page.getByText("Nothing is remembered").first().waitFor();
      expect(await undo.count()).toBe(0);
      await page.getByLabel("Something to remember in this session").fill("The door is painted green");
      await page.keyboard.press("Enter");
      await undo.click();
      await untilCount(undo, 0);
      expect(await remembered("shop-undo")).toEqual([]);
    });
  });

  describe("the room of files", () => {
    test("shows what a message changed as a difference, and undoes it after it asked", async () => {
      const files = (text: string) => stack.api("POST", "/api/sessions/shop-files/messages", { text });
      await stack.api("POST", "/api/sessions", { sessionId: "shop-files" });
      await files("write the notes");
      const { page } = await visit(stack, "/s/shop-files/files");
      const room = page.getByRole("region", { name: "Changed in the conversation" });
      await room.getByText("1 file", { exact: true }).waitFor();
      await room.locator(".diff-line[data-mark=added]", { hasText: "first note" }).waitFor();
      // Live: what another message changes appears.
      await files("write the notes again");
      await room.locator(".diff-line[data-mark=added]", { hasText: "second note" }).waitFor();
      await room.getByRole("button", { name: "By message" }).click();
      await room.locator(".diff-line[data-mark=removed]", { hasText: "first note" }).waitFor();
      await room.getByRole("button", { name: "Undo the last message's changes" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("write the notes again").waitFor();
      await dialog.getByRole("button", { name: "Put 1 file back" }).click();
      await dialog.waitFor({ state: "detached" });
      await room.getByText("put 1 file back").waitFor();
      await room.locator(".diff-line[data-mark=added]", { hasText: "first note" }).waitFor();
      const { files: left } = await stack.api("GET", "/api/sessions/shop-files/changes");
      expect(left).toMatchObject([{ path: "notes.md" }]);
      expect(left[0].diff).not.toContain("second note");
    });
  });

  describe("a session in which nothing happened", () => {
    test("has rooms that say so and what to do next, and no room for what does not exist", async () => {
      await stack.api("POST", "/api/sessions", { sessionId: "empty-shop" });
      const { page } = await visit(stack, "/s/empty-shop");
      const rooms = page.getByRole("navigation", { name: "Rooms of this session" });
      await rooms.getByRole("link", { name: "Goals" }).waitFor();
      // There is no workbook, and none is kept.
      expect((await stack.api("GET", "/api/workbook?sessionId=empty-shop")).current).toBeNull();
      expect(await rooms.getByRole("link").allInnerTexts()).toEqual(["Chat", "Goals", "Runs", "Memory", "Files", "Journal"]);
      const empty: [room: string, words: string, next: string][] = [
        ["Goals", "No goals yet.", "Add the goal"],
        ["Runs", "No runs yet.", "Start a run"],
        ["Runs", "No schedules yet.", "New schedule"],
        ["Memory", "Nothing is remembered yet.", "Remember it"],
        ["Files", "No message in this conversation has changed a file outside a plan.", "Add files"],
      ];
      for (const [room, words, next] of empty) {
        await rooms.getByRole("link", { name: room }).click();
        await page.getByText(words).waitFor();
        await page.getByRole("button", { name: next }).or(page.getByLabel(next)).first().waitFor();
      }
      // A run has nothing to work on, and its button says so.
      await rooms.getByRole("link", { name: "Runs" }).click();
      await page.getByRole("button", { name: "Start a run" }).click({ force: true });
      expect((await stack.api("GET", "/api/runs?sessionId=empty-shop")).items).toEqual([]);

      // The room of the workbook appears once there is one.
      await stack.api("POST", "/api/sessions/empty-shop/messages", { text: "/plan say hello" });
      await rooms.getByRole("link", { name: "Workbook" }).click();
      await page.getByRole("tab", { name: "Findings" }).waitFor();
    });

    test("of a server without an engine part has no room for it", async () => {
      await stack.api("POST", "/api/sessions", { sessionId: "plain-shop" });
      const { page } = await visit(stack);
      // As a server without memory and runs answers.
      await page.route("**/api/commands", async (route) => {
        const answer = await route.fetch();
        const { commands } = await answer.json();
        await route.fulfill({ response: answer, json: { commands: commands.filter(({ name }: { name: string }) => !/^\/(?:memory|auto)\b/.test(name)) } });
      });
      await page.goto(`${stack.url}/s/plain-shop`);
      const rooms = page.getByRole("navigation", { name: "Rooms of this session" });
      await rooms.getByRole("link", { name: "Goals" }).waitFor();
      expect(await rooms.getByRole("link").allInnerTexts()).toEqual(["Chat", "Goals", "Files", "Journal"]);
    });
  });
});
