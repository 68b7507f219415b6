import { queryOptions } from "@tanstack/react-query";

import { sessionQuery, type SessionId } from "../session/id";
import { request } from "./client";
import type { PlanChanges, SessionChanges, Undo } from "./types";

const path = encodeURIComponent;

/** What turns of the conversation changed in files, outside of plans. */
export function sessionChangesQuery(id: SessionId) {
  const { sessionId, channel } = sessionQuery(id);
  return queryOptions({
    queryKey: ["changes", id],
    queryFn: ({ signal }) => request<SessionChanges>("GET", `/api/sessions/${path(sessionId)}/changes`, { query: { channel }, signal }),
  });
}

export function planChangesQuery(planId: string) {
  return queryOptions({
    queryKey: ["plan", planId, "changes"],
    queryFn: ({ signal }) => request<PlanChanges>("GET", `/api/plans/${path(planId)}/changes`, { signal }),
  });
}

/** Puts the files back as they were before the last turn that changed some. */
export function undoTurn(id: SessionId, key: string): Promise<Undo> {
  const { sessionId, channel } = sessionQuery(id);
  return request("POST", `/api/sessions/${path(sessionId)}/undo`, { query: { channel }, body: {}, idempotencyKey: key });
}

/** Puts the files back as they were before the plan, or before one of its steps. */
export function undoPlan(planId: string, step: number | undefined, key: string): Promise<Undo> {
  return request("POST", `/api/plans/${path(planId)}/undo`, { body: step === undefined ? {} : { step }, idempotencyKey: key });
}
