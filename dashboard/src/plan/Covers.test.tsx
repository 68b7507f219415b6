// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import type { Plan } from "../api/types";
import { Covers } from "./Covers";

afterEach(cleanup);

test("a host in letters of another alphabet is also named as it is asked", () => {
  const plan = { style: "document", markdown: "See https://\u0430\u0440\u0440\u04cf\u0435.com/x and https://a.example.", steps: [] } as unknown as Plan;
  const { container } = render(<Covers plan={plan} />);
  expect([...container.querySelectorAll("dd")].map((host) => host.textContent)).toEqual(["a.example", "\u0430\u0440\u0440\u04cf\u0435.com → xn--80ak6aa92e.com"]);
});
