import { beforeEach, describe, expect, test } from "vitest";

import { PHONE, until, untilCount, visit, type Visitor } from "./browser";
import { sharedStack, type Stack } from "./stack";

let stack: Stack;

beforeEach(async () => {
  stack = await sharedStack();
});

async function session(key: string, ...said: string[]): Promise<void> {
  await stack.api("POST", "/api/sessions", { sessionId: key });
  for (const text of said) await stack.api("POST", `/api/sessions/${key}/messages`, { text });
}

const planOf = async (key: string): Promise<{ id: string; digest: string; status: string; version: number; approval: any }> => {
  const { plans } = await stack.api("GET", `/api/plans?sessionId=${key}`);
  return stack.api("GET", `/api/plans/${plans[0].id}`);
};

describe("a document", () => {
  test("is drafted in the chat, changed on request, and carried out after the approval of what was seen", async () => {
    await stack.api("POST", "/api/sessions", { sessionId: "blog-move" });
    const { page } = await visit(stack, "/s/blog-move");
    const composer = page.getByLabel("Message to the agent");
    await composer.fill("/plan on");
    await composer.press("Enter");
    await page.getByText("Plan work is on in this session").waitFor();
    await composer.fill("move the blog to a new host");
    await composer.press("Enter");
    await page.getByText("The plan is ready. It has seven steps").waitFor();
    const panel = page.getByRole("complementary", { name: "Plan of this session" });
    await panel.getByRole("button", { name: "Approve version 1 · 7 steps" }).waitFor();

    await panel.getByRole("link", { name: "Read the whole plan" }).click();
    await page.getByRole("cell", { name: "120,481 rows" }).waitFor();
    await page.keyboard.press("r");
    await page.getByLabel("What should be changed").fill("shorter please, with a maintenance window");
    await page.keyboard.press("Control+Enter");
    // The open approval is stale in plain sight.
    await page.getByText("Version 2 arrived while you were reading version 1.").waitFor();
    const approve = page.getByRole("button", { name: /^Approve version/ });
    await until(() => approve.getAttribute("aria-disabled"), (seen) => seen === "true");
    await approve.click({ force: true });
    expect((await planOf("blog-move")).status).toBe("READY");

    await page.getByRole("button", { name: "Review the changes" }).click();
    await page.locator(".diff-line[data-mark=removed]", { hasText: "Lower the TTL" }).waitFor();
    await page.getByRole("button", { name: "Approve version 2 · 6 steps" }).click();
    await page.getByText("Completed", { exact: true }).first().waitFor();
    const plan = await planOf("blog-move");
    expect(plan.approval).toMatchObject({ given: "person", digest: plan.digest });
    await page.getByRole("link", { name: "Open the execution" }).click();
    await page.getByText("6 of 6 steps done").first().waitFor();
  });

  test("that changes between looking and approving is refused by the server as well", async () => {
    await session("blog-move", "/plan on", "move the blog to a new host");
    const { id } = await planOf("blog-move");
    const { page, complaints } = await visit(stack, `/p/${id}`);
    await page.getByRole("button", { name: "Approve version 1 · 7 steps" }).waitFor();
    // Nothing that happens reaches this page: the plan in view is old, and the page does not know it.
    await page.route("**/api/plans/*", (route) => (route.request().method() === "GET" ? route.abort() : route.continue()));
    await page.context().setOffline(false);
    await page.evaluate(() => (WebSocket.prototype.send = () => undefined));
    await stack.api("POST", "/api/sessions/blog-move/messages", { text: "make it shorter" });
    // Forced: if the page has learned of the change after all, the button is off and the click does nothing.
    await page.getByRole("button", { name: /^Approve version/ }).click({ force: true });
    await page.getByText("Nothing was approved: the plan has changed.").or(page.getByText("Version 2 arrived")).first().waitFor();
    expect((await planOf("blog-move")).status).toBe("READY");
    complaints.length = 0;
  });

  test("that changes while its page loads it is shown as it is now", async () => {
    await session("blog-move", "/plan on", "move the blog to a new host");
    const { id } = await planOf("blog-move");
    const { page, go } = await visit(stack);
    // The first answer is of before the change, and arrives after the page was told of it.
    const frames: string[] = [];
    page.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => void frames.push(String(payload))));
    const frame = (type: string) => until(async () => frames.filter((text) => text.includes(`"type":"${type}"`)), (found) => found.length > 0);
    let isFirst = true;
    await page.route(`**/api/plans/${id}`, async (route) => {
      if (!isFirst) return route.continue();
      isFirst = false;
      const answer = await route.fetch();
      await frame("watching");
      await stack.api("POST", "/api/sessions/blog-move/messages", { text: "make it shorter" });
      await frame("changed");
      // The page gathers what changed for 150 milliseconds.
      await page.waitForTimeout(500);
      await route.fulfill({ response: answer });
    });
    await go(`/p/${id}`);
    await page.getByText("Announce a maintenance window").first().waitFor();
    await page.getByText("Version 2", { exact: true }).first().waitFor();
  });
});

