// Messages to people that do not reach them: a real server whose webhook has no receiver.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";

import { until, visit } from "./browser";
import { type Stack, startStack } from "./stack";

let stack: Stack;
let receiver: Server | undefined;
let port: number;

/** Listens where the webhook is called, and collects what it is told. */
async function listen(at: number, told: unknown[]): Promise<Server> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      told.push(JSON.parse(body));
      response.end();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(at, "127.0.0.1", resolve);
  });
  return server;
}

const close = (server: Server) =>
  new Promise<void>((resolve) => {
    server.closeAllConnections();
    server.close(() => resolve());
  });

beforeAll(async () => {
  // A port that was free a moment ago: calls to it are refused.
  const free = await listen(0, []);
  port = (free.address() as AddressInfo).port;
  await close(free);
  stack = await startStack("SQLite", {
    PLANWRIGHT_NOTIFY_TO: "webhook",
    PLANWRIGHT_NOTIFY_AFTER_SECONDS: "1",
    PLANWRIGHT_NOTIFY_WEBHOOK_URL: `http://127.0.0.1:${port}/`,
    PLANWRIGHT_NOTIFY_WEBHOOK_PRIVATE: "true",
  });
});
afterAll(async () => {
  await stack.close();
  if (receiver) await close(receiver);
});

const undelivered = async () => (await stack.api<{ items: any[] }>("GET", "/api/notifications?undelivered=true")).items;

test("a message that no one received is listed with what went wrong, leads to the plan it is about, and leaves the list once it is delivered", async () => {
  const { page, go } = await visit(stack);
  await page.clock.install();
  await go("/settings");
  await page.getByText("Every message was delivered.").waitFor();
  await stack.api("POST", "/api/sessions", { sessionId: "not-told-1" });
  for (const text of ["/plan on", "move the blog to a new host"]) await stack.api("POST", "/api/sessions/not-told-1/messages", { text });
  const { plans } = await stack.api("GET", "/api/plans?sessionId=not-told-1");
  const [message] = await until(undelivered, (items) => items.length === 1);
  expect(message).toMatchObject({ channel: "webhook", happening: "waits", givenUp: false, path: `/p/${plans[0].id}` });

  // The open page shows it by itself: it asks every ten seconds.
  await page.clock.fastForward(10_000);
  const list = page.getByRole("list", { name: "Messages that were not delivered" });
  await list.getByText("waits for your decision: Move the blog to a new host").waitFor();
  await list.getByText(/^\d+ attempts?$/).waitFor();
  await list.getByText("webhook", { exact: true }).waitFor();
  await list.getByText("something is waiting", { exact: true }).waitFor();
  expect(await list.locator(".problem").innerText()).toBe((await undelivered())[0].lastError);

  // The person decides from there.
  await list.getByRole("link", { name: /^Open what it is about/ }).click();
  await page.getByRole("heading", { name: "Move the blog to a new host", level: 1 }).waitFor();
  await page.getByRole("button", { name: "Approve version 1 · 7 steps" }).waitFor();
  await page.goBack();
  await list.getByText("Move the blog").waitFor();

  // The receiver is back: the message is delivered, and no longer listed.
  const told: any[] = [];
  receiver = await listen(port, told);
  await until(undelivered, (items) => items.length === 0);
  await page.clock.fastForward(10_000);
  await page.getByText("Every message was delivered.").waitFor();
  expect(told[0].events).toMatchObject([{ kind: "waits", title: "Move the blog to a new host" }]);
});
