import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const folder = join(__dirname, "../public");

interface Manifest {
  id: string;
  start_url: string;
  scope: string;
  display: string;
  icons: { src: string; sizes: string; type: string; purpose: string }[];
}

test("a phone can install the dashboard: its icons are there, in the sizes that are named", () => {
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.webmanifest"), "utf8")) as Manifest;
  expect(manifest).toMatchObject({ id: "/", start_url: "/", scope: "/", display: "standalone" });
  for (const { src, sizes, type } of manifest.icons) {
    const bytes = readFileSync(join(folder, src));
    if (type !== "image/png") continue;
    expect(`${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`, src).toBe(sizes);
  }
  // What browsers ask for before they offer it.
  for (const size of ["192x192", "512x512"]) expect(manifest.icons.some(({ sizes, type }) => sizes === size && type === "image/png")).toBe(true);
  expect(readFileSync(join(folder, "../index.html"), "utf8")).toContain('<link rel="manifest" href="/manifest.webmanifest" />');
});
