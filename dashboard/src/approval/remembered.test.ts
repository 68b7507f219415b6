import { expect, test } from "vitest";

import { ApiProblem } from "../api/client";
import { forgetWrong, remember, remembered } from "./remembered";

const ADA = { approver: "ada", passphrase: "correct horse" };

test("a passphrase is remembered as long as the policy says, from the first decision on", () => {
  remember(ADA, 0, 0);
  expect(remembered(1)).toBeUndefined();
  remember(ADA, 900, 0);
  remember(ADA, 900, 600_000);
  expect(remembered(899_999)).toEqual(ADA);
  expect(remembered(900_000)).toBeUndefined();
});

test("a passphrase that is not taken is forgotten, and other problems forget nothing", () => {
  remember(ADA, 900, 0);
  forgetWrong(new Error("no answer"));
  expect(remembered(1)).toEqual(ADA);
  forgetWrong(new ApiProblem(401, "UNAUTHENTICATED", "This is not the passphrase.", undefined, []));
  expect(remembered(1)).toBeUndefined();
});
