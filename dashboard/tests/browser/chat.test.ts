import { beforeEach, describe, expect, test } from "vitest";

import { until, untilCount, visit } from "./browser";
import { sharedStack, type Stack } from "./stack";

let stack: Stack;

beforeEach(async () => {
  stack = await sharedStack();
});

const begin = (key: string) => stack.api("POST", "/api/sessions", { sessionId: key });
const say = (key: string, text: string) => stack.api("POST", `/api/sessions/${key}/messages`, { text });

describe("a conversation", () => {
  test("shows a reply while it is written, queues what is typed meanwhile, and stops", async () => {
    await begin("talking-1");
    const { page } = await visit(stack, "/s/talking-1");
    const composer = page.getByLabel("Message to the agent");
    stack.model.hold();
    await composer.fill("a long answer please");
    await composer.press("Enter");
    // Half of the reply is on the screen while the model holds the rest back.
    await page.locator(".live").getByText("Here is what I found.").waitFor();
    expect(await page.getByText("That is all. Say").count()).toBe(0);
    await composer.fill("and this");
    await composer.press("Enter");
    await page.getByText("waiting until the agent has finished what came before").waitFor();
    stack.model.release();
    await page.getByText("You said: and this").waitFor();
    await untilCount(page.getByText("Here is what I found."), 1);
    await untilCount(page.locator(".message[data-role=person]"), 2);
    await untilCount(page.locator("[data-queued]"), 0);

    stack.model.hold();
    await composer.fill("another long answer");
    await composer.press("Enter");
    await page.locator(".live").getByText("Here is what I found.").waitFor();
    await page.getByRole("button", { name: "Stop the agent" }).click();
    await page.getByText("Stopped.").waitFor();
    stack.model.release();
  });

  test("goes on after a lost connection and after a restart of the server, without a gap or a double", async () => {
    await begin("talking-2");
    await say("talking-2", "one");
    const { page, complaints } = await visit(stack, "/s/talking-2");
    await page.getByText("You said: one").waitFor();
    await stack.kill();
    await page.getByText("The connection was lost").waitFor();
    const composer = page.getByLabel("Message to the agent");
    await composer.fill("typed while it was away");
    await composer.press("Enter");
    await stack.restart();
    // More is said while the page is away than one page of entries holds.
    for (let n = 1; n <= 40; n += 1) await say("talking-2", `gap ${n}`);
    await say("talking-2", "from elsewhere");
    await page.getByText("You said: from elsewhere").waitFor();
    // From the newest to the oldest: every answer once, and none is missing.
    const seen = new Set<string>();
    const look = async () => {
      const drawn = await page.locator(".message[data-role=agent] .md").allInnerTexts();
      expect(new Set(drawn).size).toBe(drawn.length);
      for (const text of drawn) seen.add(text);
    };
    await page.getByRole("log").hover();
    await until(
      async () => {
        await look();
        await page.mouse.wheel(0, -400);
        return seen.has("You said: one");
      },
      (found) => found,
    );
    const wanted = ["one", "typed while it was away", ...Array.from({ length: 40 }, (_, n) => `gap ${n + 1}`), "from elsewhere"];
    expect([...seen].sort()).toEqual(wanted.map((text) => `You said: ${text}`).sort());
    await page.getByText("The connection was lost").waitFor({ state: "hidden" });
    complaints.length = 0;
  });

  test("with hostile Markdown does nothing and hides nothing", async () => {
    await begin("hostile-1");
    await say("hostile-1", "hostile, please");
    const { page } = await visit(stack, "/s/hostile-1");
    await page.getByText("⟦U+202E⟧").first().waitFor();
    expect(await page.evaluate(() => (window as unknown as { __hacked?: number }).__hacked)).toBeUndefined();
    for (const link of await page.locator(".md a").all()) expect(await link.getAttribute("href")).toMatch(/^https:/);
  });
});

