// Pushes to a browser: a push service of our own takes what the real server sends, and the browser shows it. Only the registration with the
// browser's vendor is not the real one.
import { createDecipheriv, createECDH, hkdfSync, randomBytes } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { CHROMIUM, PATIENCE, until } from "./browser";
import { planned, startStack, TOKEN, type Stack } from "./stack";

let stack: Stack;
let browser: Browser;
let service: Server;
let endpoint: string;
const taken: { headers: IncomingHttpHeaders; body: Buffer }[] = [];
/** What the push service answers. */
let answer = 201;

/** The keys that the browser would keep for itself. */
const own = createECDH("prime256v1");
own.generateKeys();
const auth = randomBytes(16);

beforeAll(async () => {
  service = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      taken.push({ headers: request.headers, body: Buffer.concat(parts) });
      response.writeHead(answer).end();
    });
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  endpoint = `http://127.0.0.1:${(service.address() as AddressInfo).port}/send/1`;
  stack = await startStack("SQLite", { PLANWRIGHT_NOTIFY_AFTER_SECONDS: "1", PLANWRIGHT_NOTIFY_PUSH_PRIVATE: "true" });
  // The headless shell shows no notifications.
  browser = await chromium.launch(CHROMIUM);
});
afterAll(async () => {
  await browser.close();
  await stack.close();
  service.closeAllConnections();
  service.close();
});

const derive = (salt: Uint8Array, key: Uint8Array, info: Uint8Array | string, length: number) => Buffer.from(hkdfSync("sha256", key, salt, info, length));

/** What the browser reads of a push (RFC 8291). */
function read(body: Buffer): { title: string; body: string; path: string; tag: string } {
  const [salt, length] = [body.subarray(0, 16), body[20] ?? 0];
  const [from, record] = [body.subarray(21, 21 + length), body.subarray(21 + length)];
  const key = derive(auth, own.computeSecret(from), Buffer.concat([Buffer.from("WebPush: info\0"), own.getPublicKey(), from]), 32);
  const open = createDecipheriv("aes-128-gcm", derive(salt, key, "Content-Encoding: aes128gcm\0", 16), derive(salt, key, "Content-Encoding: nonce\0", 12));
  open.setAuthTag(record.subarray(-16));
  const text = Buffer.concat([open.update(record.subarray(0, -16)), open.final()]);
  return JSON.parse(text.subarray(0, -1).toString());
}

