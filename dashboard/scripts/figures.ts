// Measures the dashboard in a real browser against the real server, and prints what docs/performance.md lists.
// `npm run figures`; MESSAGES and EVENTS say how much is made. With BEFORE, a folder of pages that were built earlier, each figure
// is measured with both builds in turn, on the same server and under the same load. Nothing here passes or fails by time.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";

import { launch, newContext, until } from "../tests/browser/browser";
import { planned, startStack, TOKEN, type Stack } from "../tests/browser/stack";

const MESSAGES = Number(process.env.MESSAGES ?? 10_000);
const EVENTS = Number(process.env.EVENTS ?? 3_600);

let browser: Browser;
let stack: Stack;
const lines: string[] = [];
const report = (what: string, value: string) => {
  lines.push(`| ${what} | ${value} |`);
  console.log(`${what}: ${value}`);
};

beforeAll(async () => {
  browser = await launch();
  stack = await startStack("SQLite", { PLANWRIGHT_CONTEXT_TOKENS: "16000" });
});
afterAll(async () => {
  await browser.close();
  await stack.close();
  console.log(`\n| what | measured |\n|---|---|\n${lines.join("\n")}\n`);
});

/** The builds that are measured, and how often in turn. */
const BUILDS: [name: string, dist: string | undefined][] =
  process.env.BEFORE === undefined ? [["", process.env.DASHBOARD_DIST]] : Array.from({ length: 2 }, () => [["before: ", process.env.BEFORE], ["now: ", process.env.DASHBOARD_DIST]] as [string, string | undefined][]).flat();

async function signedIn(dist: string | undefined): Promise<{ page: Page; devtools: CDPSession }> {
  const context = await newContext({ viewport: { width: 1280, height: 800 } }, dist);
  await context.addInitScript(observe);
  const page = await context.newPage();
  await page.goto(`${stack.url}/#token=${TOKEN}`);
  await page.getByRole("heading", { name: "Inbox", level: 1 }).waitFor();
  return { page, devtools: await context.newCDPSession(page) };
}

interface Seen {
  tasks: { at: number; took: number }[];
  frames: number[];
  shown: number[];
}
declare global {
  interface Window {
    __seen: Seen;
  }
}

/** Notes long tasks, and for each frame of streamed text when it came and when the screen was drawn with it. */
function observe(): void {
  const seen: Seen = { tasks: [], frames: [], shown: [] };
  window.__seen = seen;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) seen.tasks.push({ at: entry.startTime, took: entry.duration });
  }).observe({ type: "longtask", buffered: true });
  const Real = WebSocket;
  window.WebSocket = class extends Real {
    constructor(url: string | URL) {
      super(url);
      this.addEventListener("message", (event) => {
        const frame = JSON.parse(String(event.data)) as { type: string; progress?: { type: string; text?: string } };
        const words = frame.progress?.type === "text" ? (frame.progress.text ?? "").trim().split(/\s+/).at(-1) : undefined;
        if (!words || words.length < 3) return;
        const came = performance.now();
        const look = () => {
          if (document.querySelector(".live")?.textContent?.includes(words)) {
            seen.frames.push(came);
            seen.shown.push(performance.now());
          } else if (performance.now() - came < 2_000) requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      });
    }
  };
}

const sorted = (numbers: number[]) => [...numbers].sort((a, b) => a - b);
const quantile = (numbers: number[], q: number) => sorted(numbers)[Math.min(numbers.length - 1, Math.floor(numbers.length * q))] ?? 0;
const ms = (n: number) => `${n.toFixed(0)} ms`;

test.each(BUILDS)("%sthe first page", async (build, dist) => {
  const { page, devtools } = await signedIn(dist);
  await page.goto("about:blank");
  await page.goto(`${stack.url}/`);
  await page.getByRole("heading", { name: "Inbox", level: 1 }).waitFor();
  const scripts = await page.evaluate(() =>
    (performance.getEntriesByType("resource") as PerformanceResourceTiming[]).filter(({ name }) => name.endsWith(".js")).map(({ encodedBodySize }) => encodedBodySize),
  );
  report(`${build}compressed script of the first page`, `${(scripts.reduce((a, b) => a + b, 0) / 1000).toFixed(1)} kB in ${scripts.length} files`);

  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  const times: number[] = [];
  for (let n = 0; n < 5; n += 1) {
    await page.goto("about:blank");
    await page.goto(`${stack.url}/`);
    await page.getByText("Nothing waits for you.").waitFor();
    await page.waitForLoadState("networkidle");
    // Interactive: the page is drawn, and no long task is under way.
    times.push(
      await page.evaluate(() => {
        const drawn = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0;
        return Math.max(drawn, ...window.__seen.tasks.map(({ at, took }) => at + took));
      }),
    );
  }
  report(`${build}interactive, processor ×4 slower (middle of 5)`, ms(quantile(times, 0.5)));
  await page.context().close();
});

