import type { ReactNode } from "react";

import type { Plan, PlanStatus, StepStatus } from "../api/types";
import { t } from "../texts/t";

/** The four colours of states, and grey. */
export type Tone = "waiting" | "running" | "done" | "failed" | "quiet";

/** How a plan stands, with what is known about who works on it. */
export type PlanState = PlanStatus | "PAUSED" | "UNCERTAIN" | "ASKING" | "FAILED" | "LEFT_TO_AGENT";

export function planState(plan: Pick<Plan, "status" | "activity" | "execution">): PlanState {
  const { failed = 0, uncertain = 0 } = plan.execution?.counts ?? {};
  if (plan.status === "PARTIALLY_COMPLETED") return failed > 0 ? "FAILED" : uncertain > 0 ? "UNCERTAIN" : plan.status;
  if (plan.status !== "EXECUTING") return plan.status;
  if (plan.activity === "asking") return "ASKING";
  if (uncertain > 0 && plan.activity !== "running") return "UNCERTAIN";
  if (plan.activity === "paused") return "PAUSED";
  if (plan.activity === "left_to_agent") return "LEFT_TO_AGENT";
  return plan.status;
}

const PLAN_TONES: Record<PlanState, Tone> = {
  COLLECTING: "running",
  READY: "waiting",
  APPROVED: "waiting",
  EXECUTING: "running",
  PAUSED: "waiting",
  UNCERTAIN: "waiting",
  ASKING: "waiting",
  FAILED: "failed",
  LEFT_TO_AGENT: "running",
  COMPLETED: "done",
  PARTIALLY_COMPLETED: "waiting",
  REJECTED: "failed",
  CANCELLED: "quiet",
  SUPERSEDED: "quiet",
};

const STEP_TONES: Record<StepStatus, Tone> = {
  PENDING: "quiet",
  IN_PROGRESS: "running",
  COMPLETED: "done",
  FAILED: "failed",
  SKIPPED: "quiet",
  UNCERTAIN: "waiting",
};

export function planTone(state: PlanState): Tone {
  return PLAN_TONES[state];
}

/** An icon and a word: never the colour alone. */
export function PlanBadge({ state }: { state: PlanState }): ReactNode {
  return (
    <span className="badge" data-tone={PLAN_TONES[state]}>
      <Mark shape={PLAN_SHAPES[state]} />
      {t(`plan.state.${state}`)}
    </span>
  );
}

export function StateDot({ state, label }: { state: PlanState | "IDLE"; label?: string }): ReactNode {
  const tone = state === "IDLE" ? "quiet" : PLAN_TONES[state];
  return (
    <span className="dot" data-tone={tone} role="img" aria-label={label ?? (state === "IDLE" ? t("session.idle") : t(`plan.state.${state}`))}>
      <Mark shape={state === "IDLE" ? "circle" : PLAN_SHAPES[state]} />
    </span>
  );
}

export function StepIcon({ status }: { status: StepStatus }): ReactNode {
  return (
    <span className="dot" data-tone={STEP_TONES[status]} role="img" aria-label={t(`step.state.${status}`)} title={t(`step.state.${status}`)}>
      <Mark shape={STEP_SHAPES[status]} />
    </span>
  );
}

/** A state of something that is not a plan. */
export function StateBadge({ tone, shape, children }: { tone: Tone; shape: Shape; children: ReactNode }): ReactNode {
  return (
    <span className="badge" data-tone={tone}>
      <Mark shape={shape} />
      {children}
    </span>
  );
}

/** The same without words beside it. */
export function StateMark({ tone, shape, label }: { tone: Tone; shape: Shape; label: string }): ReactNode {
  return (
    <span className="dot" data-tone={tone} role="img" aria-label={label} title={label}>
      <Mark shape={shape} />
    </span>
  );
}

export type Shape = "circle" | "half" | "dots" | "pause" | "check" | "cross" | "minus" | "question" | "partial";

const PLAN_SHAPES: Record<PlanState, Shape> = {
  COLLECTING: "dots",
  READY: "half",
  APPROVED: "half",
  EXECUTING: "dots",
  PAUSED: "pause",
  UNCERTAIN: "question",
  ASKING: "question",
  FAILED: "cross",
  LEFT_TO_AGENT: "dots",
  COMPLETED: "check",
  PARTIALLY_COMPLETED: "half",
  REJECTED: "cross",
  CANCELLED: "minus",
  SUPERSEDED: "minus",
};

const STEP_SHAPES: Record<StepStatus, Shape> = {
  PENDING: "circle",
  IN_PROGRESS: "dots",
  COMPLETED: "check",
  FAILED: "cross",
  SKIPPED: "minus",
  UNCERTAIN: "question",
};

function Mark({ shape }: { shape: Shape }): ReactNode {
  return (
    <svg className="mark" data-shape={shape} viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" focusable="false">
      {drawing(shape)}
    </svg>
  );
}

function drawing(shape: Shape): ReactNode {
  const ring = <circle cx="8" cy="8" r="6.25" fill="none" stroke="currentColor" strokeWidth="1.5" />;
  const disc = <circle cx="8" cy="8" r="7" fill="currentColor" />;
  const inside = { fill: "none", stroke: "var(--surface)", strokeWidth: 1.75, strokeLinecap: "round", strokeLinejoin: "round" } as const;
  switch (shape) {
    case "circle":
      return ring;
    case "half":
      return (
        <>
          {ring}
          <path d="M8 4.5a3.5 3.5 0 0 1 0 7z" fill="currentColor" />
        </>
      );
    case "dots":
      return (
        <>
          <circle cx="8" cy="8" r="6.25" fill="none" stroke="currentColor" strokeWidth="1.5" strokeDasharray="3 2.6" className="mark-turning" />
          <circle cx="8" cy="8" r="2.25" fill="currentColor" />
        </>
      );
    case "pause":
      return (
        <>
          {disc}
          <path d="M6.25 5.5v5M9.75 5.5v5" {...inside} />
        </>
      );
    case "check":
      return (
        <>
          {disc}
          <path d="M5 8.3 7.2 10.5 11.2 5.8" {...inside} />
        </>
      );
    case "cross":
      return (
        <>
          {disc}
          <path d="M5.75 5.75l4.5 4.5M10.25 5.75l-4.5 4.5" {...inside} />
        </>
      );
    case "minus":
      return (
        <>
          {ring}
          <path d="M5.5 8h5" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" />
        </>
      );
    case "question":
      return (
        <>
          {disc}
          <path d="M6.4 6.4a1.65 1.65 0 1 1 2.3 1.5c-.5.2-.7.5-.7 1.1M8 11.3h.01" {...inside} />
        </>
      );
    case "partial":
      return (
        <>
          {ring}
          <path d="M5.3 8.2 7.3 10.2 10.8 6" fill="none" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" strokeLinejoin="round" />
        </>
      );
  }
}
