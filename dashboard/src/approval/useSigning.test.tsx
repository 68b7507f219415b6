// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, configure, fireEvent, render, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { ReactNode } from "react";

import { once, type Proof } from "../api/acts";
import { ApiProblem } from "../api/client";
import { approversQuery } from "../api/queries";
import type { ActToSign, Approvers } from "../api/types";
import { t } from "../texts/t";
import { forget } from "./remembered";
import { useNeeds, useSigning, type Signable } from "./useSigning";

// A loaded machine takes its time.
configure({ asyncUtilTimeout: 30_000 });

afterEach(() => {
  cleanup();
  forget();
});

const ACT: ActToSign = { kind: "start_run", sessionId: "blog-move-1" };
const ada = { name: "ada", key: "00", enrolledAt: "2026-03-01T12:01:00Z", passkeys: [] };

/** `mcp` asks for a signature. */
function policy(remember: number): Approvers {
  const needs = [
    { channel: "web" as const, starts: "separate", promotes: "separate" },
    { channel: "mcp" as const, starts: "verified", promotes: "verified" },
  ];
  return { approvers: [ada], require: "separate", rules: [], needs, remember, changes: [], presence: "browser" };
}

/** A page with one button, in a session of this channel. */
function shown(session: string, perform: (proof: Proof | undefined) => Promise<unknown>, act: ActToSign | undefined = ACT, remember = 900, isKnown = true) {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  if (isKnown) client.setQueryData(approversQuery.queryKey, policy(remember));
  function Page(): ReactNode {
    const signing = useSigning(useNeeds(session)?.starts, "run");
    return (
      <>
        {signing.note}
        <button type="button" onClick={() => void signing.begin({ title: "Run", send: "Sign it", act, perform })}>
          {t("runs.start")}
        </button>
        <output aria-busy={signing.busy}>{signing.problem === undefined ? "" : String(signing.problem)}</output>
        {signing.dialog}
      </>
    );
  }
  return render(
    <QueryClientProvider client={client}>
      <Page />
    </QueryClientProvider>,
  );
}

function typePassphrase(page: ReturnType<typeof shown>, passphrase: string): void {
  fireEvent.change(page.getByLabelText(t("verify.passphrase")), { target: { value: passphrase } });
  fireEvent.click(page.getByText("Sign it"));
}

const WORDS = t("verify.before.run", { proof: t("verify.onlyPassphrase") });

test("where nothing is asked for the act is done at once", async () => {
  const perform = vi.fn(async () => undefined);
  const page = shown("blog-move-1", perform);
  expect(page.queryByText(WORDS)).toBeNull();
  fireEvent.click(page.getByText(t("runs.start")));
  await waitFor(() => expect(perform.mock.calls).toEqual([[undefined]]));
});

test("a signature is announced, asked for before anything is sent, and remembered", async () => {
  const perform = vi.fn(async () => undefined);
  const page = shown("mcp:blog-move-1", perform);
  expect(page.queryByText(WORDS)).not.toBeNull();
  fireEvent.click(page.getByText(t("runs.start")));
  expect(perform).not.toHaveBeenCalled();
  typePassphrase(page, "correct horse battery");
  await waitFor(() => expect(page.queryByRole("dialog")).toBeNull());
  const given = { approver: "ada", passphrase: "correct horse battery" };
  expect(perform.mock.calls).toEqual([[given]]);
  fireEvent.click(page.getByText(t("runs.start")));
  await waitFor(() => expect(perform.mock.calls).toEqual([[given], [given]]));
});

test("what is clicked before the policy is known waits for it", async () => {
  const perform = vi.fn(async () => undefined);
  let answer = (_: unknown): void => undefined;
  const asked = vi.spyOn(globalThis, "fetch").mockImplementation(
    () => new Promise((resolve) => {
      answer = (body) => resolve(new Response(JSON.stringify(body), { headers: { "content-type": "application/json" } }));
    }),
  );
  const page = shown("mcp:blog-move-1", perform, ACT, 900, false);
  await waitFor(() => expect(asked).toHaveBeenCalled());
  fireEvent.click(page.getByText(t("runs.start")));
  await waitFor(() => expect(page.container.querySelector("output")?.getAttribute("aria-busy")).toBe("true"));
  expect(perform).not.toHaveBeenCalled();
  answer(policy(900));
  await page.findByRole("dialog");
  expect(perform).not.toHaveBeenCalled();
  typePassphrase(page, "correct horse battery");
  await waitFor(() => expect(perform.mock.calls).toEqual([[{ approver: "ada", passphrase: "correct horse battery" }]]));
  asked.mockRestore();
});

