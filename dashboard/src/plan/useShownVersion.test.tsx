// @vitest-environment jsdom
import { act, renderHook } from "@testing-library/react";
import { expect, test } from "vitest";

import type { Plan } from "../api/types";
import { useShownVersion } from "./useShownVersion";

const plan = (version: number, status: Plan["status"]) => ({ version, digest: `d${version}`, status }) as Plan;

test("a plan that is being written is followed; one that waits is held until the newer version was looked at", () => {
  const { result, rerender } = renderHook(({ at }) => useShownVersion(at), { initialProps: { at: plan(0, "COLLECTING") } });
  rerender({ at: plan(1, "READY") });
  expect(result.current.shown.version).toBe(1);
  rerender({ at: plan(2, "READY") });
  expect(result.current.shown.version).toBe(1);
  rerender({ at: plan(2, "COLLECTING") });
  rerender({ at: plan(3, "READY") });
  expect(result.current.shown.version).toBe(1);
  act(() => result.current.accept());
  expect(result.current.shown).toMatchObject({ version: 3, digest: "d3" });
});
