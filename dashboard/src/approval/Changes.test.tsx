// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import type { Approvers } from "../api/types";
import { Changes } from "./ApproversSection";

afterEach(cleanup);

test.each(["browser", "token"])("a person in a %s reads what was changed, by whom and from where", (presence) => {
  const change = { at: "2026-03-01T12:03:00Z", what: "the approval policy was weakened from `verified` to `any`", by: "ada through cli", recognised: "at a terminal, not verified", weakens: true };
  const found = { approvers: [], require: "any", rules: [], needs: [], changes: [change], presence, remember: 0 } as Approvers;
  const { container, getByRole } = render(
    <QueryClientProvider client={new QueryClient()}>
      <Changes found={found} />
    </QueryClientProvider>,
  );
  for (const words of [change.what, change.by, change.recognised]) expect(container.textContent).toContain(words);
  const off = getByRole("button").getAttribute("aria-disabled") === "true" || getByRole("button").hasAttribute("disabled");
  expect(off).toBe(presence !== "browser");
});
