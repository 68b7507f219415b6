import { expect, test } from "vitest";

import { canUsePasskeys, createPasskey, fromBase64Url, toBase64Url, worksHere } from "./passkeys";

test("bytes survive base64url", () => {
  const bytes = Uint8Array.from([0, 255, 254, 62, 63, 1]);
  const text = toBase64Url(bytes.buffer);
  expect(text).toBe("AP_-Pj8B");
  expect([...fromBase64Url(text)]).toEqual([...bytes]);
});

test("passkeys are for names", () => {
  Object.assign(globalThis, { PublicKeyCredential: class {} });
  expect(canUsePasskeys("localhost")).toBe(true);
  expect(canUsePasskeys("plans.example.org")).toBe(true);
  expect(canUsePasskeys("127.0.0.1")).toBe(false);
  expect(canUsePasskeys("[::1]")).toBe(false);
});

test("a passkey works on the page that it was made on, with its port", () => {
  const here = { origin: "http://localhost:7717", hostname: "localhost" };
  expect(worksHere({ relyingParty: "localhost", origin: "http://localhost:7717" }, here)).toBe(true);
  expect(worksHere({ relyingParty: "localhost", origin: "http://localhost:3000" }, here)).toBe(false);
  expect(worksHere({ relyingParty: "localhost" }, here)).toBe(true);
});

test("a device that can verify its user is asked to", async () => {
  const asked: CredentialCreationOptions[] = [];
  Object.assign(globalThis, { location: { hostname: "localhost" } });
  Object.defineProperty(globalThis, "navigator", {
    configurable: true,
    value: { credentials: { create: (options: CredentialCreationOptions) => (asked.push(options), Promise.resolve(null)) } },
  });
  await createPasskey("ada");
  expect(asked[0]?.publicKey?.authenticatorSelection?.userVerification).toBe("preferred");
});
