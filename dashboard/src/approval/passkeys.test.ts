import { expect, test } from "vitest";

import { canUsePasskeys, fromBase64Url, toBase64Url } from "./passkeys";

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
