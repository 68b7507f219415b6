// @vitest-environment jsdom
import { act, cleanup, render } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { useState, type ReactNode } from "react";

import { pageActions, usePageActions } from "./pageActions";

afterEach(cleanup);

let turn: (view: string) => void = () => undefined;

function Part({ label }: { label: string }): ReactNode {
  const [view, setView] = useState("plan");
  turn = setView;
  usePageActions([{ id: "view", label: `${label}: ${view}`, icon: "book", act: () => undefined }]);
  return null;
}

test("what a part of the page offers is offered once, as it is now, and while it is shown", () => {
  const page = render(
    <>
      <Part label="Show" />
      <Part label="Show" />
    </>,
  );
  expect(pageActions().map(({ label }) => label)).toEqual(["Show: plan"]);
  act(() => turn("changes"));
  expect(pageActions().map(({ label }) => label)).toEqual(["Show: plan", "Show: changes"]);
  page.unmount();
  expect(pageActions()).toEqual([]);
});
