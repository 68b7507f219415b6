// Makes the pictures of README.md and docs/dashboard.md from the real server with a scripted model. `npm run pictures`; with
// PICTURES, a folder, every page is also kept there in both themes and three widths, to be looked at.
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";

import { launch, PHONE, visit } from "../tests/browser/browser";
import { startStack, type Stack } from "../tests/browser/stack";

const IMAGES = fileURLToPath(new URL("../../docs/images", import.meta.url));
const WIDE = { viewport: { width: 1440, height: 900 } };

let browser: Browser;
let stack: Stack;
const plans: Record<string, string> = {};

async function talk(key: string, title: string, ...said: string[]): Promise<void> {
  await stack.api("POST", "/api/sessions", { sessionId: key });
  await stack.api("PATCH", `/api/sessions/${key}`, { title });
  for (const text of said) await stack.api("POST", `/api/sessions/${key}/messages`, { text });
  const { plans: found } = await stack.api("GET", `/api/plans?sessionId=${key}`);
  if (found[0]) plans[key] = found[0].id;
}

/** The folder that the file tools of a session work in. */
async function folderOf(written: string): Promise<string> {
  const entries = await readdir(join(stack.data, "users"), { recursive: true, withFileTypes: true });
  const found = entries.find((entry) => entry.isFile() && entry.name === written);
  if (!found) throw new Error(`no ${written} below ${stack.data}`);
  return found.parentPath;
}

async function shoot(page: Page, name: string): Promise<void> {
  await page.waitForLoadState("networkidle");
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: join(IMAGES, name), animations: "disabled", caret: "hide" });
}

beforeAll(async () => {
  browser = await launch();
  stack = await startStack("SQLite", { PLANWRIGHT_AUTO_TURNS: "2" });
  await talk("deploying-1", "Deployment", "write the notes");
  const folder = await folderOf("notes.md");
  await mkdir(join(folder, "deploy"), { recursive: true });
  await mkdir(join(folder, "src"), { recursive: true });
  await writeFile(join(folder, "deploy/nginx.conf"), "server {\n    listen 80;\n    server_name blog.example.org;\n\n    location / {\n        proxy_pass http://127.0.0.1:8080;\n        proxy_set_header Host $host;\n    }\n}\n");
  await writeFile(join(folder, "deploy/old-host.env"), "HOST=old.example.org\nPORT=80\n");
  await writeFile(join(folder, "src/config.rs"), '//! Where the blog is.\n\nconst HOST: &str = "old.example.org";\nconst PORT: u16 = 80;\n');
  await talk("deploying-1", "Deployment", "/plan on collect", "record the calls");
  await talk("blog-move", "The blog on a new host", "/plan on", "move the blog to a new host");
  await talk("invoice-page", "A faster invoices page", "a long answer, please", "/plan on build", "build a plan");
  await talk("finished-1", "Search index", "/plan on build", "build a plan");
  const { digest } = await stack.api("GET", `/api/plans/${plans["finished-1"]}`);
  await stack.api("POST", `/api/plans/${plans["finished-1"]}/approve`, { digest });
  await talk("spring-shop", "Shop in spring", "/plan say hello", "/goal add Open the shop in May", "/task add #1 Paint the door", "/task add #1 Order the sign", "/task add count the screws", "/diary add Bought green paint.");
  await talk("spring-shop", "Shop in spring", "/memory save The door is painted green", "/memory save The supplier of screws closes on Fridays", "/schedule add 0 9 * * 1 tz=Europe/Berlin max=10 read the news", "/task done 1", "/auto on task 3");
});
afterAll(async () => {
  await browser.close();
  await stack.close();
});

test("the inbox", async () => {
  const { page, close } = await visit(stack, "/", WIDE);
  await page.getByRole("button", { name: /Point the deployment/ }).click();
  await page.locator(".diff-line[data-mark=added]").first().waitFor();
  await page.mouse.move(0, 0);
  await shoot(page, "dashboard-inbox.png");
  await close();
});

test("a session", async () => {
  const { page, close } = await visit(stack, "/s/invoice-page", WIDE);
  await page.getByRole("button", { name: /^Approve version/ }).waitFor();
  await page.locator(".hljs-keyword").first().waitFor();
  await shoot(page, "dashboard-chat.png");
  await close();
});

test("a plan", async () => {
  const { page, close } = await visit(stack, `/p/${plans["deploying-1"]}`, WIDE);
  await page.locator(".diff-line[data-mark=added]").first().waitFor();
  await shoot(page, "dashboard-plan.png");
  await close();
});

test("a phone", async () => {
  const { page, close } = await visit(stack, `/p/${plans["invoice-page"]}`, { ...PHONE, deviceScaleFactor: 2 });
  await page.getByRole("checkbox", { name: /Cache the totals/ }).uncheck();
  await page.getByText("without 3, 4, and 5").waitFor();
  await page.locator(".plan-scroll").evaluate((element) => element.querySelector("#step-row-2")?.scrollIntoView({ block: "start" }));
  await shoot(page, "dashboard-phone.png");
  await close();
});

const EVERY = (): [name: string, path: string][] => [
  ["inbox", "/"],
  ["chat", "/s/invoice-page"],
  ["chat-new", "/s/finished-1"],
  ...["goals", "runs", "memory", "workbook", "files", "journal"].map((room): [string, string] => [room, `/s/spring-shop/${room}`]),
  ["files-changed", "/s/deploying-1/files"],
  ["document", `/p/${plans["blog-move"]}`],
  ["agents", `/p/${plans["invoice-page"]}`],
  ["history", `/p/${plans["finished-1"]}?view=history`],
  ["raw", `/p/${plans["blog-move"]}?view=raw`],
  ["run", `/p/${plans["finished-1"]}/run/1`],
  ["failed", `/p/${plans["failed-one"]}`],
  ["asking", `/p/${plans["asking-one"]}`],
  ["asking-chat", "/s/asking-one"],
  ["settings", "/settings"],
  ["missing", "/p/nothing"],
];

test.runIf(process.env.PICTURES !== undefined)("every page", async () => {
  const folder = process.env.PICTURES ?? "";
  // Last, so that the pictures of the documents do not have them: a plan that failed, and an agent that asks.
  for (const [key, title, ...said] of [["failed-one", "What failed", "/plan on collect", "plan what fails"], ["asking-one", "The door", "/plan on build", "plan the door"]] as const) {
    await talk(key, title, ...said);
    const { digest } = await stack.api("GET", `/api/plans/${plans[key]}`);
    await stack.api("POST", `/api/plans/${plans[key]}/approve`, { digest });
  }
  for (const [width, height] of [[1440, 900], [820, 1180], [390, 844]] as const) {
    for (const colorScheme of ["light", "dark"] as const) {
      const { page, go, close } = await visit(stack, "/", { ...(width === 390 ? PHONE : { viewport: { width, height } }), colorScheme });
      for (const [name, path] of EVERY()) {
        await go(path);
        await page.waitForLoadState("networkidle");
        await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`), animations: "disabled" });
      }
      await close();
    }
  }
});
