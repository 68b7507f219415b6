import { sessionQuery, type SessionId } from "../session/id";
import { once, type Proof } from "./acts";
import { request } from "./client";
import type { Approvers, InboxItem, NewPasskey, PasskeyAnswer, PasskeyChallenge, Plan, PlanStyle, PlanWork, Session, SignedAct, StuckChoice, WorkbookDocument } from "./types";

const path = encodeURIComponent;

export interface Approve {
  kind: "approve";
  digest: string;
  skip: number[];
  note: string;
  review: boolean;
  stepByStep?: boolean;
  /** Where the policy asks for a verified person: who they are, and their passphrase or the answer of their passkey. */
  approver?: string;
  passphrase?: string;
  passkey?: PasskeyAnswer;
}

/** A person's decision about a plan. Sent again with its key, it is carried out once. */
export type PlanDecision =
  | Approve
  | { kind: "reject"; reason: string }
  | { kind: "revise"; feedback: string; review: boolean }
  | { kind: "cancel"; reason: string }
  | Resume;

export interface Resume {
  kind: "resume";
  choice?: StuckChoice;
  afterStep?: number;
  /** Of the plan that was shown, where the policy asks for a verified person. */
  digest?: string;
  /** As for an approval. */
  approver?: string;
  passphrase?: string;
  passkey?: SignedAct;
}

/** Whether a passphrase goes with the decision. */
export function hasPassphrase(decision: PlanDecision): boolean {
  return (decision.kind === "approve" || decision.kind === "resume") && decision.passphrase !== undefined;
}

export type DecidedPlan = Plan & { notCarriedOut?: string };

export function decide(planId: string, decision: PlanDecision, key: string): Promise<DecidedPlan> {
  return request<DecidedPlan>("POST", `/api/plans/${path(planId)}/${decision.kind}`, {
    body: decisionBody(decision),
    // The server keeps a hash of what has a key, and from a hash a passphrase could be guessed.
    ...(hasPassphrase(decision) ? { hasPassphrase: true } : { idempotencyKey: key }),
  });
}

/** What a passkey of the approver has to sign to approve exactly this. */
export function passkeyChallenge(planId: string, approve: Approve): Promise<PasskeyChallenge> {
  return request("POST", `/api/plans/${path(planId)}/approve/challenge`, { body: decisionBody(approve) });
}

/** Enrols the first approver. The code is shown once. */
export function enrolFirst(name: string, passphrase: string): Promise<{ recoveryCode: string }> {
  return request("POST", "/api/approvers", { body: { name, passphrase }, hasPassphrase: true });
}

export function addPasskey(approver: string, passkey: NewPasskey): Promise<Approvers> {
  return request("POST", `/api/approvers/${path(approver)}/passkeys`, { body: passkey, hasPassphrase: true });
}

/** The person has seen what was changed up to this time. */
export function seeChanges(until: string): Promise<Approvers> {
  return request("POST", "/api/approvers/changes/seen", { body: { until } });
}

export function removePasskey(approver: string, id: string, passphrase: string): Promise<Approvers> {
  return request("POST", `/api/approvers/${path(approver)}/passkeys/${path(id)}/remove`, { body: { passphrase }, hasPassphrase: true });
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
        ...(decision.approver === undefined ? {} : { approver: decision.approver }),
        ...(decision.passphrase === undefined ? {} : { passphrase: decision.passphrase }),
        ...(decision.passkey === undefined ? {} : { passkey: decision.passkey }),
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
        ...(decision.digest === undefined ? {} : { digest: decision.digest }),
        ...(decision.approver === undefined ? {} : { approver: decision.approver }),
        ...(decision.passphrase === undefined ? {} : { passphrase: decision.passphrase }),
        ...(decision.passkey === undefined ? {} : { passkey: decision.passkey }),
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

/** Writes a document of the workbook. The version is the one that the text was made from. */
export function writeWorkbook(id: SessionId, which: string, version: number, markdown: string): Promise<WorkbookDocument> {
  return request("PUT", `/api/workbook/${path(which)}`, { body: { ...sessionQuery(id), version, markdown } });
}

/** Signs a browser out, from anywhere. */
export function signOutClient(id: string): Promise<void> {
  return request("DELETE", `/api/clients/${path(id)}`);
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

export interface PermissionAnswer {
  grant: PermissionGrant;
  words: string;
  /** What the person changed the arguments of the call to. */
  args?: Record<string, unknown> | undefined;
}

export interface Answered {
  id: string;
  words: string;
}

/** Permits or refuses a call. Sent again with its key, the first answer counts. */
export function answerPermission(item: InboxItem, answer: PermissionAnswer, key: string, proof?: Proof): Promise<Answered> {
  const { digest, sessionId, channel } = item;
  const { grant, words, args } = answer;
  const more = { ...(words.trim() === "" ? {} : { words: words.trim() }), ...(args === undefined ? {} : { arguments: args }) };
  return request("POST", `/api/permissions/${path(item.id)}`, { body: { digest, sessionId, channel, grant, ...more, ...proof }, ...once(key, proof) });
}

export function answerQuestions(item: InboxItem, answers: string[], key: string): Promise<Answered> {
  const { digest, sessionId, channel } = item;
  return request("POST", `/api/questions/${path(item.id)}`, { body: { digest, sessionId, channel, answers }, idempotencyKey: key });
}

/** Accepts exactly the tools that were shown. */
export function acceptTools(server: string, digest: string, key: string, proof?: Proof): Promise<{ name: string }> {
  return request("POST", `/api/mcp-servers/${path(server)}/accept`, { body: { digest, ...proof }, ...once(key, proof) });
}
