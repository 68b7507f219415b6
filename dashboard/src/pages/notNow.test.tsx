// @vitest-environment jsdom
import { beforeEach, expect, test } from "vitest";

import { bringBack, isPutOff, PUT_OFF_FOR, setNotNow } from "./notNow";

const stored = (): Record<string, number> => JSON.parse(localStorage.getItem("planwright.not-now") ?? "{}") as Record<string, number>;

beforeEach(() => bringBack(Object.keys(stored())));

test("what is put off is kept for a day in this browser, and forgotten then", () => {
  setNotNow(["plan:p1::d1"], 1_000);
  expect(isPutOff(stored(), "plan:p1::d1", 2_000)).toBe(true);
  // A new version is another item.
  expect(isPutOff(stored(), "plan:p1::d2", 2_000)).toBe(false);
  expect(isPutOff(stored(), "plan:p1::d1", 1_000 + PUT_OFF_FOR)).toBe(false);
  setNotNow(["other"], 1_000 + PUT_OFF_FOR);
  expect(Object.keys(stored())).toEqual(["other"]);
});

test("what is brought back waits again, and the rest stays", () => {
  setNotNow(["one", "two"], 1_000);
  bringBack(["one"]);
  expect(Object.keys(stored())).toEqual(["two"]);
});
