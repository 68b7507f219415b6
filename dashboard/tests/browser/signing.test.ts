import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { enrolled, PASSPHRASE, VERIFIED, withPasskey } from "./approvers";
import { expectAccessible, expectFits } from "./axe";
import { PATIENCE, visit } from "./browser";
import type { Stack } from "./stack";

const SESSION = "shop-signed";

/** A server that asks for signatures, with a session and an approver. */
async function shop(settings: Record<string, string> = {}): Promise<Stack> {
  const stack = await enrolled({ ...VERIFIED, ...settings }, ["ada"]);
  await stack.api("POST", "/api/sessions", { sessionId: SESSION });
  return stack;
}

/** Signs what the dialog asks for with one touch. */
async function touch(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Sign with a passkey" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
}

test("a run is started with one touch, and the page says so before", async () => {
  const stack = await shop();
  await stack.api("POST", "/api/tasks", { sessionId: SESSION, title: "tidy the shelf" });
  const { page, url } = await withPasskey(stack);
  await page.goto(`${url}/s/${SESSION}/runs`);
  await page.getByText("Starting or continuing a run asks for an approver's passkey or passphrase.").waitFor();
  await page.getByRole("button", { name: "Start a run" }).click();
  // Nothing is sent before the person has signed it.
  await page.getByText("You sign exactly this.").waitFor();
  expect((await stack.api("GET", `/api/runs?sessionId=${SESSION}`)).items).toEqual([]);
  await touch(page);
  await page.getByRole("article", { name: "Run 1" }).getByText("Completed", { exact: true }).waitFor();
  await stack.terminal(["verify"]);
});

