// Looks for what keeps people from using a page, with axe.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Axe {
  run: (root: Document, options: object) => Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
}

/** The page as it stands, light and dark. The context needs `bypassCSP`. */
export async function expectAccessible(page: Page, name: string): Promise<void> {
  // Colours change over a moment, however short it is, and those that an element inherits a moment later.
  await page.addStyleTag({ content: "*, ::before, ::after { transition: none !important; }" });
  await page.evaluate(axe);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await page.evaluate(() =>
      (window as unknown as { axe: Axe }).axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"], resultTypes: ["violations"] }),
    );
    expect(violations.map(({ id, nodes }) => `${name}, ${colorScheme}: ${id}: ${nodes[0]?.html.slice(0, 160)} ${nodes[0]?.failureSummary}`)).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: "light" });
}

/** Nothing of the page is beside the screen. */
export async function expectFits(page: Page, name: string): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `${name} is too wide`).toBe(true);
}