/** A signed-in browser with the subscription that its vendor would give it. */
async function visitor(): Promise<{ context: BrowserContext; page: Page }> {
  const context = await browser.newContext({ permissions: ["notifications"], viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(PATIENCE);
  const given = { endpoint, keys: { p256dh: own.getPublicKey("base64url"), auth: auth.toString("base64url") } };
  await context.addInitScript((subscription) => {
    const made = () => ({
      ...subscription,
      options: { applicationServerKey: null },
      toJSON: () => subscription,
      unsubscribe: async () => {
        localStorage.removeItem("subscribed");
        return true;
      },
    });
    PushManager.prototype.subscribe = async (options) => {
      localStorage.setItem("subscribed", String((options?.applicationServerKey as Uint8Array).length));
      return made() as unknown as PushSubscription;
    };
    PushManager.prototype.getSubscription = async () => (localStorage.getItem("subscribed") === null ? null : (made() as unknown as PushSubscription));
  }, given);
  const signedIn = await context.request.post(`${stack.url}/api/login`, { data: { token: TOKEN }, headers: { Origin: new URL(stack.url).origin } });
  expect(signedIn.ok()).toBe(true);
  const page = await context.newPage();
  await page.goto(`${stack.url}/settings`);
  return { context, page };
}

const subscriptions = async () => (await stack.api<{ subscriptions: { name: string }[] }>("GET", "/api/push")).subscriptions;

test("a browser that a person subscribed gets the title of what waits, shows it while no page is open, and opens the review", async () => {
  const { context, page } = await visitor();
  await page.getByRole("button", { name: "Send pushes to this browser" }).click();
  await page.getByRole("button", { name: "Stop pushes to this browser" }).waitFor();
  expect(await subscriptions()).toMatchObject([{ name: expect.stringContaining("Chrome") }]);
  expect(await page.evaluate(() => localStorage.getItem("subscribed")), "the key is a point of the curve").toBe("65");

  const id = await planned(stack, "pushed-one", "/plan on", "move the blog to a new host");
  const [{ headers, body }] = (await until(async () => taken, (found) => found.length === 1)) as [(typeof taken)[0]];
  expect(headers).toMatchObject({ "content-encoding": "aes128gcm", authorization: expect.stringMatching(/^vapid t=[\w-]+\.[\w-]+\.[\w-]+, k=[\w-]{87}$/) });
  const push = read(body);
  expect(push).toEqual({ title: "Plan #1 waits for your decision", body: "Move the blog to a new host", path: `/p/${id}`, tag: expect.any(String) });

  // The browser's vendor brings it to the service worker.
  const devtools = await context.newCDPSession(page);
  const found = new Promise<string>((resolve) => {
    devtools.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      if (registrations[0]) resolve(registrations[0].registrationId);
    });
  });
  await devtools.send("ServiceWorker.enable");
  const [registrationId, worker] = [await found, context.serviceWorkers()[0]];
  if (!worker) throw new Error("there is no service worker");
  const deliver = (data: string) => devtools.send("ServiceWorker.deliverPushMessage", { origin: new URL(stack.url).origin, registrationId, data });
  const shown = () => page.evaluate(async () => (await (await navigator.serviceWorker.ready).getNotifications()).map(({ title, body }) => `${title}: ${body}`));
  await deliver(JSON.stringify(push));
  await until(shown, (all) => all.length === 1);
  expect(await shown()).toEqual(["Plan #1 waits for your decision: Move the blog to a new host"]);
  // Told again it is one notification; one that cannot be read is shown as well.
  await deliver(JSON.stringify(push));
  await deliver("no JSON");
  await until(shown, (all) => all.length === 2);

  const opened = await worker.evaluate(async () => {
    const self = globalThis as any;
    const urls: string[] = [];
    self.clients.openWindow = async (url: string) => void urls.push(url);
    for (const notification of await self.registration.getNotifications()) {
      const event = new self.NotificationEvent("notificationclick", { notification });
      const done: Promise<unknown>[] = [];
      event.waitUntil = (work: Promise<unknown>) => void done.push(work);
      self.dispatchEvent(event);
      await Promise.all(done);
    }
    return urls.sort();
  });
  const { origin } = new URL(stack.url);
  expect(opened).toEqual([`${origin}/`, `${origin}/p/${id}`]);
  await page.goto(`${stack.url}${push.path}`);
  await page.getByRole("button", { name: "Approve version 1 · 7 steps" }).waitFor();
  await context.close();
});

test("pushes end when they are switched off, when the browser signs out, and when the push service says that it is gone", async () => {
  const begin = async (page: Page) => {
    await page.goto(`${stack.url}/settings`);
    await page.getByRole("button", { name: "Send pushes to this browser" }).click();
    await page.getByRole("button", { name: "Stop pushes to this browser" }).waitFor();
    expect(await subscriptions()).toHaveLength(1);
  };
  const { context, page } = await visitor();
  await begin(page);
  await page.getByRole("button", { name: "Stop pushes to this browser" }).click();
  await page.getByRole("button", { name: "Send pushes to this browser" }).waitFor();
  expect(await subscriptions()).toEqual([]);

  await begin(page);
  answer = 410;
  const before = taken.length;
  await planned(stack, "pushed-two", "/plan on", "move the blog to a new host");
  await until(async () => taken.length, (count) => count > before);
  await until(subscriptions, (left) => left.length === 0);
  answer = 201;
  await context.close();

  const again = await visitor();
  await begin(again.page);
  const signOut = again.page.getByRole("button", { name: "Sign out", exact: true });
  await signOut.click();
  await until(subscriptions, (left) => left.length === 0);
  await again.context.close();
});
