import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface Lockfile {
  packages: Record<string, { optionalDependencies?: Record<string, string> }>;
}

test("the lockfile names the packages of every platform, or `npm ci` refuses it on some", () => {
  const { packages } = JSON.parse(readFileSync(new URL("../package-lock.json", import.meta.url), "utf8")) as Lockfile;
  const missing = Object.values(packages)
    .flatMap((each) => Object.keys(each.optionalDependencies ?? {}))
    .filter((name) => !Object.keys(packages).some((path) => path.endsWith(`node_modules/${name}`)));
  expect(missing).toEqual([]);
});
