// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import type { Step } from "../api/types";
import { StepList } from "./StepList";

afterEach(cleanup);

test("each call says which program makes it", () => {
  const step = (position: number, madeBy: Step["madeBy"]): Step => ({ id: `s${position}`, position, description: "note", status: "PENDING", tool: "up__note", arguments: {}, ...(madeBy && { madeBy }) });
  const { container } = render(<StepList steps={[step(1, "planwright"), step(2, "client"), step(3, undefined)]} />);
  const rows = [...container.querySelectorAll(".step-body")].map((row) => row.querySelector(".step-about")?.textContent);
  expect(rows).toEqual(["Planwright makes this call", "the agent makes this call", undefined]);
});
