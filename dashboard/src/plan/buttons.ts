import type { Plan } from "../api/types";
import { planState } from "../ui/status";

/** What a person can decide about a plan now. A button exists only in the states that allow it. */
export type PlanButton = "approve" | "start" | "resume" | "next" | "retry" | "skip" | "stopStep" | "revise" | "reject" | "cancel";

export function planButtons(plan: Plan): PlanButton[] {
  switch (planState(plan)) {
    case "COLLECTING":
      return ["revise", "cancel"];
    case "READY":
      return ["approve", "revise", "reject", "cancel"];
    case "APPROVED":
      return ["start", "revise", "cancel"];
    case "EXECUTING":
    case "LEFT_TO_AGENT":
      return ["revise", "cancel"];
    case "PAUSED":
      return plan.execution?.pausedFor === "step" ? ["next", "revise", "cancel"] : ["resume", "revise", "cancel"];
    case "PARTIALLY_COMPLETED":
      return ["resume", "revise", "cancel"];
    case "UNCERTAIN":
      return ["retry", "skip", "stopStep", "cancel"];
    case "COMPLETED":
    case "REJECTED":
    case "CANCELLED":
    case "SUPERSEDED":
      return [];
  }
}
