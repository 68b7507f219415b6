import { sessionQuery, type SessionId } from "../session/id";
import { request } from "./client";
import type { InboxItem, Plan, PlanStyle, PlanWork, Session, StuckChoice } from "./types";

const path = encodeURIComponent;

/** A person's decision about a plan. Sent again with its key, it is carried out once. */
export type PlanDecision =
  | { kind: "approve"; digest: string; skip: number[]; note: string; review: boolean; stepByStep?: boolean }
  | { kind: "reject"; reason: string }
  | { kind: "revise"; feedback: string; review: boolean }
  | { kind: "cancel"; reason: string }
  | { kind: "resume"; choice?: StuckChoice; afterStep?: number };

export type DecidedPlan = Plan & { notCarriedOut?: string };

export function decide(planId: string, decision: PlanDecision, key: string): Promise<DecidedPlan> {
  return request<DecidedPlan>("POST", `/api/plans/${path(planId)}/${decision.kind}`, {
    body: decisionBody(decision),
    idempotencyKey: key,
  });
}

export function decisionBody(decision: PlanDecision): Record<string, unknown> {
  switch (decision.kind) {
    case "approve":
      return {
        digest: decision.digest,
        ...(decision.skip.length > 0 ? { skip: decision.skip } : {}),
        ...(decision.note.trim() === "" ? {} : { note: decision.note.trim() }),
        ...(decision.review ? { review: true } : {}),
        ...(decision.stepByStep === true ? { stepByStep: true } : {}),
      };
    case "revise":
      return { feedback: decision.feedback.trim(), ...(decision.review ? { review: true } : {}) };
    case "reject":
    case "cancel":
      return decision.reason.trim() === "" ? {} : { reason: decision.reason.trim() };
    case "resume":
      return {
        ...(decision.choice === undefined ? {} : { choice: decision.choice }),
        // A go is for the step that was shown, and not for a later one.
        ...(decision.afterStep === undefined ? {} : { afterStep: decision.afterStep }),
      };
  }
}

export function enablePlanWork(id: SessionId, style: PlanStyle): Promise<PlanWork> {
  return request("POST", "/api/plans/enable", { body: { ...sessionQuery(id), style } });
}

export function disablePlanWork(id: SessionId): Promise<PlanWork> {
  return request("POST", "/api/plans/disable", { body: sessionQuery(id) });
}

export function endPlanWork(id: SessionId): Promise<PlanWork> {
  return request("POST", "/api/plans/done", { body: sessionQuery(id) });
}

export function createSession(key: string): Promise<Session> {
  return request("POST", "/api/sessions", { body: {}, idempotencyKey: key });
}

export function renameSession(id: SessionId, title: string): Promise<Session> {
  const { sessionId, channel } = sessionQuery(id);
  return request("PATCH", `/api/sessions/${path(sessionId)}`, { query: { channel }, body: { title } });
}

export function deleteSession(id: SessionId): Promise<void> {
  const { sessionId, channel } = sessionQuery(id);
  return request("DELETE", `/api/sessions/${path(sessionId)}`, { query: { channel } });
}

export function stopSession(id: SessionId): Promise<unknown> {
  const { sessionId, channel } = sessionQuery(id);
  return request("POST", `/api/sessions/${path(sessionId)}/stop`, { query: { channel }, body: {} });
}

export type PermissionGrant = "once" | "plan" | "always" | "no";

export interface Answered {
  id: string;
  words: string;
}

/** Permits or refuses a call. Sent again with its key, the first answer counts. */
export function answerPermission(item: InboxItem, grant: PermissionGrant, words: string, key: string): Promise<Answered> {
  const { digest, sessionId, channel } = item;
  const said = words.trim() === "" ? {} : { words: words.trim() };
  return request("POST", `/api/permissions/${path(item.id)}`, { body: { digest, sessionId, channel, grant, ...said }, idempotencyKey: key });
}

export function answerQuestions(item: InboxItem, answers: string[], key: string): Promise<Answered> {
  const { digest, sessionId, channel } = item;
  return request("POST", `/api/questions/${path(item.id)}`, { body: { digest, sessionId, channel, answers }, idempotencyKey: key });
}

/** Accepts exactly the tools that were shown. */
export function acceptTools(server: string, digest: string, key: string): Promise<{ name: string }> {
  return request("POST", `/api/mcp-servers/${path(server)}/accept`, { body: { digest }, idempotencyKey: key });
}
