import { join } from "node:path";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type LaunchOptions, type Locator, type Page, type Request } from "playwright-core";
import { expect, onTestFinished } from "vitest";

import { TOKEN, type Stack } from "./stack";

export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/** A folder with the built pages, to try them without building the program again. Everything else comes from the program. */
const DIST = process.env.DASHBOARD_DIST;

/** How Chromium is started: the whole browser, which has a profile. */
export const CHROMIUM: LaunchOptions = {
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  // A container has no user namespaces for Chromium's own sandbox, often only 64 MB of shared memory, and no graphics card.
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-quic", ...(DIST === undefined && process.env.BEFORE === undefined ? [] : ["--disable-features=LocalNetworkAccessChecks"])],
  // A signal ends the process, and its end ends Chromium.
  handleSIGTERM: false,
};

let shared: Promise<Browser> | undefined;

/** The Chromium of this worker. Each test has a context of its own in it, and nothing of another test is in there. */
export function launch(): Promise<Browser> {
  return (shared ??= chromium.launch({ ...CHROMIUM, executablePath: process.env.CHROMIUM_SHELL ?? CHROMIUM.executablePath }));
}

export interface Visitor {
  page: Page;
  context: BrowserContext;
  /** What the browser complained about: blocked by the policy, not caught, requests elsewhere. A test that ends with a complaint fails. */
  complaints: string[];
  go: (path: string) => Promise<void>;
  /** Waits until the page has everything that it asked for, and has drawn it. */
  settled: () => Promise<void>;
  close: () => Promise<void>;
}

/** How long anything on a page may take to happen. */
export const PATIENCE = Number(process.env.PATIENCE ?? 120_000);

export async function newContext(options: BrowserContextOptions = {}, dist = DIST): Promise<BrowserContext> {
  const context = await (await launch()).newContext(options);
  context.setDefaultTimeout(PATIENCE);
  if (dist !== undefined) await servePages(context, dist);
  return context;
}

async function servePages(context: BrowserContext, dist: string): Promise<void> {
  await context.route(
    (url) => !/^\/(?:api|ws|healthz|readyz|metrics|start)(?:\/|$)/.test(url.pathname),
    async (route) => {
      const { pathname } = new URL(route.request().url());
      const isFile = /\.\w+$/.test(pathname);
      const answer = await route.fetch().catch(() => undefined);
      // The server may be gone, as a test wants it.
      if (!answer) return route.abort();
      await route.fulfill({ status: isFile ? 200 : answer.status(), headers: answer.headers(), path: join(dist, isFile ? pathname : "index.html"), contentType: TYPES[isFile ? (pathname.split(".").at(-1) ?? "") : "html"] ?? "application/octet-stream" });
    },
  );
}

const TYPES: Record<string, string> = { html: "text/html", js: "text/javascript", css: "text/css", svg: "image/svg+xml", png: "image/png", webmanifest: "application/manifest+json" };

/** A browser that is signed in, at a page. It is closed when the test ends. */
export async function visit(stack: Stack, path = "/", options: BrowserContextOptions = {}): Promise<Visitor> {
  const context = await newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" && /Content Security Policy|Refused to/.test(message.text())) complaints.push(message.text());
  });
  const underWay = new Set<Request>();
  page.on("request", (request) => {
    underWay.add(request);
    const { protocol, host } = new URL(request.url());
    if (/^(?:https?|wss?):$/.test(protocol) && host !== new URL(stack.url).host) complaints.push(`a request to ${request.url()}`);
  });
  page.on("requestfinished", (request) => underWay.delete(request));
  page.on("requestfailed", (request) => underWay.delete(request));
  onTestFinished(async ({ task }) => {
    if (task.result?.state === "fail") await reportFailure(task.name, page, complaints);
    await context.close();
    expect(complaints).toEqual([]);
  });
  // Newer browsers answer with a promise here; an older Chromium must not hide what that breaks.
  await context.addInitScript(() => {
    const scroll = Element.prototype.scrollIntoView;
    Element.prototype.scrollIntoView = function (...options) {
      scroll.apply(this, options);
      return Promise.resolve() as never;
    };
  });
  const { origin } = new URL(stack.url);
  const signedIn = await context.request.post(`${origin}/api/login`, { data: { token: TOKEN }, headers: { Origin: origin } });
  expect(signedIn.ok(), `signed in: ${signedIn.status()}`).toBe(true);
  const go = async (to: string) => {
    await page.goto(stack.url + to);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
  };
  const settled = () =>
    until(
      async () => {
        // What an answer leads to is done before the browser is idle: drawing, the next request, the colours of code.
        await page.evaluate(() => new Promise((resolve) => requestIdleCallback(() => requestAnimationFrame(() => requestIdleCallback(resolve)))));
        return underWay.size + (await page.locator("main .state[role=status]").count());
      },
      (left) => left === 0,
    ).then(() => undefined);
  await go(path);
  return { page, context, complaints, go, settled, close: () => context.close() };
}

/** Waits until a condition over the real server holds. */
export async function until<T>(look: () => Promise<T>, fits: (seen: T) => boolean): Promise<T> {
  const begun = Date.now();
  for (;;) {
    const seen = await look();
    if (fits(seen)) return seen;
    if (Date.now() - begun > PATIENCE) throw new Error(`it did not come to that: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until so many elements are on the page. */
export async function untilCount(locator: Locator, wanted: number): Promise<void> {
  await until(() => locator.count(), (seen) => seen === wanted);
}

/** What the page of a failed test shows, for the log. */
async function reportFailure(name: string, page: Page, complaints: string[]): Promise<void> {
  const shown = await page.locator("body").ariaSnapshot({ timeout: 10_000 }).catch((error: unknown) => String(error));
  const focused = await page.evaluate(() => document.activeElement?.outerHTML.slice(0, 200)).catch((error: unknown) => String(error));
  console.error(`${name}: at ${page.url()}, focused ${focused}\n${complaints.join("\n")}\n${shown}`);
}
