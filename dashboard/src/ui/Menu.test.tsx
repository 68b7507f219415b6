// @vitest-environment jsdom
import { cleanup, configure, fireEvent, render } from "@testing-library/react";
import { afterEach, beforeAll, expect, test, vi } from "vitest";

import { IconButton } from "./basics";
import { Menu } from "./Menu";

configure({ asyncUtilTimeout: 30_000 });

beforeAll(() => {
  // What a menu needs of a browser, and jsdom has not.
  window.ResizeObserver ??= class {
    observe(): void {}
    unobserve(): void {}
    disconnect(): void {}
  };
  window.PointerEvent ??= MouseEvent as unknown as typeof PointerEvent;
});
afterEach(cleanup);

function shown() {
  const act = vi.fn();
  const page = render(<Menu trigger={<IconButton icon="more" label="More" />} items={[{ label: "First", act }, { label: "Second", act: () => undefined }]} />);
  return { page, act, button: () => page.getByRole("button", { name: "More", hidden: true }) };
}

// The first test opens a menu that is not loaded yet, and the second one that is.
test.each(["not loaded yet", "loaded"])("a menu that is %s opens with a key, with the focus on its first item", async () => {
  const { page, act, button } = shown();
  expect(button().getAttribute("aria-haspopup")).toBe("menu");
  button().focus();
  fireEvent.keyDown(button(), { key: "Enter" });
  const first = await page.findByRole("menuitem", { name: "First" });
  await vi.waitFor(() => expect(document.activeElement).toBe(first));
  fireEvent.keyDown(first, { key: "Enter" });
  expect(act).toHaveBeenCalledTimes(1);
  await vi.waitFor(() => expect(document.activeElement).toBe(button()));
});

test("a menu opens with a pointer", async () => {
  const { page, button } = shown();
  fireEvent.pointerDown(button(), { button: 0 });
  await page.findByRole("menuitem", { name: "Second" });
});
