// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { HOSTILE } from "../../tests/browser/script";
import { Markdown } from "./Markdown";

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
