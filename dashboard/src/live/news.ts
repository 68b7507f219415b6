import type { QueryClient, QueryKey } from "@tanstack/react-query";

import { sessionIdOf, type SessionId } from "../session/id";
import type { SessionChange, SessionNews } from "./frames";

/** Entries about what an agent asks a person. */
const ASKS: ReadonlySet<string> = new Set(["permission_asked", "permission_answered", "questions_asked", "questions_answered"]);

/** Entries about goals, tasks, the diary, runs and schedules. */
const AUTO = /^(?:goal|task|diary|run|schedule)_/;

/** Which cached answers an event makes old. Only those of its own session, its plan, and the lists over all sessions. */
export function staleAfter(session: SessionId, news: SessionNews): QueryKey[] {
  switch (news.kind) {
    case "gone":
      return [["sessions"], ["inbox"]];
    case "entry": {
      const { type, planId, event } = news.entry;
      const keys: QueryKey[] = [];
      const plan = planId ?? (typeof event.plan === "string" ? event.plan : undefined);
      if (plan !== undefined && plan !== null) keys.push(["plan", plan], ["plan-control-state", session], ["inbox"]);
      // A comment may be on the plan that another one replaced.
      if (type === "review_answered" || type === "comment_resolved") keys.push(["plan"]);
      if (type === "plan_mode_disabled" || type === "conversation_reset") keys.push(["plan-control-state", session], ["inbox"]);
      if (type.startsWith("workbook_")) keys.push(["workbook", session]);
      if (AUTO.test(type)) keys.push(["auto", session]);
      // A run that pauses or continues is in the inbox, too.
      if (type.startsWith("run_") && type !== "run_ticked") keys.push(["inbox"]);
      // What is promoted, or taken back, concerns every session.
      if (type.startsWith("memory_")) keys.push(type === "memory_saved" ? ["memory", session] : ["memory"]);
      if (type === "files_changed" || type === "changes_undone") keys.push(["changes", session], ["files", session]);
      if (ASKS.has(type)) keys.push(["inbox"]);
      if (SHOWN_IN_LISTS.has(type)) keys.push(["sessions"]);
      // A turn that ends may leave a plan paused.
      if (type === "turn_ended") keys.push(["inbox"], ["plan-control-state", session]);
      return keys;
    }
    case "progress":
    case "subscribed":
    case "problem":
      return [];
  }
}

/** The same for a session that no page of this tab follows: the server tells only the kind of the entry. */
export function staleAfterChange({ session, kinds }: SessionChange): QueryKey[] {
  if (session === undefined) return [["sessions"], ["inbox"], ["plan-control-state"], ["plan"]];
  const keys: QueryKey[] = [];
  if (kinds.some((kind) => kind === "session" || kind === "turn" || kind === "plan")) keys.push(["sessions"]);
  if (kinds.some((kind) => kind === "turn" || kind === "plan")) keys.push(["inbox"], ["plan-control-state", session]);
  if (kinds.includes("session")) keys.push(["inbox"]);
  if (kinds.includes("workbook")) keys.push(["workbook", session]);
  return keys;
}

/** The cached plans of a session, and those whose first answer is still to come: it will say which session they are of. */
export function plansOf(client: QueryClient, session: SessionId): QueryKey[] {
  const plans = client.getQueryCache().findAll({ queryKey: ["plan"], predicate: ({ queryKey }) => queryKey.length === 2 });
  return plans.filter(({ state }) => state.data === undefined || isOf(state.data, session)).map(({ queryKey }) => queryKey);
}

function isOf(data: unknown, session: SessionId): boolean {
  if (typeof data !== "object" || data === null || !("sessionId" in data) || !("channel" in data)) return false;
  return sessionIdOf({ sessionId: String(data.sessionId), channel: String(data.channel) }) === session;
}

const SHOWN_IN_LISTS = new Set([
  "session_opened",
  "session_renamed",
  "turn_begun",
  "turn_ended",
  "plan_created",
  "plan_mode_enabled",
  "plan_mode_disabled",
  "plan_approved",
  "execution_finished",
  "execution_paused",
]);

/** Marks answers as old a moment later: a burst of events leads to one request each. */
export class Invalidator {
  #keys = new Map<string, QueryKey>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly client: QueryClient,
    private readonly wait = 60,
  ) {}

  take(session: SessionId, news: SessionNews): void {
    this.#add(staleAfter(session, news));
  }

  takeChange(change: SessionChange): void {
    this.#add(staleAfterChange(change));
    if (change.session !== undefined && change.kinds.includes("plan")) this.#add(plansOf(this.client, change.session));
  }

  #add(keys: readonly QueryKey[]): void {
    for (const key of keys) this.#keys.set(JSON.stringify(key), key);
    if (this.#keys.size === 0 || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const keys = [...this.#keys.values()];
      this.#keys.clear();
      for (const queryKey of keys) this.#invalidate(queryKey);
    }, this.wait);
  }

  /** A query's first request is not sent again while it is under way. Its answer may be older than the event, so it is asked for once more. */
  #invalidate(queryKey: QueryKey): void {
    const loading = this.client.getQueryCache().findAll({ queryKey, fetchStatus: "fetching", predicate: ({ state }) => state.data === undefined });
    void this.client.invalidateQueries({ queryKey });
    for (const query of loading) {
      const again = () => this.client.invalidateQueries({ queryKey: query.queryKey, exact: true }, { cancelRefetch: false });
      void query.promise?.then(again, () => undefined);
    }
  }
}
