import { expect, test } from "vitest";

import { grow, isInlineImage, openFence, safeAddress, sessionFile, settled, type GrowingText } from "./parse";

test.each([
  ["https://example.org/a", true],
  ["http://example.org", true],
  ["mailto:ada@example.org", true],
  ["javascript:alert(1)", false],
  [" JaVaScRiPt:alert(1)", false],
  ["data:text/html,x", false],
  ["vbscript:x", false],
  ["file:///etc/passwd", false],
  ["//example.org", false],
  ["/api/logout", false],
  ["#top", false],
])("%s is a place to go: %s", (url, expected) => {
  expect(safeAddress(url) !== undefined).toBe(expected);
});

test("only pictures that are in the text are shown", () => {
  expect(isInlineImage("data:image/png;base64,iVBORw0KGgo=")).toBe(true);
  expect(isInlineImage("data:image/svg+xml;base64,PHN2Zz4=")).toBe(false);
  expect(isInlineImage("https://example.org/x.png")).toBe(false);
});

test("a growing text is cut at a blank line outside of code and lists", () => {
  expect(settled("one\n\ntwo")).toEqual(["one\n\n", "two"]);
  expect(settled("```\na\n\nb")).toEqual(["", "```\na\n\nb"]);
  expect(settled("```\na\n```\n\nb")).toEqual(["```\na\n```\n\n", "b"]);
  expect(settled("1. a\n\n2. b")).toEqual(["", "1. a\n\n2. b"]);
  expect(settled("x")).toEqual(["", "x"]);
});

test("a list that goes on after a blank line is one list, also while only its mark is written", () => {
  expect(settled("1. a\n\n2")).toEqual(["", "1. a\n\n2"]);
  expect(settled("- a\n\n-")).toEqual(["", "- a\n\n-"]);
  expect(settled("- a\n\nb")).toEqual(["- a\n\n", "b"]);
});

test("a growing text is parsed in parts that stay what they are", () => {
  const whole = "one\n\n- a\n\n- b\n\ntwo\n\n```sh\nls\n\npwd\n```\n\nthree";
  let now: GrowingText | undefined;
  for (let length = 1; length <= whole.length; length += 1) {
    const before: readonly string[] = now?.parts ?? [];
    now = grow(now, whole.slice(0, length));
    expect(now.parts.slice(0, before.length)).toEqual(before);
    expect(now.parts.join("") + now.rest).toBe(whole.slice(0, length));
  }
  expect(now?.parts).toEqual(["one\n\n", "- a\n\n- b\n\n", "two\n\n", "```sh\nls\n\npwd\n```\n\n"]);
  // Another text begins anew.
  expect(grow(now, "four")).toEqual({ text: "four", parts: [], rest: "four" });
});

test.each([
  ["```rust\nfn main", { code: "fn main", language: "rust" }],
  ["~~~\na\n```\nb", { code: "a\n```\nb", language: undefined }],
  ["```sh\nls\n```", undefined],
  ["```sh\necho a```b\n", { code: "echo a```b\n", language: "sh" }],
  ["```sh", undefined],
  ["words", undefined],
])("%j is code that is being written: %j", (text, code) => {
  expect(openFence(text)).toEqual(code);
});

test.each([
  ["attachments/plan.png", "attachments/plan.png"],
  ["./a%20b.png", "a b.png"],
  ["https://evil.example.org/pixel.png", undefined],
  ["//evil.example.org/pixel.png", undefined],
  ["/api/logout", undefined],
  ["\\\\evil.example.org\\x.png", undefined],
  ["../other/secret.png", undefined],
  ["data:image/png;base64,AA", undefined],
  ["%zz.png", undefined],
])("the picture %s is the session's own file %s", (url, path) => {
  expect(sessionFile(url)).toBe(path);
});
