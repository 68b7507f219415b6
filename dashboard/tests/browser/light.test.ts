// What a page costs: its words come first, nothing is asked twice, and the first page has little script.
import type { Page, Request, WebSocket } from "playwright-core";
import { beforeEach, expect, test } from "vitest";

import { newContext, until, visit } from "./browser";
import { planned, sharedStack, type Stack } from "./stack";

let stack: Stack;

beforeEach(async () => {
  stack = await sharedStack();
});

test("the page says what it is before its styles and scripts arrive", async () => {
  const context = await newContext();
  const page = await context.newPage();
  let arrive = (): void => undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  await page.route("**/assets/**", async (route) => {
    await arrived;
    await route.abort();
  });
  await page.goto(stack.url, { waitUntil: "commit" });
  await page.getByText("Opening the dashboard…").waitFor();
  await until(() => page.evaluate(() => performance.getEntriesByName("first-contentful-paint").length), (painted) => painted > 0);
  arrive();
  await context.close();
});

// Pages from a folder are not compressed.
test.skipIf(process.env.DASHBOARD_DIST !== undefined)("the first page has less than 170 kB of compressed script", async () => {
  const { page, settled } = await visit(stack);
  await settled();
  const sizes = await page.evaluate(() => (performance.getEntriesByType("resource") as PerformanceResourceTiming[]).filter(({ name }) => name.endsWith(".js")).map(({ encodedBodySize }) => encodedBodySize));
  expect(sizes.length).toBeGreaterThan(0);
  expect(sizes.reduce((a, b) => a + b, 0)).toBeLessThan(170_000);
});

test("what a plan's page needs is asked for beside the scripts of every page, and not after them", async () => {
  const id = await planned(stack, "asked-early", "/plan on", "move the blog to a new host");
  const { page } = await visit(stack, `/p/${id}`);
  const early = await page.evaluate(() => [...document.querySelectorAll<HTMLLinkElement>("link[rel=modulepreload]")].map(({ href }) => new URL(href).pathname));
  const loaded = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname));
  const isPlans = (path: string) => /\/(PlanPage|plan)-/.test(path);
  expect(early.filter(isPlans)).toHaveLength(2);
  // Each is asked for once.
  expect(loaded.filter(isPlans).sort()).toEqual(early.filter(isPlans).sort());
  // Nothing else is asked for than what the page uses.
  expect(early.filter((path) => !loaded.includes(path))).toEqual([]);
});

test("a plan can be read while the scripts are still under way, and what was asked for meanwhile is not asked for again", async () => {
  const id = await planned(stack, "read-early", "/plan on", "move the blog to a new host");
  const { page, settled } = await visit(stack);
  await page.goto("about:blank");
  let arrive = (): void => undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  await page.route("**/assets/base-*.js", async (route) => {
    await arrived;
    await route.fallback();
  });
  const { counts, stop } = countReads(page);
  await page.goto(`${stack.url}/p/${id}`, { waitUntil: "commit" });
  const early = page.locator(".boot-text");
  await early.getByText("Lower the TTL of the DNS records").waitFor();
  expect([...counts.keys()]).toContain(`/api/plans/${id}`);
  // Nothing can be decided there.
  expect(await page.getByRole("button").count()).toBe(0);
  arrive();
  await page.getByRole("button", { name: "Approve version 1 · 7 steps" }).waitFor();
  expect(await early.count()).toBe(0);
  await settled();
  stop();
  expect([...counts].filter(([, count]) => count > 1)).toEqual([]);
});

/** What a page reads, with how often each was sent, and whether it had to read again: it was told of a change, or the connection came late. */
function countReads(page: Page): { counts: Map<string, number>; readsAgain: () => boolean; stop: () => void } {
  const counts = new Map<string, number>();
  let readsAgain = false;
  const count = (request: Request) => {
    const { pathname, search } = new URL(request.url());
    if (request.method() === "GET" && pathname.startsWith("/api/")) counts.set(pathname + search, (counts.get(pathname + search) ?? 0) + 1);
  };
  const listen = (socket: WebSocket) => {
    socket.on("framereceived", ({ payload }) => {
      const { type } = JSON.parse(String(payload)) as { type?: unknown };
      if (type === "changed" || (type === "watching" && counts.size > 0)) readsAgain = true;
    });
  };
  page.on("request", count);
  page.on("websocket", listen);
  return { counts, readsAgain: () => readsAgain, stop: () => page.off("request", count).off("websocket", listen) };
}

/** The reads of a page that was connected before them, and while which nothing changed. */
async function readsOf(page: Page, path: string, settled: () => Promise<void>): Promise<Map<string, number>> {
  for (let attempt = 1; attempt <= 20; attempt += 1) {
    await page.goto("about:blank");
    const { counts, readsAgain, stop } = countReads(page);
    await page.goto(stack.url + path);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await settled();
    // What the server tells of is gathered for a moment before it leads to a request.
    await page.waitForTimeout(500);
    await settled();
    stop();
    if (!readsAgain()) return counts;
  }
  throw new Error(`${path}: twenty loads were all late or disturbed`);
}

test("no page asks for the same thing twice while it loads", async () => {
  const id = await planned(stack, "asked-once", "/plan on", "move the blog to a new host", "what is next?");
  const { page, settled } = await visit(stack);
  for (const path of ["/", "/s/asked-once", `/p/${id}`, "/s/asked-once/goals", "/settings"]) {
    const counts = await readsOf(page, path, settled);
    expect([...counts].filter(([, count]) => count > 1), path).toEqual([]);
    expect(counts.size, path).toBeGreaterThan(0);
  }
});
