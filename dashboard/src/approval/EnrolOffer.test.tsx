// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { approversQuery } from "../api/queries";
import type { Approvers } from "../api/types";
import { t } from "../texts/t";
import { EnrolOffer } from "./EnrolOffer";

afterEach(() => {
  cleanup();
  localStorage.clear();
});

function offered(approvers: Approvers["approvers"]) {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  client.setQueryData(approversQuery.queryKey, { approvers, require: "separate", rules: [], needs: [], remember: 900, changes: [], presence: "browser" });
  return render(
    <QueryClientProvider client={client}>
      <EnrolOffer />
    </QueryClientProvider>,
  );
}

test("a person is offered to enrol while nobody is enrolled, until they decline", () => {
  const first = offered([]);
  fireEvent.click(first.getByText(t("enrol.later")));
  expect(first.queryByText(t("enrol.start"))).toBeNull();
  cleanup();
  expect(offered([]).queryByText(t("enrol.start"))).toBeNull();
});

test("nobody is asked where an approver is enrolled", () => {
  const ada = { name: "ada", key: "00", enrolledAt: "2026-03-01T12:01:00Z", passkeys: [] };
  expect(offered([ada]).queryByText(t("enrol.start"))).toBeNull();
});