describe("a plan with steps", () => {
  test("is approved in part on a phone, dependants shown before", async () => {
    await session("invoices", "/plan on build", "build a plan");
    const { id } = await planOf("invoices");
    const { page } = await visit(stack, "/", PHONE);
    await page.getByRole("button", { name: /Speed up the invoices page/ }).click();
    await page.getByRole("checkbox", { name: /Cache the totals/ }).uncheck();
    await page.getByText("left out, because it needs step 3").waitFor();
    await page.getByText("without 3, 4, and 5").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
    await page.getByRole("button", { name: "More decisions" }).click();
    await page.getByRole("menuitem", { name: "Add a note to the approval" }).click();
    await page.getByLabel("Note to the agent with the approval").fill("no cache, please");
    await page.getByRole("button", { name: "Approve version 1 · 3 of 6 steps" }).click();
    const plan = await until(() => planOf("invoices"), (seen) => seen.status !== "READY");
    expect(plan.approval).toMatchObject({ steps: ["s1", "s2", "s6"], note: "no cache, please" });
    expect(plan.id).toBe(id);
    await page.getByText("Partly done").or(page.getByText("Completed")).first().waitFor();
  });

  test("of recorded calls shows them as what they are", async () => {
    await session("deploying", "/plan on collect", "record the calls");
    const { page } = await visit(stack, `/p/${(await planOf("deploying")).id}`);
    await page.getByText("listen").first().waitFor();
    const text = await page.locator("[data-plan-text]").innerText();
    expect(text).toContain("ssl_certificate_key");
    expect(text).not.toContain("\\n");
  });
});

