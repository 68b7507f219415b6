// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { Refusal, Words } from "./Words";

afterEach(cleanup);

test("a refusal links to the pages of the dashboard that it names, and to nothing else", () => {
  const pages = ["/p/019ca6b1-9d3a", "/s/blog-move-1/runs", "/s/mcp:blog-move-1/memory", "/?item=019ca6b1-ask-1"];
  const others = ["planwright plan approve 1", "//evil.example.org", "/p/../api/logout", "/api/logout", "javascript:alert(1)"];
  const { container } = render(<Refusal text={[...pages, ...others].map((name) => `Look at \`${name}\`.`).join(" ")} />);
  expect([...container.querySelectorAll("a")].map((link) => link.getAttribute("href"))).toEqual(pages);
  expect([...container.querySelectorAll("code")].map((code) => code.textContent)).toEqual(others);
});

test("other sentences have no links", () => {
  const { container } = render(<Words text="Look at `/p/019ca6b1-9d3a`." />);
  expect(container.querySelector("a")).toBeNull();
  expect(container.textContent).toBe("Look at /p/019ca6b1-9d3a.");
});
