import { join } from "node:path";
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from "playwright-core";
import { expect } from "vitest";

import { TOKEN, type Stack } from "./stack";

export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

export async function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    // A container has no user namespaces for Chromium's own sandbox, and often only 64 MB of shared memory.
    args: ["--no-sandbox", "--disable-dev-shm-usage", ...(DIST === undefined && process.env.BEFORE === undefined ? [] : ["--disable-features=LocalNetworkAccessChecks"])],
  });
}

/** A folder with the built pages, to try them without building the program again. Everything else comes from the program. */
const DIST = process.env.DASHBOARD_DIST;

export interface Visitor {
  page: Page;
  context: BrowserContext;
  /** What the browser complained about: blocked by the policy, not caught, requests elsewhere. */
  complaints: string[];
  go: (path: string) => Promise<void>;
  close: () => Promise<void>;
}

/** How long anything on a page may take to happen. */
export const PATIENCE = Number(process.env.PATIENCE ?? 120_000);

export async function newContext(browser: Browser, options: Parameters<Browser["newContext"]>[0] = {}, dist = DIST): Promise<BrowserContext> {
  const context = await browser.newContext(options);
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
      await route.fulfill({ status: 200, headers: answer.headers(), path: join(dist, isFile ? pathname : "index.html"), contentType: TYPES[isFile ? (pathname.split(".").at(-1) ?? "") : "html"] ?? "application/octet-stream" });
    },
  );
}

const TYPES: Record<string, string> = { html: "text/html", js: "text/javascript", css: "text/css", svg: "image/svg+xml", png: "image/png", webmanifest: "application/manifest+json" };

/** A browser that is signed in. */
export async function visit(browser: Browser, stack: Stack, path = "/", options: Parameters<Browser["newContext"]>[0] = {}): Promise<Visitor> {
  const context = await newContext(browser, { viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" && /Content Security Policy|Refused to/.test(message.text())) complaints.push(message.text());
  });
  page.on("request", (request) => {
    const { protocol, host } = new URL(request.url());
    if (/^(?:https?|wss?):$/.test(protocol) && host !== new URL(stack.url).host) complaints.push(`a request to ${request.url()}`);
  });
  // Newer browsers answer with a promise here; an older Chromium must not hide what that breaks.
  await context.addInitScript(() => {
    const scroll = Element.prototype.scrollIntoView;
    Element.prototype.scrollIntoView = function (...options) {
      scroll.apply(this, options);
      return Promise.resolve() as never;
    };
  });
  await page.goto(`${stack.url}/#token=${TOKEN}`);
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  expect(page.url()).not.toContain("token");
  const go = async (to: string) => {
    await page.goto(stack.url + to);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
  };
  if (path !== "/") await go(path);
  return { page, context, complaints, go, close: () => context.close() };
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
export async function reportFailure(task: { name: string; result?: { state: string } | undefined }, visitor: Visitor | undefined): Promise<void> {
  if (task.result?.state !== "fail" || !visitor) return;
  const { page } = visitor;
  const shown = await page.locator("body").ariaSnapshot({ timeout: 10_000 }).catch((error: unknown) => String(error));
  const focused = await page.evaluate(() => document.activeElement?.outerHTML.slice(0, 200)).catch((error: unknown) => String(error));
  console.error(`${task.name}: at ${page.url()}, focused ${focused}\n${visitor.complaints.join("\n")}\n${shown}`);
}