/** Slow 3G: 400 kbit/s, and 400 ms for each answer. */
const SLOW_3G = { offline: false, latency: 400, downloadThroughput: 400_000 / 8, uploadThroughput: 400_000 / 8 };

// Pages from a folder do not pass the network.
test.skipIf(process.env.DASHBOARD_DIST !== undefined || process.env.BEFORE !== undefined)("a plan that a notification leads to, over a slow network", async () => {
  const id = await planned(stack, "slow-network", "/plan on", "move the blog to a new host");
  const [words, plan, whole, sizes]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let n = 0; n < 5; n += 1) {
    // Nothing is in the cache of a context of its own.
    const { page, devtools } = await signedIn(undefined);
    await devtools.send("Network.enable");
    await devtools.send("Network.setCacheDisabled", { cacheDisabled: true });
    await devtools.send("Network.emulateNetworkConditions", SLOW_3G);
    await page.goto("about:blank");
    const begun = Date.now();
    await page.goto(`${stack.url}/p/${id}`, { waitUntil: "commit" });
    await page.getByText("Lower the TTL of the DNS records").first().waitFor();
    plan.push(Date.now() - begun);
    await page.getByRole("button", { name: /^Approve version 1/ }).waitFor();
    whole.push(Date.now() - begun);
    words.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0));
    sizes.push(await page.evaluate(() => (performance.getEntriesByType("resource") as PerformanceResourceTiming[]).filter(({ name }) => name.endsWith(".js")).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)));
    await page.context().close();
  }
  report("compressed script of a plan's page", `${((sizes[0] ?? 0) / 1000).toFixed(1)} kB`);
  report("slow 3G, nothing in the cache: the first words (middle of 5)", ms(quantile(words, 0.5)));
  report("slow 3G, nothing in the cache: the text of the plan (middle of 5)", ms(quantile(plan, 0.5)));
  report("slow 3G, nothing in the cache: the page of the plan with its buttons (middle of 5)", ms(quantile(whole, 0.5)));
});

/** Scrolls with the wheel and tells the long tasks meanwhile. */
async function scrollThrough(page: Page, where: string, by: number, times: number): Promise<string> {
  const box = await page.locator(where).first().boundingBox();
  await page.mouse.move((box?.x ?? 0) + 200, (box?.y ?? 0) + 200);
  await page.waitForTimeout(500);
  await browser.startTracing(page, { categories: ["disabled-by-default-devtools.timeline", "devtools.timeline", "__metadata"] });
  for (let n = 0; n < times; n += 1) {
    await page.mouse.wheel(0, by);
    await page.waitForTimeout(16);
  }
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  if (process.env.TRACES !== undefined) writeFileSync(join(process.env.TRACES, `${Date.now()}.json`), JSON.stringify({ traceEvents }));
  const own = mainThread(traceEvents);
  const tasks = traceEvents.filter(({ name, pid, tid }) => name === "RunTask" && own === `${pid}:${tid}`);
  const describe = (took: number[]) => {
    const long = took.filter((one) => one > 50);
    return `${long.length} tasks over 50 ms${long.length > 0 ? ` (${ms(long.reduce((sum, one) => sum + one, 0))} in all)` : ""}, the longest ${ms(Math.max(0, ...took))}`;
  };
  return `${describe(tasks.map(({ tdur = 0 }) => tdur / 1000))} by the processor's time; by the clock ${describe(tasks.map(({ dur = 0 }) => dur / 1000))}; ${times} turns of the wheel`;
}

/** An event of a trace; times are in microseconds. `tdur` is the time on the processor, without waiting for it. */
interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  dur?: number;
  tdur?: number;
  args: { name?: string };
}

