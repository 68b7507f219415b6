import { createHash } from "node:crypto";
import { expect, test } from "vitest";

import { sha256 } from "./sha256";

test("it is SHA-256, for every length of a block and beyond ASCII", () => {
  for (const text of ["", "abc", "naïve 🙂 text", ...Array.from({ length: 130 }, (_, length) => "x".repeat(length)), "step ".repeat(20_000)]) {
    expect(sha256(text), String(text.length)).toBe(createHash("sha256").update(text).digest("hex"));
  }
});