test("a wrong passphrase keeps the question open, and says so there", async () => {
  const wrong = new ApiProblem(401, "UNAUTHENTICATED", "This is not the passphrase.", undefined, []);
  const perform = vi.fn<() => Promise<void>>().mockRejectedValueOnce(wrong).mockResolvedValueOnce(undefined);
  const page = shown("mcp:blog-move-1", perform, ACT, 0);
  fireEvent.click(page.getByText(t("runs.start")));
  typePassphrase(page, "let me in");
  await page.findByText("This is not the passphrase.");
  expect(page.container.querySelector("output")?.textContent).toBe("");
  typePassphrase(page, "correct horse battery");
  await waitFor(() => expect(page.queryByRole("dialog")).toBeNull());
  expect(perform).toHaveBeenCalledTimes(2);
});

test("what only stops something is not signed", async () => {
  const perform = vi.fn(async () => undefined);
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  client.setQueryData(approversQuery.queryKey, { approvers: [ada], require: "verified", rules: [], needs: [], remember: 900, changes: [], presence: "browser" });
  function Page(): ReactNode {
    const signing = useSigning("verified", "run");
    return (
      <>
        <button type="button" onClick={() => void signing.begin({ title: "Run", send: "Stop it", act: undefined, perform })}>
          {t("composer.stop")}
        </button>
        {signing.dialog}
      </>
    );
  }
  const page = render(
    <QueryClientProvider client={client}>
      <Page />
    </QueryClientProvider>,
  );
  fireEvent.click(page.getByText(t("composer.stop")));
  await waitFor(() => expect(perform.mock.calls).toEqual([[undefined]]));
  expect(page.queryByRole("dialog")).toBeNull();
});

test("what changed after it was shown is shown anew, and signed by another act", async () => {
  const stale = new ApiProblem(409, "STALE_APPROVAL", "It is not what was shown any more. Look at it again.", undefined, []);
  const signed: string[] = [];
  const words = { now: "move the blog" };
  function Page(): ReactNode {
    const signing = useSigning("verified", "run");
    const signable = (shown: string): Signable => ({
      title: "Run",
      send: "Sign it",
      shown,
      act: ACT,
      perform: async () => {
        if (shown !== words.now) throw stale;
        signed.push(shown);
      },
      reload: async () => (words.now === "" ? undefined : signable(words.now)),
    });
    return (
      <>
        <button type="button" onClick={() => void signing.begin(signable("move the blog"))}>
          {t("runs.start")}
        </button>
        <output>{signing.problem === undefined ? "" : String(signing.problem)}</output>
        {signing.dialog}
      </>
    );
  }
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  client.setQueryData(approversQuery.queryKey, { approvers: [ada], require: "verified", rules: [], needs: [], remember: 900, changes: [], presence: "browser" });
  const page = render(
    <QueryClientProvider client={client}>
      <Page />
    </QueryClientProvider>,
  );
  fireEvent.click(page.getByText(t("runs.start")));
  expect(page.queryByText(t("sign.changed"))).toBeNull();
  words.now = "delete the blog";
  typePassphrase(page, "correct horse battery");
  await page.findByText(t("sign.changed"));
  expect(page.queryByText("delete the blog")).not.toBeNull();
  // What was typed for other words is not sent with these.
  expect((page.getByLabelText(t("verify.passphrase")) as HTMLInputElement).value).toBe("");
  expect(signed).toEqual([]);
  typePassphrase(page, "correct horse battery");
  await waitFor(() => expect(page.queryByRole("dialog")).toBeNull());
  expect(signed).toEqual(["delete the blog"]);
  // What the page remembers does not sign what was not shown either.
  fireEvent.click(page.getByText(t("runs.start")));
  await page.findByText(t("sign.changed"));
  expect(signed).toHaveLength(1);
  // What is gone cannot be asked about: the refusal is said on the page.
  words.now = "";
  typePassphrase(page, "correct horse battery");
  await waitFor(() => expect(page.queryByRole("dialog")).toBeNull());
  expect(page.container.querySelector("output")?.textContent).toContain("Look at it again.");
});

test("a refusal without a question is shown on the page", async () => {
  const page = shown("blog-move-1", async () => Promise.reject(new ApiProblem(403, "POLICY_DENIED", "Not from here.", undefined, [])));
  fireEvent.click(page.getByText(t("runs.start")));
  await waitFor(() => expect(page.container.querySelector("output")?.textContent).toContain("Not from here."));
});

test("a passphrase goes without a key, and each signature of a passkey has its own", () => {
  expect(once("key", undefined)).toEqual({ idempotencyKey: "key" });
  expect(once("key", { approver: "ada", passphrase: "correct horse battery" })).toEqual({ hasPassphrase: true });
  const passkey = { approver: "ada", act: { kind: "start_run" as const, subject: "a run", digest: "00" }, at: "2026-03-01T12:03:00Z", nonce: "0a", credential: "AQ", clientData: "{}", authenticatorData: "AQ", signature: "AQ" };
  expect(once("key", { approver: "ada", passkey })).toEqual({ idempotencyKey: "key-0a" });
});