/** The main thread of the page: of those that run scripts, the one with the most tasks. */
function mainThread(events: TraceEvent[]): string {
  const threads = new Set(events.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain").map(({ pid, tid }) => `${pid}:${tid}`));
  const counts = new Map<string, number>();
  for (const { name, pid, tid } of events) if (name === "RunTask" && threads.has(`${pid}:${tid}`)) counts.set(`${pid}:${tid}`, (counts.get(`${pid}:${tid}`) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? "";
}

test("a plan of 500 steps is made", async () => {
  await stack.api("POST", "/api/sessions", { sessionId: "long-plan" });
  for (const text of ["/plan on", "five hundred steps"]) await stack.api("POST", "/api/sessions/long-plan/messages", { text });
});

test.each(BUILDS)("%sa plan of 500 steps", async (build, dist) => {
  const { plans } = await stack.api("GET", "/api/plans?sessionId=long-plan");
  const { page } = await signedIn(dist);
  await page.goto(`${stack.url}/p/${plans[0].id}`);
  await page.getByText("step 1: check").first().waitFor();
  report(`${build}scrolling a plan of 500 steps`, await scrollThrough(page, ".plan-scroll", 240, 100));
  await page.context().close();
});

let streams = 0;
test.each(BUILDS)("%sstreamed text", async (build, dist) => {
  const session = `streaming-${(streams += 1)}`;
  await stack.api("POST", "/api/sessions", { sessionId: session });
  const { page } = await signedIn(dist);
  await page.goto(`${stack.url}/s/${session}`);
  let last = 0;
  for (let n = 0; n < 4; n += 1) {
    await page.getByLabel("Message to the agent").fill(`slowly please ${n}`);
    await page.getByLabel("Message to the agent").press("Enter");
    await until(() => stack.api("GET", `/api/sessions/${session}/messages?limit=1`), ({ messages }: any) => messages.some(({ role, seq }: any) => role === "agent" && seq > last && (last = seq)));
    await until(() => page.locator(".live").count(), (count) => count === 0);
  }
  const { frames, shown } = await page.evaluate(() => window.__seen);
  const waits = frames.map((came, index) => (shown[index] ?? 0) - came);
  report(`${build}a frame of streamed text to the screen`, `${ms(quantile(waits, 0.5))} in the middle, ${ms(quantile(waits, 0.95))} for 95 of 100, over ${waits.length} frames`);
  await page.context().close();
});

test("many events", async () => {
  await stack.api("POST", "/api/sessions", { sessionId: "busy-one" });
  const { id } = await stack.api("POST", "/api/tasks", { sessionId: "busy-one", title: "a task that changes" });
  const { page, devtools } = await signedIn(process.env.DASHBOARD_DIST);
  await page.goto(`${stack.url}/s/busy-one`);
  await page.getByLabel("Message to the agent").waitFor();
  const heap = async () => {
    await devtools.send("HeapProfiler.collectGarbage");
    const { usedSize } = await devtools.send("Runtime.getHeapUsage");
    return usedSize / 1_000_000;
  };
  // Code and caches are there after the first ones.
  const sizes: number[] = [];
  for (let n = 0; n <= EVENTS; n += 1) {
    if (n % Math.floor(EVENTS / 6) === 0) sizes.push(await heap());
    await stack.api("PATCH", `/api/tasks/${id}?sessionId=busy-one`, { status: n % 2 === 0 ? "done" : "open" });
  }
  report(`memory of the page over ${EVENTS} events`, sizes.map((size) => `${size.toFixed(1)} MB`).join(", "));
  await page.context().close();
});

test("a long session is made", async () => {
  await stack.api("POST", "/api/sessions", { sessionId: "long-talk" });
  for (let n = 1; n <= MESSAGES / 2; n += 1) await stack.api("POST", "/api/sessions/long-talk/messages", { text: n % 25 === 0 ? `a long answer please ${n}` : `message ${n}` });
}, 7_200_000);

test.each(BUILDS)("%sa long session", async (build, dist) => {
  const { page } = await signedIn(dist);
  await page.goto(`${stack.url}/s/long-talk`);
  await page.locator(".message").first().waitFor();
  report(`${build}scrolling a session of ${MESSAGES} messages`, await scrollThrough(page, ".messages-frame, .messages", -600, 400));
  await page.context().close();
});
