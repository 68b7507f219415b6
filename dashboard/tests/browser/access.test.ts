import { beforeAll, describe, expect, test } from "vitest";

import { expectAccessible, expectFits } from "./axe";
import { newContext, PHONE, visit } from "./browser";
import { sharedStack, type Stack, TOKEN } from "./stack";

let stack: Stack;
let plans: Record<string, string>;

beforeAll(async () => {
  stack = await sharedStack();
  const talk = async (key: string, ...said: string[]) => {
    await stack.api("POST", "/api/sessions", { sessionId: key });
    for (const text of said) await stack.api("POST", `/api/sessions/${key}/messages`, { text });
  };
  await talk("document-1", "a long answer", "hostile, please", "/plan on", "move the blog to a new host");
  await talk("building-1", "/plan on build", "build a plan");
  await talk("nothing-1");
  await talk("recorded-1", "/plan on collect", "record the calls");
  await talk("finished-1", "/plan on build", "build a plan");
  await talk("rooms-one", "/plan say hello", "write the notes", "/goal add Open the shop in May", "/task add #1 Paint the door", "/task add Order the sign", "/diary add Bought green paint.");
  await talk("rooms-one", "/schedule add 0 9 * * 1 tz=Europe/Berlin max=10 read the news", "/memory save The door is painted green", "/auto on task 2");
  const { items } = await stack.api("GET", "/api/inbox");
  plans = Object.fromEntries(items.map((item: { sessionId: string; planId: string }) => [item.sessionId, item.planId]));
  const { digest } = await stack.api("GET", `/api/plans/${plans["finished-1"]}`);
  await stack.api("POST", `/api/plans/${plans["finished-1"]}/approve`, { digest });
});

const pages = (): [string, string][] => [
  ["the inbox", "/"],
  ["a chat", "/s/document-1"],
  ["a journal", "/s/document-1/journal"],
  ["goals", "/s/rooms-one/goals"],
  ["runs", "/s/rooms-one/runs"],
  ["memory", "/s/rooms-one/memory"],
  ["files", "/s/rooms-one/files"],
  ["a workbook", "/s/rooms-one/workbook"],
  ["what a plan changed", `/p/${plans["finished-1"]}?view=files`],
  ["a document", `/p/${plans["document-1"]}`],
  ["its raw text", `/p/${plans["document-1"]}?view=raw`],
  ["its history", `/p/${plans["document-1"]}?view=history`],
  ["a plan for agents", `/p/${plans["building-1"]}`],
  ["recorded calls", `/p/${plans["recorded-1"]}`],
  ["an execution", `/p/${plans["finished-1"]}/run/1`],
  ["the settings", "/settings"],
  ["a new session", "/s/nothing-1"],
  ["no goals", "/s/nothing-1/goals"],
  ["no runs", "/s/nothing-1/runs"],
  ["no memory", "/s/nothing-1/memory"],
  ["no files", "/s/nothing-1/files"],
  ["a page that does not exist", "/p/nothing"],
];

test.each([
  ["a desk", { viewport: { width: 1440, height: 900 } }],
  ["a tablet", { viewport: { width: 820, height: 1180 } }],
  ["a phone", PHONE],
])("every page is accessible, light and dark, and fits, on %s", async (_, options) => {
  const { page, go, settled } = await visit(stack, "/", { ...options, reducedMotion: "reduce", bypassCSP: true });
  for (const [name, path] of pages()) {
    await go(path);
    await settled();
    await expectAccessible(page, name);
    await expectFits(page, name);
    expect(await page.evaluate(() => document.documentElement.scrollHeight <= window.innerHeight), `${name} is taller than the window, below its foot`).toBe(true);
  }
});

describe("signing in", () => {
  test("is asked for on any page, refuses a wrong token, and leads to where one wanted to go", async () => {
    const context = await newContext();
    const page = await context.newPage();
    await page.goto(`${stack.url}/p/${plans["document-1"]}`);
    await page.getByLabel("Access token").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("This is not the token.").waitFor();
    await page.getByLabel("Access token").fill(TOKEN);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Move the blog to a new host", level: 1 }).waitFor();
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });

    // A second tab ends with the first.
    const second = await context.newPage();
    await second.goto(`${stack.url}/`);
    await second.getByRole("heading", { name: "Inbox", level: 1 }).waitFor();
    await page.goto(`${stack.url}/settings`);
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByLabel("Access token").waitFor();
    await second.getByLabel("Access token").waitFor();
    await context.close();
  });

  test("files are kept for ever, the page never, and both are compressed", async () => {
    const page = await fetch(`${stack.url}/s/anything`, { headers: { "Accept-Encoding": "br" } });
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.headers.get("content-encoding")).toBe("br");
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
    const script = /src="(\/assets\/[^"]+)"/.exec(await page.text())?.[1] ?? "";
    const asset = await fetch(stack.url + script, { headers: { "Accept-Encoding": "gzip" } });
    expect(asset.headers.get("cache-control")).toContain("immutable");
    expect(asset.headers.get("content-encoding")).toBe("gzip");
    const refused = await fetch(`${stack.url}/api/inbox`);
    expect(refused.status).toBe(401);
  });
});
