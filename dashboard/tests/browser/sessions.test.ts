// What a session's page is told and shows, while runs work and memories are saved in other sessions.
import type { Page } from "playwright-core";
import { beforeEach, describe, expect, test } from "vitest";

import { until, untilCount, visit } from "./browser";
import { sharedStack, type Stack } from "./stack";

let stack: Stack;

beforeEach(async () => {
  stack = await sharedStack();
});

const begin = async (key: string) => {
  await stack.api("POST", "/api/sessions", { sessionId: key });
  await stack.api("PATCH", `/api/sessions/${key}`, { title: key });
};
const say = (key: string, text: string) => stack.api("POST", `/api/sessions/${key}/messages`, { text });

interface Frame {
  type: string;
  sessionId?: string;
}

/** Every frame that the page's own WebSockets receive from now on. */
function listen(page: Page): Frame[] {
  const frames: Frame[] = [];
  page.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => void frames.push(JSON.parse(String(payload)) as Frame)));
  return frames;
}

/** Frames about the connection and not about a session. */
const OF_NO_SESSION = new Set(["pong", "watching"]);
/** The page of lists and badges is told that a session changed, and of what kind the change is; it is told no content. */
const TOLD_OF_ALL = new Set(["changed"]);

/** Lets a run work in a session until its task is done, and saves a memory. */
async function workIn(key: string, task: string): Promise<void> {
  await say(key, `/task add ${task}`);
  await say(key, `/memory save ${task} was asked for`);
  await say(key, "/auto on");
  await until(() => stack.api("GET", `/api/runs?sessionId=${key}`), ({ items }: any) => items.length > 0 && items.every((run: any) => run.state === "completed"));
}

describe("seed 3, WebSocket and UI tests", () => {
  test("Outgoing WS events always include sessionId", async () => {
    for (const key of ["session-a", "session-b"]) await begin(key);
    const { page } = await visit(stack);
    const frames = listen(page);
    await page.goto(`${stack.url}/s/session-a/runs`);
    await page.getByText("No runs yet.").waitFor();
    await Promise.all([workIn("session-a", "tidy the alpha shelf"), workIn("session-b", "tidy the beta shelf")]);
    await page.getByRole("article", { name: "Run 1" }).getByText("Completed", { exact: true }).waitFor();
    expect(frames.filter(({ type, sessionId }) => sessionId === undefined && !OF_NO_SESSION.has(type))).toEqual([]);
    expect(new Set(frames.map(({ type }) => type))).toEqual(expect.toSatisfy((types: Set<string>) => ["run_started", "run_ticked", "memory_saved", "progress"].every((type) => types.has(type))));
  });

  test("UI filters events to active session only", async () => {
    for (const key of ["session-a", "session-b"]) await begin(key);
    const { page } = await visit(stack);
    const frames = listen(page);
    await page.goto(`${stack.url}/s/session-b/runs`);
    await page.getByText("No runs yet.").waitFor();
    await workIn("session-a", "tidy the alpha shelf");
    // What the other session did is over: now something that must arrive.
    await workIn("session-b", "tidy the beta shelf");
    await page.getByRole("article", { name: "Run 1" }).getByText("tidy the beta shelf").waitFor();
    const told = frames.filter(({ type }) => !OF_NO_SESSION.has(type) && !TOLD_OF_ALL.has(type));
    expect(new Set(told.map(({ sessionId }) => sessionId))).toEqual(new Set(["session-b"]));
    expect(JSON.stringify(frames)).not.toContain("alpha");
    // Nor do the rooms show anything of it, live or read again.
    for (const path of ["runs", "goals", "memory", "journal"]) {
      await page.goto(`${stack.url}/s/session-b/${path}`);
      await page.getByRole("main").getByText("beta shelf").first().waitFor();
      await untilCount(page.getByRole("main").getByText("alpha"), 0);
    }
    // Frames of a session that was left are dropped: the page is told no more of it.
    await page.locator(".session-row", { hasText: "session-a" }).click();
    await page.getByRole("navigation", { name: "Rooms of this session" }).getByRole("link", { name: "Memory" }).click();
    await page.getByText("tidy the alpha shelf was asked for").waitFor();
    frames.length = 0;
    await say("session-b", "/memory save a second thing of beta");
    await say("session-a", "/memory save a second thing of the first");
    await page.getByText("a second thing of the first").waitFor();
    expect(new Set(frames.filter(({ type }) => !OF_NO_SESSION.has(type) && !TOLD_OF_ALL.has(type)).map(({ sessionId }) => sessionId))).toEqual(new Set(["session-a"]));
  });

  test("Switching session updates plan panel to correct session state", async () => {
    for (const key of ["session-a", "session-b"]) await begin(key);
    await say("session-a", "/plan on");
    await say("session-a", "alpha says hello");
    const { page } = await visit(stack, "/s/session-a");
    const panel = page.getByRole("complementary", { name: "Plan of this session" });
    await panel.getByText("a step of alpha").waitFor();
    await page.getByRole("main").getByText("plan work on: document").waitFor();
    const row = (name: string) => page.locator(".session-row", { hasText: name });
    // The other one has no plan, and its mode is off.
    await row("session-b").click();
    await panel.getByText("Plan work is off in this session").waitFor();
    await page.getByRole("main").getByText("plan work off").waitFor();
    await untilCount(panel.getByText("a step of alpha"), 0);
    // Its mode is switched on while the first one is shown: the first one's panel stays what it is.
    await row("session-a").click();
    await panel.getByText("a step of alpha").waitFor();
    await say("session-b", "/plan on");
    await say("session-b", "beta says hello");
    await row("session-b").getByText("plan waiting").waitFor();
    await panel.getByText("a step of alpha").waitFor();
    await untilCount(panel.getByText("a step of beta"), 0);
    await row("session-b").click();
    await panel.getByText("a step of beta").waitFor();
    await untilCount(panel.getByText("a step of alpha"), 0);
  });
});
