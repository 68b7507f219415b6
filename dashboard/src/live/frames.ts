import type { Actor, Answer, StepStatus, ToolStatus } from "../api/types";

/** An entry of a session's journal as a frame. `event` is what is stored. */
export interface EntryFrame {
  type: string;
  sessionId: string;
  channel: string;
  seq: number;
  at: string;
  by: Actor;
  planId: string | null;
  event: JournalEvent;
}

export type JournalEvent = { type: string } & Record<string, unknown>;

/** The progress of a running turn. It is stored nowhere. */
export type Progress =
  | { type: "waiting" | "model_called" | "compacting" }
  | { type: "accepted" | "resumed"; turnId: string }
  | { type: "finished"; answer: Answer }
  | { type: "text"; text: string }
  | { type: "again"; why: string; waitMs: number }
  | { type: "replied"; calls: number }
  | { type: "tool_started"; name: string; detail: string }
  | { type: "tool_ended"; name: string; status: ToolStatus; detail: string; tookMs: number }
  | { type: "step_started"; position: number; total: number; about: string }
  | { type: "step_ended"; position: number; total: number; about: string; status: StepStatus; note: string | null; tookMs: number }
  | { type: "said"; text: string }
  | { type: "compacted"; messages: number };

export interface ProblemFrame {
  code: string;
  detail: string;
  status: number;
}

/** What a follower of one session is told. */
export type SessionNews =
  | { kind: "subscribed"; seq: number }
  | { kind: "entry"; entry: EntryFrame }
  | { kind: "progress"; progress: Progress }
  | { kind: "gone" }
  | { kind: "problem"; problem: ProblemFrame };
