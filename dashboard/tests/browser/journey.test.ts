import { access, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { until, untilCount, visit } from "./browser";
import { startStack, type StoreKind } from "./stack";

/** The files that agents wrote, below the data folder. */
async function writtenFiles(data: string): Promise<string[]> {
  const users = join(data, "users");
  if (!(await access(users).then(() => true, () => false))) return [];
  const entries = await readdir(users, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && entry.name.startsWith("step-")).map((entry) => entry.name);
}

test.each<StoreKind>(["SQLite", "PostgreSQL"])("from the draft over comments, a new version and the approval of some steps to the execution, seen live, and its undoing, on %s", async (store) => {
  const server = await startStack(store);
  onTestFinished(server.close);
  await server.api("POST", "/api/sessions", { sessionId: "invoices-1" });
  const { page } = await visit(server, "/s/invoices-1");
  const planNow = async () => {
    const { plans } = await server.api("GET", "/api/plans?sessionId=invoices-1");
    const newest = plans.toSorted((a: any, b: any) => b.number - a.number)[0];
    return newest === undefined ? undefined : server.api("GET", `/api/plans/${newest.id}`);
  };

  // The draft.
  const composer = page.getByLabel("Message to the agent");
  await composer.fill("/plan on build");
  await composer.press("Enter");
  await page.getByText("Plan work is on in this session").waitFor();
  await composer.fill("build a plan");
  await composer.press("Enter");
  await page.getByRole("complementary", { name: "Plan of this session" }).getByRole("link", { name: /whole plan|Open the plan/ }).click();
  await page.getByRole("button", { name: "Approve version 1 · 6 steps" }).waitFor();

  // A comment on a step, sent with the request for changes, and the new version.
  for (const key of ["j", "j", "c"]) await page.keyboard.press(key);
  await page.getByLabel("Your comment").fill("How is it taken back?");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("button", { name: "Request changes · 1 comment" }).click();
  await page.getByLabel("What should be changed").fill("every step needs a way back");
  await page.getByRole("button", { name: "Send to the agent" }).click();
  // A plan for agents is replaced, and the page leads on to the new one, with what changed and what became of the comment.
  await page.getByText("in a migration that can be taken back").first().waitFor();
  await page.getByText("Sent with version 1: 1 comment").click();
  await page.getByRole("complementary", { name: "Comments" }).getByText("How is it taken back?").waitFor();
  await page.getByRole("button", { name: "Changes", exact: true }).click();
  await page.getByText("Compared with the plan that this one replaced.").waitFor();
  await page.locator("ins", { hasText: "that can be taken back" }).first().waitFor();
  await page.getByRole("button", { name: "Plan", exact: true }).click();

  // Some of the steps.
  await page.getByRole("checkbox", { name: /Cache the totals/ }).uncheck();
  server.model.hold();
  await page.getByRole("button", { name: /^Approve version \d+ · 3 of 6 steps$/ }).click();
  await page.getByRole("link", { name: "Open the execution" }).click();

  // The execution, live.
  await page.locator(".run-step[data-status=IN_PROGRESS]").waitFor();
  server.model.release();
  await untilCount(page.locator(".run-step[data-status=COMPLETED]"), 3);
  const done = await until(planNow, (plan) => plan?.status === "COMPLETED" || plan?.status === "PARTIALLY_COMPLETED");
  expect(done.approval).toMatchObject({ given: "person", steps: ["s1", "s2", "s6"] });
  // What it cost, as the server counts it.
  const { executions } = await server.api("GET", `/api/plans/${done.id}/history`);
  expect(executions[0].spend.tokens).toBeGreaterThan(0);
  await page.locator(".page-about").getByText(`${executions[0].spend.tokens} tokens`).waitFor();
  const first = executions[0].steps[0];
  await page.locator(".run-step").first().getByText(`${first.spend.tokens} tokens`).waitFor();
  await page.locator(".run-step").first().getByText(`${first.calls} tool calls`).waitFor();
  const changed = page.getByRole("region", { name: "Files changed" });
  await changed.getByText("3 files", { exact: true }).waitFor();
  await untilCount(changed.locator(".diff-line[data-mark=added]", { hasText: "done" }), 3);
  await until(() => writtenFiles(server.data), (files) => files.length === 3);

  // Undoing is asked first. One step, then the rest.
  await changed.getByRole("button", { name: "By step" }).click();
  await changed.getByRole("button", { name: "Undo step 1" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Back", exact: true }).click();
  expect(await writtenFiles(server.data)).toHaveLength(3);
  await changed.getByRole("button", { name: "Undo step 1" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Put 1 file back" }).click();
  await changed.getByText("2 files", { exact: true }).waitFor();
  expect(await writtenFiles(server.data)).toHaveLength(2);
  await changed.getByRole("button", { name: "Undo these changes" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Put 2 files back" }).click();
  await changed.getByText("Everything was put back.").waitFor();
  await untilCount(changed.getByText(/put \d files? back/), 2);
  expect(await writtenFiles(server.data)).toEqual([]);
});
