import type { Browser } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";

import { launch, until, untilCount, visit } from "./browser";
import { startStack, type Stack } from "./stack";

let browser: Browser;
let stack: Stack;

beforeAll(async () => {
  browser = await launch();
  stack = await startStack();
});
afterAll(async () => {
  await browser.close();
  await stack.close();
});

test("an execution is watched live, over a crash of the server in the middle of it", async () => {
  await stack.api("POST", "/api/sessions", { sessionId: "building-1" });
  for (const text of ["/plan on build", "build a plan"]) await stack.api("POST", "/api/sessions/building-1/messages", { text });
  const { plans } = await stack.api("GET", "/api/plans?sessionId=building-1");
  const id: string = plans[0].id;
  const visitor = await visit(browser, stack, `/p/${id}`);
  const { page } = visitor;
  stack.model.hold();
  await page.getByRole("button", { name: "Approve version 1 · 6 steps" }).click();
  await page.getByRole("link", { name: "Open the execution" }).click();
  await page.locator(".run-step[data-status=IN_PROGRESS]").waitFor();
  await stack.kill();
  await page.getByText("The connection was lost").waitFor();
  stack.model.release();
  await stack.restart();
  await until(() => stack.api("GET", `/api/plans/${id}`), (plan: any) => plan.status === "COMPLETED");
  await page.getByText("6 of 6 steps done").first().waitFor();
  await untilCount(page.locator(".run-step[data-status=COMPLETED]"), 6);
  await visitor.close();
});
