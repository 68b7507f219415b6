// @vitest-environment jsdom
import { readFileSync } from "node:fs";

import { cleanup, fireEvent, render } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { HOSTILE } from "../../tests/browser/script";
import { Markdown, SessionFilesContext } from "./Markdown";

afterEach(cleanup);

test("hostile Markdown makes no element that acts, and hides nothing", () => {
  const { container } = render(<Markdown text={HOSTILE} />);
  expect(container.querySelector("script, iframe, svg[onload], style, img, form, object, embed")).toBeNull();
  for (const element of container.querySelectorAll("*")) {
    for (const attribute of element.attributes) {
      expect(attribute.name.startsWith("on")).toBe(false);
      if (attribute.name === "href") expect(attribute.value).toMatch(/^(https?|mailto):/);
    }
  }
  expect(container.textContent).toContain("⟦U+202E⟧gpj.exe");
  expect(container.textContent).toContain("zero⟦U+200B⟧width");
  expect(container.textContent).toContain("⟦U+202E⟧entity");
  expect(container.textContent).toContain("(evil.example.org)".slice(1, -1));
});

test("a document's boxes show how its steps stand", () => {
  const steps = [
    { id: "s1", position: 1, description: "a", status: "COMPLETED" as const },
    { id: "s2", position: 2, description: "b", status: "PENDING" as const },
  ];
  const { container } = render(<Markdown text={"- [ ] a\n- [ ] b\n"} steps={steps} />);
  expect([...container.querySelectorAll("[role=img]")].map((icon) => icon.getAttribute("aria-label"))).toEqual(["done", "to do"]);
});

interface Plant {
  name: string;
  markdown: string;
  shows: string;
}

const read = (name: string) => JSON.parse(readFileSync(`../crates/core/src/plan/hidden/${name}.json`, "utf8")) as Plant[];
const PLANTS = [...read("plants"), ...read("placed")];

test.each(PLANTS)("$name: what is planted is in the text, at its place", ({ markdown, shows }) => {
  const { container } = render(<Markdown text={`Before.\n\n${markdown}\n\nAfter.`} />);
  // Long code is folded where no one decides about it, and the fold says so.
  for (const fold of container.querySelectorAll<HTMLElement>(".code-fold")) fireEvent.click(fold);
  const text = container.textContent;
  expect(text).toContain(shows);
  expect(text.indexOf("Before.")).toBeLessThan(text.indexOf(shows));
  expect(text.indexOf(shows)).toBeLessThan(text.indexOf("After."));
});

test("a picture that is shown hides neither its words nor its place", () => {
  const { container } = render(
    <SessionFilesContext value={"s"}>
      <Markdown text={"![delete the backups](old/pixel.png)"} />
    </SessionFilesContext>,
  );
  expect(container.querySelector("img")).not.toBeNull();
  expect(container.textContent).toContain("delete the backups");
  expect(container.textContent).toContain("old/pixel.png");
});

test("the first definition of a label says where its links lead", () => {
  const { container } = render(<Markdown text={"[docs][x]\n\n> [x]: https://first.example\n\n[x]: https://second.example"} />);
  expect(container.querySelector("a")?.getAttribute("href")).toBe("https://first.example");
});
