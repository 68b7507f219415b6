// What the service worker does with a push, without a browser.
import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";

import { beforeEach, expect, test } from "vitest";

const SCRIPT = readFileSync("public/sw.js", "utf8");
const ORIGIN = "https://plans.example.org";

interface Shown {
  title: string;
  options: { body: string; tag?: string; icon: string; data: { path: string } };
}

let shown: Shown[];
let opened: string[];
let focused: string[];
let windows: string[];
let sent: { path: string; body: unknown }[];
let worker: Record<string, (event: any) => void>;

beforeEach(() => {
  [shown, opened, focused, windows, sent, worker] = [[], [], [], [], [], {}];
  const self = {
    location: { origin: ORIGIN },
    addEventListener: (name: string, listener: (event: any) => void) => (worker[name] = listener),
    registration: {
      showNotification: async (title: string, options: Shown["options"]) => void shown.push({ title, options }),
      pushManager: { subscribe: async () => ({ toJSON: () => ({ endpoint: "https://push.example.org/2", expirationTime: null, keys: { p256dh: "p", auth: "a" } }) }) },
    },
    clients: {
      matchAll: async () => windows.map((url) => ({ url, focus: async () => void focused.push(url) })),
      openWindow: async (url: string) => void opened.push(url),
    },
  };
  const fetch = async (path: string, { body }: { body: string }) => void sent.push({ path, body: JSON.parse(body) });
  runInNewContext(SCRIPT, { self, URL, fetch });
});

/** Gives the worker an event, and waits for what it does. */
async function happens(name: string, event: Record<string, unknown>): Promise<void> {
  const work: Promise<unknown>[] = [];
  worker[name]?.({ ...event, waitUntil: (one: Promise<unknown>) => work.push(one) });
  await Promise.all(work);
}

const click = (path: unknown) => happens("notificationclick", { notification: { close: () => undefined, data: { path } } });

test("a push is shown with its title and what it says", async () => {
  const push = { title: "Plan #1 waits for your decision", body: "Move the blog", path: "/p/1", tag: "plan-1" };
  await happens("push", { data: { json: () => push } });
  expect(shown).toEqual([{ title: push.title, options: { body: push.body, tag: "plan-1", icon: "/icon-192.png", data: { path: "/p/1" } } }]);
});

test.each([
  ["no data", null],
  ["no JSON", { json: () => JSON.parse("x") }],
  ["something else", { json: () => ({ title: 7, body: {}, path: [] }) }],
])("a push with %s is shown, too", async (_, data) => {
  await happens("push", { data });
  expect(shown).toMatchObject([{ title: "Planwright", options: { body: "", data: { path: "/" } } }]);
});

test("a click opens the page that it is about, and no page of others", async () => {
  for (const path of ["/p/1", "/?item=2", "https://evil.example.org/p/1", "//evil.example.org", "javascript:alert(1)"]) await click(path);
  expect(opened).toEqual([`${ORIGIN}/p/1`, `${ORIGIN}/?item=2`, `${ORIGIN}/`, `${ORIGIN}/`, `${ORIGIN}/`]);
});

test("a window that shows it already comes to the front, and another one is left as it is", async () => {
  windows = [`${ORIGIN}/p/2`, `${ORIGIN}/p/1`];
  await click("/p/1");
  expect([focused, opened]).toEqual([[`${ORIGIN}/p/1`], []]);
});

test("an address that the push service changed is told to the server", async () => {
  await happens("pushsubscriptionchange", { oldSubscription: { options: {} }, newSubscription: null });
  expect(sent).toEqual([{ path: "/api/push", body: { endpoint: "https://push.example.org/2", keys: { p256dh: "p", auth: "a" } } }]);
});
