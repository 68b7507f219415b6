import { readdir, readFile } from "node:fs/promises";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { expect, test } from "vitest";

import { enrolled, PASSPHRASE, VERIFIED, withPasskey } from "./approvers";
import { CHROMIUM, newContext, PATIENCE, visit } from "./browser";
import type { Stack } from "./stack";

const SESSION = "blog-move-1";

/** A server with this policy, and a plan that waits. */
async function waiting(settings: Record<string, string>, approvers: string[]): Promise<{ stack: Stack; plan: string; digest: string }> {
  const stack = await enrolled(settings, approvers);
  await stack.api("POST", "/api/sessions", { sessionId: SESSION });
  for (const text of ["/plan on", "move the blog to a new host"]) await stack.api("POST", `/api/sessions/${SESSION}/messages`, { text });
  const { plans } = await stack.api("GET", `/api/plans?sessionId=${SESSION}`);
  const { digest } = await stack.api("GET", `/api/plans/${plans[0].id}`);
  return { stack, plan: plans[0].id, digest };
}

/** From now on commands of the agent run without a sandbox, so that it can read the token. */
async function leaveSandbox(stack: Stack, answers: [string, string][]): Promise<void> {
  await stack.terminal(["config", "set", "sandbox.level", "open"], answers);
  await stack.kill();
  await stack.restart();
}

const approveButton = (page: Page) => page.getByRole("button", { name: /^Approve version/ });

test("a plan that needs a verified person is approved with the passphrase", async () => {
  const { stack, plan } = await waiting(VERIFIED, ["ada"]);
  const { page } = await visit(stack, `/p/${plan}`);
  // It is said before the click.
  await page.getByText("Approving asks for an approver's passphrase: this plan needs a signature.").waitFor();
  await approveButton(page).click();
  await page.getByLabel("Passphrase").fill("let me in");
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  // A wrong passphrase does not sign the browser out.
  await page.getByText("This is not the passphrase.").waitFor();
  await page.getByLabel("Passphrase").fill(PASSPHRASE);
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.goto(`${stack.url}/p/${plan}?view=history`);
  await page.getByText("signed by ada with a passphrase").waitFor();
  const approved = await stack.api("GET", `/api/plans/${plan}`);
  expect(approved.approval).toMatchObject({ presence: "verified", signedBy: ["ada"] });
  await stack.terminal(["verify"]);
});

test("a passkey is enrolled, approves with one touch, and is exported", async () => {
  const { stack, plan } = await waiting(VERIFIED, ["ada"]);
  const { page, url } = await withPasskey(stack);
  await page.goto(`${url}/p/${plan}`);
  await approveButton(page).click();
  await page.getByRole("button", { name: "Approve with a passkey" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const approved = await stack.api("GET", `/api/plans/${plan}`);
  expect(approved.status).not.toBe("READY");
  expect(approved.approval).toMatchObject({ presence: "verified", signatures: [{ approver: "ada", with: "passkey" }] });

  const exported = JSON.parse(await stack.terminal(["approver", "list", "--json"])) as { approvers: { passkeys: { label: string; algorithm: string }[] }[] };
  expect(exported.approvers[0]?.passkeys[0]).toMatchObject({ label: "laptop", relyingParty: "localhost" });
  const kept = join(stack.data, "kept.json");
  await stack.terminal(["approver", "export", "--output", kept]);
  await stack.terminal(["verify", "--approvers", kept]);
});

test("an answer of a passkey that no approver enrolled approves nothing", async () => {
  const { stack, plan, digest } = await waiting({ PLANWRIGHT_APPROVAL_REQUIRE: "separate" }, ["ada"]);
  await leaveSandbox(stack, [["Passphrase of ada: ", PASSPHRASE]]);
  const forged = { approver: "ada", seq: 1, validUntil: null, nonce: "00", credential: "AQ", clientData: "{}", authenticatorData: "AQ", signature: "AQ" };
  await expect(stack.api("POST", `/api/plans/${plan}/approve`, { digest, passkey: forged })).rejects.toThrow("does not fit");
  expect((await stack.api("GET", `/api/plans/${plan}`)).status).toBe("READY");
});

test("a browser that was signed in from a terminal approves where the token is not enough", async () => {
  const { stack, plan } = await waiting({ PLANWRIGHT_APPROVAL_REQUIRE: "separate" }, []);
  await leaveSandbox(stack, []);
  const visitor = await visit(stack, `/p/${plan}`);
  await approveButton(visitor.page).click();
  await visitor.page.getByText("the agent of this session can read it").waitFor();
  await visitor.close();

  const profile = await mkdtemp(join(tmpdir(), "planwright-profile-"));
  const context = await chromium.launchPersistentContext(profile, CHROMIUM);
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const printed = await stack.terminal(["dashboard", "--url", stack.url]);
  const link = /http\S+#link=\w+/.exec(printed)?.[0] ?? "";
  await page.goto(link);
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  expect(page.url()).not.toContain("link");
  const { origin } = new URL(page.url());
  await page.goto(`${origin}/settings`);
  await page.getByText("This browser was signed in from a terminal").waitFor();

  // The link works once.
  const other = await newContext();
  const second = await other.newPage();
  await second.goto(link);
  await second.getByLabel("Access token").waitFor();
  await other.close();

  await page.goto(`${origin}/p/${plan}`);
  await approveButton(page).click();
  await expect.poll(async () => (await stack.api("GET", `/api/plans/${plan}`)).approval?.presence, { timeout: PATIENCE }).toBe("browser");

  // What recognises the browser is not on its disk in the clear. Chromium writes it there encrypted.
  const cookies = await context.cookies();
  const own = cookies.find((cookie) => cookie.name.endsWith("_browser"));
  expect(own).toMatchObject({ httpOnly: true, sameSite: "Strict", expires: -1 });
  await context.close();
  const found: string[] = [];
  for (const entry of await readdir(profile, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const bytes = await readFile(join(entry.parentPath, entry.name));
    if (bytes.includes(own?.value ?? "?")) found.push(entry.name);
  }
  expect(found).toEqual([]);
  await rm(profile, { recursive: true, force: true });
});

test("a plan that needs two people waits after the first, and says for whom", async () => {
  const rules = '[{ risk = "changes_files", require = "verified", people = 2 }]';
  const { stack, plan } = await waiting({ PLANWRIGHT_APPROVAL_RULES: rules }, ["ada", "bob"]);
  const { page } = await visit(stack, `/p/${plan}`);
  const approveAs = async (name: string) => {
    await approveButton(page).click();
    await page.getByLabel("Approver").selectOption(name);
    await page.getByLabel("Passphrase").fill(PASSPHRASE);
    await page.getByRole("button", { name: "Approve", exact: true }).click();
  };
  await approveAs("ada");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("status").filter({ hasText: "ada approved it, 1 of 2; it waits for one more approver: bob." }).first().waitFor();
  expect((await stack.api("GET", `/api/plans/${plan}`)).status).toBe("READY");
  await approveAs("ada");
  await page.getByText("another approver has to approve it, too").waitFor();
  await page.getByRole("button", { name: "Back" }).click();
  await approveAs("bob");
  await expect.poll(async () => (await stack.api("GET", `/api/plans/${plan}`)).approval?.signedBy, { timeout: PATIENCE }).toEqual(["ada", "bob"]);
});
