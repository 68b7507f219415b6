import { beforeEach, expect, test } from "vitest";

import { visit } from "./browser";
import { sharedStack, type Stack } from "./stack";

let stack: Stack;

beforeEach(async () => {
  stack = await sharedStack();
  await stack.api("POST", "/api/sessions", { sessionId: "door-paint" });
});

const say = (text: string) => stack.api("POST", "/api/sessions/door-paint/messages", { text });

async function untilSaid(words: string): Promise<void> {
  await expect.poll(async () => JSON.stringify(await stack.api("GET", "/api/sessions/door-paint/messages")), { timeout: 30_000 }).toContain(words);
}

test("a call that waits is seen as it runs, and the answer reaches the agent", async () => {
  await say("delete the draft");
  const { page } = await visit(stack);
  await page.getByRole("button", { name: /delete_file: draft.md/ }).click();
  await page.getByLabel("The call", { exact: true }).getByText('"path": "draft.md"').waitFor();
  await page.getByLabel("Message to the agent").fill("keep it until Friday");
  await page.getByRole("button", { name: "Do not allow" }).click();
  await page.getByText("Nothing waits for you.").waitFor();
  await untilSaid("That is settled.");
  expect(JSON.stringify(await stack.api("GET", "/api/sessions/door-paint/messages"))).toContain("keep it until Friday");
});

test("a call is changed before it is allowed, and runs as it was changed", async () => {
  await say("delete the draft");
  const { page } = await visit(stack);
  await page.getByRole("button", { name: /delete_file: draft.md/ }).click();
  await page.getByRole("button", { name: "Change it before allowing it" }).click();
  await page.getByRole("textbox", { name: "path" }).fill("no-such-file.md");
  await page.getByLabel("The call", { exact: true }).getByText('"path": "no-such-file.md"').waitFor();
  await page.getByRole("button", { name: "Allow once, as changed" }).click();
  await page.getByText("Nothing waits for you.").waitFor();
  await untilSaid("That is settled.");
  const journal = await stack.api("GET", "/api/sessions/door-paint/journal");
  const answered = journal.entries.find((entry: any) => entry.type === "permission_answered");
  expect(answered.event).toMatchObject({ grant: "once", arguments: { path: "no-such-file.md" } });
  await untilSaid("A person changed the arguments");
});

test("an answer that was given elsewhere takes the call out of the inbox", async () => {
  await say("delete the draft");
  const { page } = await visit(stack);
  await page.getByRole("button", { name: /delete_file: draft.md/ }).click();
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  const { items } = await stack.api("GET", "/api/inbox");
  await stack.api("POST", `/api/permissions/${items[0].id}`, { digest: items[0].digest, grant: "once" });
  await page.getByText("Nothing waits for you.").waitFor();
  await untilSaid("That is settled.");
});

test("questions are answered by choice and in words", async () => {
  await say("ask me");
  const { page } = await visit(stack);
  await page.getByRole("button", { name: /Which colour has the door/ }).click();
  const send = page.getByRole("button", { name: "Send the answers" });
  await page.getByRole("radio", { name: "blue" }).check();
  // One question is still open, and the button says so.
  await send.click({ force: true });
  expect((await stack.api("GET", "/api/inbox")).items).toHaveLength(1);
  await page.getByRole("textbox", { name: "And why?" }).fill("it was always blue");
  await send.click();
  await page.getByText("Nothing waits for you.").waitFor();
  await untilSaid("Thank you for the answers.");
  expect(JSON.stringify(await stack.api("GET", "/api/sessions/door-paint/journal"))).toContain("it was always blue");
});
