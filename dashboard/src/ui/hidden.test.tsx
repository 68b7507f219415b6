// @vitest-environment jsdom
import { expect, test } from "vitest";

import { visible } from "./hidden";

// The same cases as in crates/core/src/visible.rs.
test.each([
  ["plain\n\ttext ✓ ⚠\ufe0f żółć 漢字", "plain\n\ttext ✓ ⚠\ufe0f żółć 漢字"],
  ["rm\ufe0f ⚠\ufe0f\ufe0f", "rm⟦U+FE0F⟧ ⚠\ufe0f⟦U+FE0F⟧"],
  ["👩\u200d💻 👩🏽\u200d🚀 🏳\ufe0f\u200d🌈", "👩\u200d💻 👩🏽\u200d🚀 🏳\ufe0f\u200d🌈"],
  ["👩\u200da a\u200d👩 👩\u200d\u200d💻", "👩⟦U+200D⟧a a⟦U+200D⟧👩 👩⟦U+200D⟧⟦U+200D⟧💻"],
  ["a\u202eb", "a⟦U+202E⟧b"],
  ["zero\u200bwidth", "zero⟦U+200B⟧width"],
  ["end\r\nof line\r", "end\nof line⟦U+000D⟧"],
  ["\u001b[31mred", "⟦U+001B⟧[31mred"],
  ["⟦U+202E⟧", "⟦U+27E6⟧U+202E⟧"],
  ["tag\u{e0041}", "tag⟦U+E0041⟧"],
])("%j is shown as %j", (text, shown) => {
  expect(visible(text)).toBe(shown);
});
