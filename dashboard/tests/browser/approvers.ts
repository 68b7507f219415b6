// Approvers, their passphrase and their passkeys, for the tests of what is signed.
import { expect, onTestFinished } from "vitest";
import type { CDPSession, Page } from "playwright-core";

import { newContext } from "./browser";
import { type Stack, startStack, TOKEN } from "./stack";

export const PASSPHRASE = "correct horse battery";
export const VERIFIED = { PLANWRIGHT_APPROVAL_REQUIRE: "verified" };

/** A server with these settings, on which these people are enrolled, each confirmed by the first. */
export async function enrolled(settings: Record<string, string>, approvers: string[]): Promise<Stack> {
  const stack = await startStack("SQLite", settings);
  onTestFinished(stack.close);
  for (const [index, name] of approvers.entries()) {
    const confirm: [string, string][] = index === 0 ? [] : [[`Passphrase of ${approvers[0]}: `, PASSPHRASE]];
    const words = ["approver", "add", name, ...(index === 0 ? [] : ["--approver", approvers[0] ?? ""])];
    await stack.terminal(words, [...confirm, [`New passphrase for ${name}: `, PASSPHRASE], ["The same again: ", PASSPHRASE]]);
  }
  return stack;
}

/** Chromium's own authenticator: it answers as if a person touched it. */
export async function virtualAuthenticator(page: Page): Promise<CDPSession> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
  });
  return devtools;
}

/** A browser that is signed in, with a passkey of the only approver. Passkeys work for the name of the server. */
export async function withPasskey(stack: Stack): Promise<{ page: Page; url: string }> {
  const url = stack.url.replace("127.0.0.1", "localhost");
  const context = await newContext({ viewport: { width: 1280, height: 800 } });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await virtualAuthenticator(page);
  await page.goto(`${url}/#token=${TOKEN}`);
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  expect(page.url()).not.toContain("token");
  await page.goto(`${url}/settings`);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("A name for it").fill("laptop");
  await dialog.getByLabel("Passphrase").fill(PASSPHRASE);
  await dialog.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("button", { name: "Remove laptop" }).waitFor();
  return { page, url };
}
