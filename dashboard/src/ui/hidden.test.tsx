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
  ["d\u0336e\u0338l\u20dd", "d⟦U+0336⟧e⟦U+0338⟧l⟦U+20DD⟧"],
  ["a\u070fb\u0600", "a⟦U+070F⟧b⟦U+0600⟧"],
  ["\u{13430}\u{13441}\u{1345f}", "⟦U+13430⟧⟦U+13441⟧⟦U+1345F⟧"],
  ["e\u0301\u0323 ที่ हिन्दी", "e\u0301\u0323 ที่ हिन्दी"],
  ["a\u0300\u0301\u0302\u0303\u0304\u20ddb\u0305", "a\u0300\u0301\u0302\u0303⟦U+0304⟧⟦U+20DD⟧b\u0305"],
  ["a\u0300\u0300\u0300\u034f\u0300\u0300", "a\u0300\u0300\u0300⟦U+034F⟧\u0300\u0300"],
])("%j is shown as %j", (text, shown) => {
  expect(visible(text)).toBe(shown);
});
