import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, expect, test } from "vitest";

import { visit } from "./browser";
import { type Stack, startStack } from "./stack";

const SERVER = fileURLToPath(new URL("../../../crates/upstream/tests/servers/hostile.py", import.meta.url));

let stack: Stack;
let notes: string;

beforeAll(async () => {
  notes = await mkdtemp(join(tmpdir(), "planwright-tools-"));
  const args = JSON.stringify([SERVER, "wordy", notes]);
  stack = await startStack("SQLite", { PLANWRIGHT_MCP: `{ servers = { files = { command = "python3", args = ${args} } } }`, PLANWRIGHT_APPROVAL_REQUIRE: "any" });
});
afterAll(async () => {
  await stack.close();
  await rm(notes, { recursive: true, force: true });
});

test("every part of every new tool is on the page before it is accepted", async () => {
  await stack.api("GET", "/api/mcp-servers/files");
  const { page } = await visit(stack);
  await page.getByRole("button", { name: /files: 60 new/ }).click();
  const card = page.getByLabel("What is new");
  const text = (await card.textContent()) ?? "";
  for (let number = 1; number <= 60; number += 1) {
    for (const part of [`new \`tool_${number}\``, `The last line of tool ${number}.`, `"Where tool ${number} looks."`]) expect(text).toContain(part);
  }
  // Nothing is cut off: the text is as high as its content, and its last line is reached by scrolling the page.
  expect(await card.evaluate((node) => node.scrollHeight - node.clientHeight)).toBe(0);
  expect(await card.evaluate((node) => node.scrollWidth - node.clientWidth)).toBe(0);
  if (process.env.TOOLS_PICTURE) await page.screenshot({ path: process.env.TOOLS_PICTURE });
  await page.getByRole("button", { name: "Accept these tools" }).click();
  await page.getByText("The tools of files are accepted.").waitFor();
  expect((await stack.api("GET", "/api/mcp-servers/files")).state).toBe("accepted");
});
