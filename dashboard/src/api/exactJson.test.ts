import { replaceEqualDeep } from "@tanstack/react-query";
import { expect, test } from "vitest";

import { ExactNumber, parseExact, stringifyExact } from "./exactJson";

test.each([
  '{"amount":12345678901234567891,"of":[-9007199254740993,9007199254740991,1.5,1e+21],"id":"12345678901234567891","words":"a \\" 99999999999999999 \\\\","next":{"x":18446744073709551615}}',
  "12345678901234567891",
  '{"a":1.2345678901234567,"b":"\\\\","c":0}',
  '["x",null,true]',
])("%s is the same after it was read and written", (text) => {
  expect(stringifyExact(parseExact(text))).toBe(text);
});

test("only a number that would be another one is kept apart", () => {
  expect(parseExact('{"a":12345678901234567,"b":1234567890123456,"c":"12345678901234567"}')).toEqual({ a: new ExactNumber("12345678901234567"), b: 1_234_567_890_123_456, c: "12345678901234567" });
  expect(stringifyExact({ a: new ExactNumber("12345678901234567") }, 2)).toBe('{\n  "a": 12345678901234567\n}');
  expect(() => parseExact('{"a":12345678901234567,}')).toThrow();
});

test("an answer that is read again keeps its numbers", () => {
  const [before, after] = ["12345678901234567891", "12345678901234567899"].map((digits) => parseExact(`{"a":{"b":${digits}},"c":1}`));
  expect(stringifyExact(replaceEqualDeep(before, after))).toBe('{"a":{"b":12345678901234567899},"c":1}');
});
