import { sessionQuery, type SessionId } from "../session/id";
import type { ApproverEntry } from "../approval/ApproverFields";
import type { NewSchedule, RunTarget } from "./auto";
import { request } from "./client";
import type { PermissionAnswer, Resume } from "./decisions";
import type { ActChallenge, ActToSign, InboxItem, SignedAct } from "./types";

/** How an approver is recognised with an act: by their passphrase, or by the answer of a passkey. */
export type Proof = ApproverEntry | { approver: string; passkey: SignedAct };

/** A request with a passphrase takes no key: the server keeps a hash of what has one, and from a hash a passphrase could be guessed. */
export function once(key: string, proof: Proof | undefined): { idempotencyKey: string } | { hasPassphrase: true } {
  if (proof === undefined) return { idempotencyKey: key };
  // Another signature makes it another request.
  return "passphrase" in proof ? { hasPassphrase: true } : { idempotencyKey: `${key}-${proof.passkey.nonce}` };
}

/** What a passkey of the approver has to sign to do exactly this. */
export function actChallenge(act: ActToSign, approver: string): Promise<ActChallenge> {
  return request("POST", "/api/acts/challenge", { body: { ...act, approver } });
}

// What is signed for each act, as the call that does it says it.

export function startRunAct(id: SessionId, on: RunTarget): ActToSign {
  return { kind: "start_run", ...sessionQuery(id), ...on };
}

export function resumeRunAct(id: SessionId, run: string): ActToSign {
  return { kind: "resume_run", ...sessionQuery(id), id: run };
}

export function addScheduleAct(id: SessionId, { goalId, ...schedule }: NewSchedule): ActToSign {
  return { kind: "add_schedule", ...sessionQuery(id), schedule, ...(goalId === undefined ? {} : { goalId }) };
}

export function resumeScheduleAct(id: SessionId, schedule: string): ActToSign {
  return { kind: "resume_schedule", ...sessionQuery(id), id: schedule };
}

export function promoteAct(id: SessionId, memory: string): ActToSign {
  return { kind: "promote", ...sessionQuery(id), id: memory };
}

export function permitAct({ id, digest, sessionId, channel }: InboxItem, { grant, args }: PermissionAnswer): ActToSign {
  return { kind: "permit", id, digest, sessionId, channel, grant, ...(args === undefined ? {} : { arguments: args }) };
}

export function acceptToolsAct(server: string, digest: string): ActToSign {
  return { kind: "accept_tools", id: server, digest };
}

/** A plan continues, or the step that it stopped at is settled. */
export function continueAct(planId: string, { choice, afterStep }: Resume): ActToSign | undefined {
  // To stop asks for nothing.
  if (choice === "stop") return undefined;
  return { kind: choice ?? (afterStep === undefined ? "resume" : "release"), id: planId, ...(afterStep === undefined ? {} : { afterStep }) };
}