test("what changed while the person was asked is shown anew before it is signed", async () => {
  const stack = await shop();
  const task = await stack.api("POST", "/api/tasks", { sessionId: SESSION, title: "tidy the shelf" });
  const { page, url } = await withPasskey(stack);
  await page.goto(`${url}/s/${SESSION}/runs`);
  await page.getByText("Starting or continuing a run asks for an approver's passkey or passphrase.").waitFor();
  await page.getByRole("button", { name: "Start a run" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("tidy the shelf").waitFor();
  await stack.api("PATCH", `/api/tasks/${task.id}?sessionId=${SESSION}`, { status: "open", note: "and burn the rest" });
  // The passkey is not asked to sign what was not shown.
  await page.getByRole("button", { name: "Sign with a passkey" }).click();
  await dialog.getByText("It changed after it was shown, and nothing was done.").waitFor();
  await dialog.getByText("and burn the rest").waitFor();
  expect((await stack.api("GET", `/api/runs?sessionId=${SESSION}`)).items).toEqual([]);
  // Nor is a passphrase.
  await stack.api("PATCH", `/api/tasks/${task.id}?sessionId=${SESSION}`, { status: "open", note: "and dust it" });
  await dialog.getByLabel("Passphrase").fill(PASSPHRASE);
  await dialog.getByRole("button", { name: "Start a run" }).click();
  await dialog.getByText("and dust it").waitFor();
  expect((await stack.api("GET", `/api/runs?sessionId=${SESSION}`)).items).toEqual([]);
  await touch(page);
  await page.getByRole("article", { name: "Run 1" }).waitFor();
  await stack.terminal(["verify"]);
});

test("the question who one is stands in its place on a desk, a tablet and a phone, accessible", async () => {
  const stack = await shop();
  await stack.api("POST", "/api/tasks", { sessionId: SESSION, title: "tidy the shelf" });
  const { page } = await visit(stack, `/s/${SESSION}/runs`, { reducedMotion: "reduce", bypassCSP: true });
  await page.getByText("Starting or continuing a run asks for an approver's passphrase.").waitFor();
  await page.getByRole("button", { name: "Start a run" }).click();
  await page.getByRole("dialog").getByText("tidy the shelf").waitFor();
  for (const width of [1440, 820, 390]) {
    await page.setViewportSize({ width, height: 800 });
    await expectAccessible(page, `${width} pixels`);
    await expectFits(page, `${width} pixels`);
    const box = await page.getByRole("dialog").boundingBox();
    expect(box!.x >= 0 && box!.x + box!.width <= width && box!.y + box!.height <= 801).toBe(true);
  }
});

test("a schedule is added and continued with one touch each, and paused without any", async () => {
  const stack = await shop();
  const { page, url } = await withPasskey(stack);
  await page.goto(`${url}/s/${SESSION}/runs`);
  await page.getByRole("button", { name: "New schedule" }).click();
  const form = page.getByRole("form", { name: "New schedule" });
  await form.getByText("Adding or continuing a schedule asks for an approver's passkey or passphrase.").waitFor();
  await form.getByLabel("What to do each time").fill("read the news");
  await form.getByRole("button", { name: "Add the schedule" }).click();
  await page.getByRole("dialog").getByText("read the news").waitFor();
  await touch(page);
  const row = page.getByRole("region", { name: "Schedules" }).locator(".row", { hasText: "read the news" });
  await row.getByRole("button", { name: "Change schedule 1" }).click();
  await page.getByRole("menuitem", { name: "Pause" }).click();
  await row.getByText("paused", { exact: true }).waitFor();
  await row.getByRole("button", { name: "Change schedule 1" }).click();
  await page.getByRole("menuitem", { name: "Resume" }).click();
  await touch(page);
  await row.getByText("active", { exact: true }).waitFor();
  expect((await stack.api("GET", `/api/schedules?sessionId=${SESSION}`)).items).toMatchObject([{ title: "read the news", status: "active" }]);
  await stack.terminal(["verify"]);
});

test("a memory is let into every session with one touch", async () => {
  const stack = await shop();
  await stack.api("POST", "/api/memory", { sessionId: SESSION, content: "The door is painted green" });
  const { page, url } = await withPasskey(stack);
  await page.goto(`${url}/s/${SESSION}/memory`);
  await page.getByText("To let every session read it asks for an approver's passkey or passphrase.").waitFor();
  await page.getByRole("button", { name: "Change this item" }).click();
  await page.getByRole("menuitem", { name: "Let every session read it" }).click();
  await page.getByRole("dialog").getByText("The door is painted green").waitFor();
  await touch(page);
  await page.getByText("every session", { exact: true }).waitFor();
  const { items } = await stack.api("GET", `/api/memory?sessionId=${SESSION}`);
  expect(items.map((item: any) => item.scope).sort()).toEqual(["global", `session:web:${SESSION}`]);
  await stack.terminal(["verify"]);
});

test("a call is allowed as the person changed it with one touch", async () => {
  const stack = await shop();
  await stack.api("POST", `/api/sessions/${SESSION}/messages`, { text: "delete the draft" });
  const { page, url } = await withPasskey(stack);
  await page.goto(url);
  await page.getByRole("button", { name: /delete_file: draft.md/ }).click();
  await page.getByText("Allowing the call asks for an approver's passkey or passphrase.").waitFor();
  await page.getByRole("button", { name: "Change it before allowing it" }).click();
  await page.getByRole("textbox", { name: "path" }).fill("no-such-file.md");
  await page.getByRole("button", { name: "Allow once, as changed" }).click();
  await touch(page);
  await page.getByText("Nothing waits for you.").waitFor();
  const { entries } = await stack.api("GET", `/api/sessions/${SESSION}/journal`);
  const answered = entries.find((entry: any) => entry.type === "permission_answered");
  expect(answered.event).toMatchObject({ grant: "once", arguments: { path: "no-such-file.md" } });
  await stack.terminal(["verify"]);
});

test("a run in the inbox continues with the passphrase, and a wrong one is asked for again", async () => {
  const stack = await shop({ PLANWRIGHT_AUTO_TURNS: "2" });
  await stack.api("POST", "/api/tasks", { sessionId: SESSION, title: "count the screws" });
  await stack.api("POST", "/api/runs", { sessionId: SESSION, approver: "ada", passphrase: PASSPHRASE });
  const waiting = async () => (await stack.api("GET", "/api/inbox")).items as { id: string; kind: string }[];
  await expect.poll(waiting, { timeout: PATIENCE }).toMatchObject([{ kind: "budget" }]);
  const { page } = await visit(stack, `/?item=${(await waiting())[0]?.id}`);
  await page.getByText("Starting or continuing a run asks for an approver's passphrase.").waitFor();
  await page.getByRole("button", { name: "Continue", exact: true }).click();
  await page.getByLabel("Passphrase").fill("let me in");
  await page.getByRole("button", { name: "Let run 1 continue" }).click();
  await page.getByText("This is not the passphrase.").waitFor();
  await page.getByLabel("Passphrase").fill(PASSPHRASE);
  await page.getByRole("button", { name: "Let run 1 continue" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const turns = async () => (await stack.api("GET", `/api/runs?sessionId=${SESSION}`)).items[0].spent.turns;
  await expect.poll(turns, { timeout: PATIENCE }).toBe(4);
});

test("an approval that is typed as a message leads to the page that signs it", async () => {
  const stack = await shop();
  for (const text of ["/plan on", "move the blog to a new host"]) await stack.api("POST", `/api/sessions/${SESSION}/messages`, { text });
  const { page } = await visit(stack, `/s/${SESSION}`);
  await page.locator("#composer").fill("/plan approve 1");
  await page.locator("#composer").press("Enter");
  const refusal = page.getByRole("alert").filter({ hasText: "takes an approver's signature" });
  await refusal.waitFor();
  await refusal.getByRole("link").click();
  await page.getByRole("button", { name: /^Approve version/ }).click();
  await page.getByLabel("Passphrase").fill(PASSPHRASE);
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const { plans } = await stack.api("GET", `/api/plans?sessionId=${SESSION}`);
  expect((await stack.api("GET", `/api/plans/${plans[0].id}`)).approval).toMatchObject({ presence: "verified", signedBy: ["ada"] });
});
