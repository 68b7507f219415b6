import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { sessionQuery, type SessionId } from "../session/id";
import { request, send } from "./client";
import { reviewQuery } from "./review";
import type { Inbox, InboxItem, JournalPage, Plan, PlanDiff, PlanHistory, PlanList, Session, SessionList, Workbook } from "./types";

const path = encodeURIComponent;

export const sessionsQuery = infiniteQueryOptions({
  queryKey: ["sessions"],
  queryFn: ({ pageParam, signal }) =>
    request<SessionList>("GET", "/api/sessions", { query: { after: pageParam, limit: 64 }, signal }),
  initialPageParam: undefined as number | undefined,
  getNextPageParam: (page) => page.next ?? undefined,
  refetchInterval: 30_000,
});

export function fetchSession(id: SessionId, signal?: AbortSignal): Promise<Session> {
  const { sessionId, channel } = sessionQuery(id);
  return request<Session>("GET", `/api/sessions/${path(sessionId)}`, { query: { channel }, signal });
}

/** The plan work of one session. Every part of the dashboard that shows it reads it under this key. */
export function planControlQuery(id: SessionId) {
  return queryOptions({
    queryKey: ["plan-control-state", id],
    queryFn: ({ signal }) => request<PlanList>("GET", "/api/plans", { query: sessionQuery(id), signal }),
  });
}

export function planQuery(planId: string) {
  return queryOptions({
    queryKey: ["plan", planId],
    queryFn: ({ signal }) => request<Plan>("GET", `/api/plans/${path(planId)}`, { signal }),
    // Whether a process works on it can change without an entry in the journal.
    refetchInterval: (query) => (query.state.data?.status === "EXECUTING" ? 5_000 : false),
  });
}

export function planHistoryQuery(planId: string) {
  return queryOptions({
    queryKey: ["plan", planId, "history"],
    queryFn: ({ signal }) => request<PlanHistory>("GET", `/api/plans/${path(planId)}/history`, { signal }),
  });
}

export function planDiffQuery(planId: string, from: number | undefined, to: number | undefined) {
  return queryOptions({
    queryKey: ["plan", planId, "diff", from ?? null, to ?? null],
    queryFn: ({ signal }) => request<PlanDiff>("GET", `/api/plans/${path(planId)}/diff`, { query: { from, to }, signal }),
  });
}

export const inboxQuery = queryOptions({
  queryKey: ["inbox"],
  queryFn: ({ signal }) => wholeInbox(signal),
  refetchInterval: 15_000,
  refetchIntervalInBackground: true,
});

/** All pages: people decide over all that waits, and that is rarely more than a page. */
async function wholeInbox(signal: AbortSignal): Promise<InboxItem[]> {
  const items: InboxItem[] = [];
  let after: number | undefined;
  for (let page = 0; page < 16; page += 1) {
    const inbox: Inbox = await request<Inbox>("GET", "/api/inbox", { query: { after, limit: 64 }, signal });
    items.push(...inbox.items);
    if (inbox.next === null) break;
    after = inbox.next;
  }
  return items;
}

export function workbookQuery(id: SessionId) {
  return queryOptions({
    queryKey: ["workbook", id],
    queryFn: ({ signal }) => request<Workbook>("GET", "/api/workbook", { query: sessionQuery(id), signal }),
  });
}

export function journalPage(id: SessionId, after: number, limit: number, signal?: AbortSignal): Promise<JournalPage> {
  const { sessionId, channel } = sessionQuery(id);
  return request<JournalPage>("GET", `/api/sessions/${path(sessionId)}/journal`, { query: { channel, after, limit }, signal });
}

/** One entry. What was written never changes. */
export function entryQuery(id: SessionId, seq: number) {
  return queryOptions({
    queryKey: ["entry", id, seq],
    queryFn: async ({ signal }) => (await journalPage(id, seq - 1, 1, signal)).entries[0] ?? null,
    staleTime: Infinity,
  });
}

export const healthQuery = queryOptions({
  queryKey: ["health"],
  queryFn: async ({ signal }) => {
    // A body that is not read keeps the request open.
    await (await send("GET", "/readyz", { signal })).text();
    return "ready" as const;
  },
  refetchInterval: 15_000,
  retry: false,
});

export { reviewQuery };