describe("a session", () => {
  test("that is new has no key for a name, and offers what to say first", async () => {
    const { page } = await visit(stack);
    await page.getByRole("button", { name: "New session" }).first().click();
    await page.getByRole("heading", { name: "Untitled session", level: 1 }).waitFor();
    await page.getByRole("button", { name: /^\/plan on collect/ }).click();
    const composer = page.getByLabel("Message to the agent");
    await until(() => composer.inputValue(), (seen) => seen === "/plan on collect");
    // It is the person who sends it.
    expect((await stack.api("GET", "/api/sessions")).sessions[0].topic ?? null).toBeNull();
    await composer.press("Enter");
    await page.getByText("plan work on: recorded calls").waitFor();
  });

  test("is renamed, found by its new name, and commands are completed", async () => {
    for (let n = 1; n < 12; n += 1) await begin(`session-${n}-of-many`);
    const { page } = await visit(stack, "/s/session-3-of-many");
    await page.getByRole("button", { name: "More about this session" }).click();
    await page.getByRole("menuitem", { name: "Rename the session" }).click();
    await page.getByLabel("Name", { exact: true }).fill("The greenhouse");
    await page.getByRole("button", { name: "Rename", exact: true }).click();
    await page.getByRole("heading", { name: "The greenhouse", level: 1 }).waitFor();
    await page.getByPlaceholder("Search sessions").fill("greenhouse");
    await untilCount(page.locator(".session-row"), 1);
    // Renamed elsewhere, it changes here.
    await stack.api("PATCH", "/api/sessions/session-3-of-many", { title: "The greenhouse in spring" });
    await page.getByRole("heading", { name: "The greenhouse in spring", level: 1 }).waitFor();

    const composer = page.getByLabel("Message to the agent");
    await composer.fill("/plan on c");
    await page.getByRole("option", { name: /^\/plan on collect/ }).waitFor();
    await composer.press("Tab");
    await composer.press("Enter");
    await until(() => stack.api("GET", "/api/plans?sessionId=session-3-of-many"), (seen: any) => seen.planMode.style === "collect" && seen.planMode.enabled);
  });
});

describe("a session that is not shown", () => {
  test("changes the lists, the badge and the title, and nothing of the page that is shown", async () => {
    for (const key of ["shown-one", "hidden-one"]) await begin(key);
    await say("shown-one", "alpha stays");
    const { page } = await visit(stack, "/s/shown-one");
    await page.getByText("You said: alpha stays").waitFor();
    const main = page.getByRole("main");
    const shown = await main.innerText();
    await say("hidden-one", "/plan on");
    await say("hidden-one", "beta says hello");
    const row = page.locator(".session-row", { hasText: "beta says hello" });
    await row.getByText("plan waiting").waitFor();
    await page.getByRole("link", { name: "Inbox 1" }).waitFor();
    await page.waitForFunction(() => document.title === "(1) Planwright");
    expect(await main.innerText()).toBe(shown);
    await row.click();
    await page.getByText("You said: beta says hello").waitFor();
    await page.getByRole("complementary", { name: "Plan of this session" }).getByText("a step of beta").waitFor();
    await untilCount(page.getByText("alpha stays"), 1);
  });
});

describe("two sessions", () => {
  test("switched fifty times quickly, with events in both, never show each other's text or plan", async () => {
    for (const [key, word] of [
      ["session-a", "alpha"],
      ["session-b", "beta"],
    ] as const) {
      await begin(key);
      await say(key, "/plan on");
      await say(key, `${word} says hello`);
    }
    const { page } = await visit(stack, "/s/session-a");
    await page.getByText("You said: alpha says hello").waitFor();
    await page.getByRole("complementary", { name: "Plan of this session" }).getByText("a step of alpha").waitFor();
    // Every change of the page is looked at: it says which session it is, and nothing of the other may be there.
    await page.evaluate(() => {
      const seen: string[] = [];
      (window as unknown as { __seen: string[] }).__seen = seen;
      const look = () => {
        const main = document.querySelector("main");
        const shown = main?.getAttribute("data-session");
        if (!main || !shown) return;
        const other = shown === "session-a" ? "beta" : "alpha";
        if (main.textContent?.includes(other)) seen.push(`${shown} shows ${other}`);
      };
      new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
      const each = () => {
        look();
        requestAnimationFrame(each);
      };
      each();
    });
    const talking = (async () => {
      for (let i = 0; i < 12; i += 1) await Promise.all([say("session-a", `alpha ${i}`), say("session-b", `beta ${i}`)]);
    })();
    const row = (word: string) => page.locator(".session-row", { hasText: word });
    for (let i = 0; i < 50; i += 1) await row(i % 2 === 0 ? "beta says hello" : "alpha says hello").click();
    await talking;
    await page.getByText("You said: alpha 11").waitFor();
    expect(await page.evaluate(() => (window as unknown as { __seen: string[] }).__seen)).toEqual([]);
  });
});
