import type { ReactNode } from "react";

import type { Plan, PlanStatus, StepStatus } from "../api/types";
import { t } from "../texts/t";

/** The four colours of states, and grey. */
export type Tone = "waiting" | "running" | "done" | "failed" | "quiet";

/** How a plan stands, with what is known about who works on it. */
export type PlanState = PlanStatus | "PAUSED" | "UNCERTAIN" | "LEFT_TO_AGENT";

export function planState(plan: Pick<Plan, "status" | "activity" | "execution">): PlanState {
  if (plan.status !== "EXECUTING") return plan.status;
  if ((plan.execution?.counts.uncertain ?? 0) > 0 && plan.activity !== "running") return "UNCERTAIN";
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

type Shape = "circle" | "half" | "dots" | "pause" | "check" | "cross" | "minus" | "question" | "partial";

const PLAN_SHAPES: Record<PlanState, Shape> = {
  COLLECTING: "dots",
  READY: "half",
  APPROVED: "half",
  EXECUTING: "dots",
  PAUSED: "pause",
  UNCERTAIN: "question",
  LEFT_TO_AGENT: "dots",
  COMPLETED: "check",
  PARTIALLY_COMPLETED: "partial",
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
          <path d="M8 4.500a3.500 3.500 0 0 1 0 7z" fill="currentColor" />
        </>
      );
    case "dots":
      return (
        <>
          <circle cx="8" cy="8" r="6.250" fill="none" stroke="currentColor" strokeWidth="1.5" strokeDasharray="3 2.600" className="mark-turning" />
          <circle cx="8" cy="8" r="2.250" fill="currentColor" />
        </>
      );
    case "pause":
      return (
        <>
          {disc}
          <path d="M6.250 5.500v5M9.750 5.500v5" {...inside} />
        </>
      );
    case "check":
      return (
        <>
          {disc}
          <path d="M5 8.300 7.200 10.500 11.200 5.800" {...inside} />
        </>
      );
    case "cross":
      return (
        <>
          {disc}
          <path d="M5.750 5.750l4.500 4.500M10.250 5.750l-4.500 4.500" {...inside} />
        </>
      );
    case "minus":
      return (
        <>
          {ring}
          <path d="M5.500 8h5" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" />
        </>
      );
    case "question":
      return (
        <>
          {disc}
          <path d="M6.400 6.400a1.650 1.650 0 1 1 2.300 1.500c-.500.200-.700.500-.700 1.100M8 11.300h.01" {...inside} />
        </>
      );
    case "partial":
      return (
        <>
          {ring}
          <path d="M5.300 8.200 7.300 10.200 10.800 6" fill="none" stroke="currentColor" strokeWidth="1.600" strokeLinecap="round" strokeLinejoin="round" />
        </>
      );
  }
}
