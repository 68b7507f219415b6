import { onTestFinished, test } from "vitest";

import { until, untilCount, visit } from "./browser";
import { startStack, type StoreKind } from "./stack";

test.each<StoreKind>(["SQLite", "PostgreSQL"])("an execution is watched live, over a crash of the server in the middle of it, on %s", async (store) => {
  const server = await startStack(store);
  onTestFinished(server.close);
  await server.api("POST", "/api/sessions", { sessionId: "building-1" });
  for (const text of ["/plan on build", "build a plan"]) await server.api("POST", "/api/sessions/building-1/messages", { text });
  const { plans } = await server.api("GET", "/api/plans?sessionId=building-1");
  const id: string = plans[0].id;
  const { page } = await visit(server, `/p/${id}`);
  server.model.hold();
  await page.getByRole("button", { name: "Approve version 1 · 6 steps" }).click();
  await page.getByRole("link", { name: "Open the execution" }).click();
  await page.locator(".run-step[data-status=IN_PROGRESS]").waitFor();
  await server.kill();
  await page.getByText("The connection was lost").waitFor();
  server.model.release();
  await server.restart();
  await until(() => server.api("GET", `/api/plans/${id}`), (plan: any) => plan.status === "COMPLETED");
  await page.getByText("6 of 6 steps done").first().waitFor();
  await untilCount(page.locator(".run-step[data-status=COMPLETED]"), 6);
});
