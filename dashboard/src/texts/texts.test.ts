import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { en } from "./en";
import { ago, duration, t } from "./t";

const root = join(__dirname, "..");
const files = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? files(path) : /\.tsx?$/.test(name) && !/\.test\.|schema\.d|texts\/en/.test(path) ? [path] : [];
  });

test("texts that people read are in the catalogue, not in the components", () => {
  for (const path of files(root)) {
    const source = readFileSync(path, "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
    if (!path.endsWith(".tsx")) continue;
    for (const [, words] of source.matchAll(/>([^<>{}]*[A-Za-z]{3}[^<>{}]*)<\//g)) {
      // Commands are the same in every language.
      if (words && !/^\s*(?:planwright token|\/[\w/ .]+)\s*$/.test(words) && !/=>|;|\(/.test(words)) throw new Error(`${path}: ${words}`);
    }
  }
});

test("an effect returns nothing but its own end", () => {
  // What a browser's method answers with is none: `scrollIntoView` answers with a promise in newer ones.
  for (const path of files(root)) expect(readFileSync(path, "utf8"), path).not.toMatch(/use(?:Layout)?Effect\(\s*\(\) => [^{\s]/);
});

test("every text is used", () => {
  const sources = files(root)
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");
  const dynamic = [...sources.matchAll(/t\(\s*(?:[^`)]*\?\s*)?`([\w.]+)\$\{/g)].map((match) => match[1] ?? "").concat(["event."]);
  const unused = Object.keys(en).filter((key) => !sources.includes(`"${key}"`) && !dynamic.some((start) => key.startsWith(start)));
  expect(unused).toEqual([]);
});

test("the server names the buttons as they stand on the pages", () => {
  const source = readFileSync(join(root, "../../crates/core/src/door/how_to_sign.rs"), "utf8");
  for (const key of ["runs.start", "schedules.new", "schedules.resume", "memory.promote", "toolChange.accept"] as const) expect(source).toContain(`"${en[key]}"`);
});

test("numbers and times are in words", () => {
  expect(t("plan.steps", { count: 1 })).toBe("1 step");
  expect(t("plan.steps", { count: 7 })).toBe("7 steps");
  const now = Date.parse("2026-03-01T12:00:00Z");
  expect(ago("2026-03-01T11:58:00Z", now)).toBe("2 min ago");
  expect(duration(65_000)).toBe("1 min 5 s");
  expect(duration(37)).toBe("37 ms");
});
