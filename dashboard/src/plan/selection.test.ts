import { expect, test } from "vitest";

import type { Step } from "../api/types";
import { leftOut } from "./selection";

const steps = ([[], ["s1"], ["s1"], ["s2", "s3"], ["s4"], ["s2"]] as string[][]).map(
  (needs, index): Step => ({ id: `s${index + 1}`, position: index + 1, description: "", status: "PENDING", needs }),
);

test.each([
  [[], []],
  [[6], ["6"]],
  [[3], ["3", "4<3", "5<4"]],
  [[1], ["1", "2<1", "3<1", "4<2", "5<4", "6<2"]],
  [[2, 4], ["2", "4", "5<4", "6<2"]],
])("without %j these are left out: %j", (unticked, expected) => {
  const out = leftOut(steps, new Set(unticked));
  expect(out.map(({ position, because }) => (because === undefined ? `${position}` : `${position}<${because}`))).toEqual(expected);
});
