// What a page costs: its words come first, nothing is asked twice, and the first page has little script.
import type { Page, Request } from "playwright-core";
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

/** The reads of the page, with how often each was sent. */
function countReads(page: Page): { counts: Map<string, number>; stop: () => void } {
  const counts = new Map<string, number>();
  const count = (request: Request) => {
    const { pathname, search } = new URL(request.url());
    if (request.method() === "GET" && pathname.startsWith("/api/")) counts.set(pathname + search, (counts.get(pathname + search) ?? 0) + 1);
  };
  page.on("request", count);
  return { counts, stop: () => page.off("request", count) };
}

test("no page asks for the same thing twice while it loads", async () => {
  const id = await planned(stack, "asked-once", "/plan on", "move the blog to a new host", "what is next?");
  const { page, settled } = await visit(stack);
  for (const path of ["/", "/s/asked-once", `/p/${id}`, "/s/asked-once/goals", "/settings"]) {
    await page.goto("about:blank");
    const { counts, stop } = countReads(page);
    await page.goto(stack.url + path);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await settled();
    // What the server tells of is gathered for a moment before it leads to a request.
    await page.waitForTimeout(500);
    await settled();
    expect([...counts].filter(([, count]) => count > 1), path).toEqual([]);
    expect(counts.size, path).toBeGreaterThan(0);
    stop();
  }
});
