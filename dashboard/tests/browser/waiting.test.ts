// What a plan waits for is said the same everywhere, and answered wherever it is read.
import { beforeEach, describe, expect, test } from "vitest";

import { until, untilCount, visit } from "./browser";
import { planned, sharedStack, type Stack } from "./stack";

let stack: Stack;

beforeEach(async () => {
  stack = await sharedStack();
});

const waits = (kind: string) => until(() => stack.api("GET", "/api/inbox"), (seen: any) => seen.items.some((item: any) => item.kind === kind));

describe("while a step asks for permission", () => {
  const asking = async (key: string) => {
    const id = await planned(stack, key, "/plan on build", "plan the door");
    const { digest } = await stack.api("GET", `/api/plans/${id}`);
    await stack.api("POST", `/api/plans/${id}/approve`, { digest });
    await waits("permission");
    return id;
  };

  test.each([1440, 820, 390])("the same card stands on every page at %i pixels, and none of them says that nothing works", async (width) => {
    const id = await asking("door-one");
    const { page, go, settled } = await visit(stack, `/p/${id}`, { viewport: { width, height: 900 } });
    for (const path of [`/p/${id}`, `/p/${id}/run/1`, "/s/door-one", "/"]) {
      await go(path);
      if (path === "/") await page.getByRole("button", { name: /delete_file: door.md/ }).click();
      const card = page.getByRole("region", { name: "The agent asks for permission" }).first();
      await card.getByLabel("The call", { exact: true }).getByText('"path": "door.md"').waitFor();
      for (const name of ["Allow once", "Allow for this plan", "Do not allow"]) await card.getByRole("button", { name }).waitFor();
      if (path.startsWith("/p/")) await page.getByText("Waits for your answer").first().waitFor();
      await settled();
      await untilCount(page.getByText(/no process works on it/), 0);
      await untilCount(page.getByRole("button", { name: /^Resume/ }), 0);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), path).toBe(true);
    }
  });

  test("it is answered with a key on the plan's page, and the plan goes on", async () => {
    const id = await asking("door-two");
    const { page } = await visit(stack, `/p/${id}`);
    await page.getByRole("button", { name: "Allow once" }).waitFor();
    // A key that is pressed before the card can be read does nothing.
    await page.waitForTimeout(700);
    await page.keyboard.press("1");
    await page.getByText("Completed", { exact: true }).first().waitFor();
  });
});

test("a write is shown against the file as it is, in the chat, with what Always would allow, and is refused with a key", async () => {
  await stack.api("POST", "/api/sessions", { sessionId: "chat-asks" });
  await stack.api("POST", "/api/sessions/chat-asks/messages", { text: "write what is asked about" });
  await waits("permission");
  const { page } = await visit(stack, "/s/chat-asks");
  const card = page.getByRole("log").getByRole("region", { name: "The agent asks for permission" });
  await card.locator(".diff-line[data-mark=removed]", { hasText: "two" }).waitFor();
  await card.locator(".diff-line[data-mark=added]", { hasText: "two and a half" }).waitFor();
  await card.locator(".diff-line[data-mark=same]", { hasText: "three" }).waitFor();
  await card.getByText("Why you are asked:").waitFor();
  await card.getByText("If you choose Always allow:").waitFor();
  // What is typed meanwhile is no answer, and is not sent.
  const composer = page.getByLabel("Message to the agent", { exact: true });
  await composer.fill("yes");
  await composer.press("Enter");
  const refused = page.getByRole("alert").filter({ hasText: "The agent waits for your answer first." });
  await refused.waitFor();
  expect(await refused.innerText()).not.toContain("`");
  await waits("permission");
  await page.getByRole("main").getByRole("heading", { level: 1 }).click();
  await page.waitForTimeout(700);
  await page.keyboard.press("n");
  await page.getByText("It is written.").waitFor();
  await untilCount(card, 0);
  expect(JSON.stringify(await stack.api("GET", "/api/sessions/chat-asks/messages"))).not.toContain('"yes"');
  const journal = await stack.api("GET", "/api/sessions/chat-asks/journal");
  expect(journal.entries.find((entry: any) => entry.type === "permission_answered").event).toMatchObject({ grant: "no" });
});

describe("a plan that failed", () => {
  test("is red, stands in the inbox, is tried again from there, and goes on without the step", async () => {
    const id = await planned(stack, "failed-one", "/plan on collect", "plan what fails");
    const { digest } = await stack.api("GET", `/api/plans/${id}`);
    await stack.api("POST", `/api/plans/${id}/approve`, { digest });
    await waits("failed");
    const { page, go } = await visit(stack, "/");
    await page.getByRole("button", { name: /Step 2 of plan 1 failed/ }).click();
    await page.getByRole("button", { name: "Skip step 2" }).waitFor();
    await page.getByRole("button", { name: "Request changes" }).waitFor();
    const isRed = () => page.locator(".badge[data-tone=failed]", { hasText: "Failed" }).first().waitFor();
    await isRed();
    await page.locator(".sidebar [data-tone=failed]", { hasText: "failed" }).waitFor();
    await go(`/p/${id}`);
    await isRed();
    await untilCount(page.getByText("Partly done"), 0);
    await go(`/p/${id}/run/1`);
    await isRed();
    // It fails again, and says so again.
    const tried = (await stack.api("GET", `/api/plans/${id}/history`)).executions.length;
    await go("/");
    await page.getByRole("button", { name: /Step 2 of plan 1 failed/ }).click();
    await page.getByRole("button", { name: "Retry step 2" }).click();
    await until(() => stack.api("GET", `/api/plans/${id}/history`), ({ executions }: any) => executions.length > tried);
    await waits("failed");
    await go(`/p/${id}`);
    await isRed();
    await page.getByRole("button", { name: "Skip step 2" }).click();
    await page.getByText("Completed", { exact: true }).first().waitFor();
    expect((await stack.api("GET", "/api/inbox")).items).toEqual([]);
  });

  test("looks like one in every list as well", async () => {
    const id = await planned(stack, "failed-two", "/plan on collect", "plan what fails");
    const { digest } = await stack.api("GET", `/api/plans/${id}`);
    await stack.api("POST", `/api/plans/${id}/approve`, { digest });
    await waits("failed");
    // It is no more what its session works on.
    await stack.api("POST", "/api/plans/disable", { sessionId: "failed-two" });
    await stack.api("POST", "/api/plans/enable", { sessionId: "failed-two", style: "document" });
    await until(() => stack.api("GET", "/api/inbox"), (seen: any) => seen.items.length === 0);
    const { page, go } = await visit(stack, "/");
    await page.getByRole("region", { name: "Recently finished" }).locator(".dot[data-tone=failed]").waitFor();
    await go("/s/failed-two");
    await page.getByRole("complementary", { name: "Plan of this session" }).locator(".other-plans .dot[data-tone=failed]").waitFor();
  });
});
