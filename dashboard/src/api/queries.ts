import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { sessionQuery, type SessionId } from "../session/id";
import { request, send } from "./client";
import { reviewQuery } from "./review";
import type { Approvers, CallPreview, ClientBrowser, Command, Inbox, InboxItem, JournalPage, Plan, PlanDiff, PlanHistory, PlanList, RecentPlans, ServerInfo, Session, SessionList, SessionState, UndeliveredMessage, Workbook } from "./types";

const path = encodeURIComponent;

export const sessionsQuery = infiniteQueryOptions({
  queryKey: ["sessions"],
  queryFn: ({ pageParam, signal }) =>
    request<SessionList>("GET", "/api/sessions", { query: { after: pageParam, limit: 64 }, signal }),
  initialPageParam: undefined as number | undefined,
  getNextPageParam: (page) => page.next ?? undefined,
  // Changes are told over the WebSocket; this is for what happens without an entry in a journal.
  refetchInterval: 120_000,
});

/** Sessions with these words in their name, topic or key. */
export function sessionSearchQuery(words: string) {
  return infiniteQueryOptions({
    queryKey: ["sessions", "search", words],
    queryFn: ({ pageParam, signal }) =>
      request<SessionList>("GET", "/api/sessions", { query: { q: words, after: pageParam, limit: 64 }, signal }),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  });
}

/** The plans that ended last, over all sessions. */
export const recentPlansQuery = queryOptions({
  queryKey: ["inbox", "recent"],
  queryFn: async ({ signal }) => (await request<RecentPlans>("GET", "/api/plans/recent", { query: { limit: 3 }, signal })).plans,
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

/** The plan as it was in one version. Its text and steps never change. */
export function planVersionQuery(planId: string, version: number) {
  return queryOptions({
    queryKey: ["plan-version", planId, version],
    queryFn: ({ signal }) => request<Plan>("GET", `/api/plans/${path(planId)}`, { query: { version }, signal }),
    staleTime: Infinity,
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
  // A process that dies leaves no entry; everything else is told over the WebSocket.
  refetchInterval: 60_000,
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

/** A page of the journal, the newest entry first: before an entry, or up to a time. */
export function journalBefore(id: SessionId, from: { before?: number; at?: string }, limit: number, signal?: AbortSignal): Promise<JournalPage> {
  const { sessionId, channel } = sessionQuery(id);
  return request<JournalPage>("GET", `/api/sessions/${path(sessionId)}/journal`, { query: { channel, ...from, limit }, signal });
}

/** The session as it was after an entry. It never changes. */
export function stateQuery(id: SessionId, seq: number) {
  const { sessionId, channel } = sessionQuery(id);
  return queryOptions({
    queryKey: ["state", id, seq],
    queryFn: ({ signal }) => request<SessionState>("GET", `/api/sessions/${path(sessionId)}/state`, { query: { channel, seq }, signal }),
    staleTime: Infinity,
  });
}

/** Recorded calls that write files, against the files as they are now. */
export function previewQuery(planId: string) {
  return queryOptions({
    queryKey: ["plan", planId, "preview"],
    queryFn: async ({ signal }) => (await request<{ steps: CallPreview[] }>("GET", `/api/plans/${path(planId)}/preview`, { signal })).steps,
    // Files change without an entry in the journal, too.
    staleTime: 0,
  });
}

/** The browsers that are signed in. */
export const clientsQuery = queryOptions({
  queryKey: ["clients"],
  queryFn: async ({ signal }) => (await request<{ clients: ClientBrowser[] }>("GET", "/api/clients", { signal })).clients,
});

/** Messages that could not be delivered to where a person wants them. */
export const undeliveredQuery = queryOptions({
  queryKey: ["undelivered"],
  queryFn: async ({ signal }) => (await request<{ items: UndeliveredMessage[] }>("GET", "/api/notifications", { query: { undelivered: "true" }, signal })).items,
  refetchInterval: 10_000,
  retry: false,
});

/** One entry. What was written never changes. */
export function entryQuery(id: SessionId, seq: number) {
  return queryOptions({
    queryKey: ["entry", id, seq],
    queryFn: async ({ signal }) => (await journalPage(id, seq - 1, 1, signal)).entries[0] ?? null,
    staleTime: Infinity,
  });
}

/** What the server is and offers. It changes with a restart. */
export const serverQuery = queryOptions({
  queryKey: ["server"],
  queryFn: ({ signal }) => request<ServerInfo>("GET", "/api/server", { signal }),
  staleTime: 60_000,
});

export const commandsQuery = queryOptions({
  queryKey: ["commands"],
  queryFn: async ({ signal }) => (await request<{ commands: Command[] }>("GET", "/api/commands", { signal })).commands,
  staleTime: Infinity,
});

/** Who may approve, what the policy asks for, and how this browser is recognised. */
export const approversQuery = queryOptions({
  queryKey: ["approvers"],
  queryFn: ({ signal }) => request<Approvers>("GET", "/api/approvers", { signal }),
});

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
