// What a session keeps: its journal, its workbook and its files. And who is signed in.
import { mkdir, writeFile } from "node:fs/promises";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";

import { until, untilCount, visit } from "./browser";
import { sharedStack, type Stack } from "./stack";

let stack: Stack;

beforeAll(async () => {
  stack = await sharedStack();
});

async function session(key: string, ...said: string[]): Promise<void> {
  await stack.api("POST", "/api/sessions", { sessionId: key });
  for (const text of said) await stack.api("POST", `/api/sessions/${key}/messages`, { text });
}

/** The folder that the file tools of a session work in. */
async function folderOf(written: string): Promise<string> {
  const users = join(stack.data, "users");
  const entries = await readdir(users, { recursive: true, withFileTypes: true });
  const found = entries.find((entry) => entry.isFile() && entry.name === written);
  if (!found) throw new Error(`no ${written} below ${users}`);
  return found.parentPath;
}

/** A picture of one dot. */
const DOT = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

describe("a journal", () => {
  test("is filtered, jumps to a time, shows the session as it was then, and grows live", async () => {
    await session("journal-1", "before the plan", "/plan on");
    // The field for a time has seconds: what follows is written in a later one.
    const { entries } = await stack.api("GET", "/api/sessions/journal-1/journal?before=1000000&limit=1");
    const middle = new Date(Math.ceil(Date.parse(entries[0].at) / 1000) * 1000);
    await until(async () => Date.now(), (now) => now > middle.getTime());
    await session("journal-1", "move the blog to a new host");
    const { page } = await visit(stack, "/s/journal-1/journal");
    const list = page.getByRole("group", { name: "Journal", exact: true });
    await list.getByText("Plan written").first().waitFor();
    // The newest comes first, and what happens now on top of it.
    const newest = async () => Number(await list.locator(".seq").first().innerText());
    const before = await newest();
    await stack.api("POST", "/api/goals", { sessionId: "journal-1", title: "a goal of later" });
    await list.getByText("a goal of later").waitFor();
    await until(newest, (seen) => seen === before + 1);

    await page.getByRole("button", { name: "Goals and runs" }).click();
    await untilCount(list.locator(".journal-row"), 1);
    await page.getByRole("button", { name: "All", exact: true }).click();
    await page.getByLabel("Search the loaded entries").fill("blog to a new host");
    await list.getByText("Turn started").waitFor();
    await untilCount(list.getByText("Session opened"), 0);
    await page.getByLabel("Search the loaded entries").fill("");

    // Back to before the plan was written.
    const local = new Date(middle.getTime() - middle.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
    await page.getByLabel("Until").fill(local);
    await untilCount(list.getByText("Plan written"), 0);
    await list.getByText("Plan work on").waitFor();
    await list.locator(".journal-row").first().getByRole("button").first().click();
    await page.getByRole("button", { name: "The session as it was then" }).click();
    const then = page.getByRole("dialog");
    await then.getByText("on: document").waitFor();
    await then.getByText("There was no plan.").or(then.getByText("Being written")).first().waitFor();
    await untilCount(then.getByText("a goal of later"), 0);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Back to the newest" }).click();
    await list.getByText("Plan written").first().waitFor();
    await list.locator(".journal-row").first().getByRole("button").first().click();
    await page.getByRole("button", { name: "The session as it was then" }).click();
    await then.getByText("Move the blog to a new host").waitFor();
    await then.getByText("a goal of later").waitFor();
  });
});

describe("a workbook", () => {
  test("is edited, and a version that another wrote meanwhile is not overwritten unseen", async () => {
    await session("workbook-1", "/plan say hello");
    const document = async () => (await stack.api("GET", "/api/workbook?sessionId=workbook-1")).current.documents.find((one: any) => one.which === "findings");
    const { page } = await visit(stack, "/s/workbook-1/workbook");
    await page.getByRole("tab", { name: "Findings" }).click();
    await page.getByRole("button", { name: "Edit" }).click();
    const field = page.getByLabel("The text, in Markdown");
    const text = await field.inputValue();
    await field.fill(`${text}\n- the shed has no roof\n`);
    await page.getByRole("button", { name: "Save" }).click();
    await field.waitFor({ state: "detached" });
    await page.getByText("the shed has no roof").waitFor();
    expect((await document()).markdown).toContain("the shed has no roof");

    await page.getByRole("button", { name: "Edit" }).click();
    await field.fill(`${await field.inputValue()}- mine\n`);
    const { version, markdown } = await document();
    await stack.api("PUT", "/api/workbook/findings", { sessionId: "workbook-1", version, markdown: `${markdown}- theirs\n` });
    await page.getByText("arrived while you were editing").waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Your text is not saved.").waitFor();
    await page.locator(".diff-line[data-mark=removed]", { hasText: "theirs" }).waitFor();
    expect((await document()).markdown).toContain("theirs");
    expect((await document()).markdown).not.toContain("mine");
    // Seen, it may be overwritten; what was written stays in the history.
    await page.getByRole("button", { name: "Save my text over it" }).click();
    await field.waitFor({ state: "detached" });
    await page.getByText("mine", { exact: true }).waitFor();
    expect((await document()).markdown).not.toContain("theirs");
  });
});

describe("recorded calls", () => {
  test("that write files are shown against the files as they are now, and follow them", async () => {
    await session("recorded-1", "write the notes");
    const folder = await folderOf("notes.md");
    await mkdir(join(folder, "deploy"), { recursive: true });
    await writeFile(join(folder, "deploy/nginx.conf"), "server {\n    listen 80;\n}\n");
    await writeFile(join(folder, "deploy/old-host.env"), "HOST=old\n");
    await session("recorded-1", "/plan on collect", "record the calls");
    const { plans } = await stack.api("GET", "/api/plans?sessionId=recorded-1");
    const { page } = await visit(stack, `/p/${plans[0].id}`);
    const step = (n: number) => page.locator(`#step-row-${n}`);
    await step(2).locator(".diff-line[data-mark=removed]", { hasText: "listen 80;" }).waitFor();
    await step(2).locator(".diff-line[data-mark=added]", { hasText: "listen 443 ssl http2;" }).waitFor();
    await step(2).getByText("Compared with the file as it is now").waitFor();
    // The file that is edited does not exist: the call is shown, with what is wrong.
    await step(3).locator(".preview-problem").waitFor();
    await step(4).locator(".diff-line[data-mark=removed]", { hasText: "HOST=old" }).waitFor();
    await writeFile(join(folder, "deploy/nginx.conf"), "server {\n    listen 8080;\n}\n");
    await page.reload();
    await step(2).locator(".diff-line[data-mark=removed]", { hasText: "listen 8080;" }).waitFor();
  });
});

describe("files in a chat", () => {
  test("are completed after @, attached, and pictures are shown", async () => {
    await session("files-in-chat", "write the notes");
    const { page } = await visit(stack, "/s/files-in-chat");
    const composer = page.getByLabel("Message to the agent");
    await composer.fill("look at @no");
    await page.getByRole("option", { name: "@notes.md" }).waitFor();
    await composer.press("Enter");
    await until(() => composer.inputValue(), (seen) => seen === "look at @notes.md ");
    await page.getByLabel("Attach files").setInputFiles({ name: "the dot.png", mimeType: "image/png", buffer: DOT });
    const typed = await until(() => composer.inputValue(), (seen) => /@\S+dot\.png /.test(seen));
    const path = /@(\S+dot\.png)/.exec(typed)?.[1] ?? "";
    await page.getByRole("list", { name: "Attached pictures" }).getByRole("img").waitFor();
    await composer.press("Enter");
    const sent = page.locator(".message[data-role=person]").last();
    await sent.getByRole("link", { name: "@notes.md" }).waitFor();
    // The picture really is one.
    await until(() => sent.getByRole("img").evaluate((image: HTMLImageElement) => image.naturalWidth), (width) => width === 1);
    const { files } = await stack.api("GET", `/api/sessions/files-in-chat/files?prefix=${encodeURIComponent(path)}`);
    expect(files).toMatchObject([{ path, bytes: DOT.length }]);
    expect(stack.model.asked().some((asked) => asked.includes(`@${path}`))).toBe(true);

    // And in the room.
    await page.getByRole("link", { name: "Files", exact: true }).click();
    const room = page.getByRole("list", { name: "Files of this session" });
    await room.getByRole("button", { name: "notes.md" }).click();
    await room.getByText("first note").waitFor();
  });
});

describe("signed-in browsers", () => {
  test("are listed, and one is signed out from another", async () => {
    const { page } = await visit(stack, "/settings");
    const other = await visit(stack, "/", { userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0" });
    await page.reload();
    const list = page.getByRole("list", { name: "Signed-in browsers" });
    await list.getByText("this browser").waitFor();
    await list.getByRole("button", { name: "Sign out Firefox on Linux" }).click();
    await page.getByRole("button", { name: "Sign it out" }).click();
    await untilCount(list.getByText("Firefox on Linux"), 0);
    // Its open page ends at once.
    await other.page.getByLabel("Access token").waitFor();
    await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
  });
});