describe("deciding", () => {
  test("elsewhere makes the item leave the inbox and the buttons leave the page, live", async () => {
    await session("blog-move", "/plan on", "move the blog to a new host");
    const { page } = await visit(stack);
    await page.getByRole("button", { name: /Move the blog/ }).click();
    await page.getByRole("button", { name: "Approve version 1 · 7 steps" }).waitFor();
    await page.waitForFunction(() => document.title === "(1) Planwright");
    await stack.api("POST", `/api/plans/${(await planOf("blog-move")).id}/reject`, { reason: "not now" });
    await page.getByText("Nothing waits for you.").waitFor();
    await page.getByRole("region", { name: "Recently finished" }).getByRole("link", { name: /Move the blog/ }).waitFor();
    await page.waitForFunction(() => document.title === "Planwright");
    await untilCount(page.getByRole("button", { name: /^Approve version/ }), 0);
  });

  test("by two at once is decided once, and the other is told", async () => {
    await session("blog-move", "/plan on", "move the blog to a new host");
    const { id } = await planOf("blog-move");
    const visitors = [await visit(stack, `/p/${id}`), await visit(stack, `/p/${id}`)];
    // Both requests are on their way before one of them arrives.
    let waiting = 0;
    let meet: () => void = () => undefined;
    const met = new Promise<void>((resolve) => (meet = resolve));
    const press = async (who: Visitor) => {
      await who.page.route("**/approve", async (route) => {
        if ((waiting += 1) === 2) meet();
        await met;
        await route.continue();
      });
      await who.page.getByRole("button", { name: "Approve version 1 · 7 steps" }).click();
    };
    await Promise.all(visitors.map(press));
    const { decisions } = await until(() => stack.api("GET", `/api/plans/${id}/history`), (seen: any) => seen.decisions.length > 0);
    expect(decisions.filter((one: any) => one.decision === "approved")).toHaveLength(1);
    for (const who of visitors) await who.page.getByText(/Running|Completed/).first().waitFor();
  });

  test.each(["before it arrives", "after it arrived", "in the middle of its answer", "with the server before it arrives", "with the server after it arrived"])(
    "over a connection that is lost %s is not shown as decided, and is decided once",
    async (when) => {
      await session("blog-move", "/plan on", "move the blog to a new host");
      const { id } = await planOf("blog-move");
      const { page, complaints } = await visit(stack, `/p/${id}`);
      let [sent, isCut] = [0, false];
      // Else the page may hear of the approval in another way before the server is gone.
      await page.route("**/api/**", (route) => (isCut ? route.abort("connectionreset") : route.continue()));
      await page.routeWebSocket("**/ws", (socket) => {
        const server = socket.connectToServer();
        server.onMessage((message) => {
          if (!isCut) socket.send(message);
        });
      });
      await page.reload();
      await page.route("**/approve", async (route) => {
        sent += 1;
        if (sent > 1) return route.continue();
        isCut = when.includes("server");
        if (when.includes("after") || when.includes("middle")) await route.fetch();
        if (when.includes("server")) await stack.kill();
        if (when.includes("middle")) await route.fulfill({ status: 200, contentType: "application/json", body: '{"id":"' });
        else await route.abort("connectionreset");
      });
      await page.getByRole("button", { name: "Approve version 1 · 7 steps" }).click();
      if (when.includes("server")) {
        await page.getByText("It is not known whether the approval arrived.").waitFor();
        await untilCount(page.getByText("Completed", { exact: true }), 0);
        isCut = false;
        await stack.restart();
      }
      // After a lost connection the page sends it again by itself.
      if (when === "before it arrives") {
        await page.getByText("It is not known whether the approval arrived.").waitFor();
        expect((await planOf("blog-move")).status).toBe("READY");
        await page.getByRole("button", { name: "Send again" }).click();
      }
      await page.getByText("Completed", { exact: true }).first().waitFor();
      const { decisions } = await stack.api("GET", `/api/plans/${id}/history`);
      expect(decisions).toHaveLength(1);
      complaints.length = 0;
    },
  );

  test("works with the keyboard alone", async () => {
    await session("invoices", "/plan on build", "build a plan");
    await session("blog-move", "/plan on", "move the blog to a new host");
    const { page } = await visit(stack);
    await page.getByText("2 decisions waiting").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await page.keyboard.press("o");
    await page.getByRole("heading", { name: "Speed up the invoices page", level: 1 }).waitFor();
    for (const key of ["j", "j", "j", "j", "j", "j", "x"]) await page.keyboard.press(key);
    await page.keyboard.press("a");
    await page.keyboard.press("Enter");
    const plan = await until(() => planOf("invoices"), (seen) => seen.status !== "READY");
    expect(plan.approval.steps).toEqual(["s1", "s2", "s3", "s4", "s5"]);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Go to a session" }).waitFor();
    await page.keyboard.type("blog host");
    await page.getByRole("option", { name: /move the blog/i, selected: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: /move the blog/i, level: 1 }).waitFor();
    await untilCount(page.getByRole("dialog"), 0);
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  });
});
