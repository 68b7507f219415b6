import { expect, test } from "vitest";

import { isInlineImage, safeAddress, sessionFile, settled } from "./parse";

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
