import type { Resume } from "../api/decisions";
import type { Plan } from "../api/types";

/** The decision that a choice sends at once. Other choices ask for more first. */
export function decisionOf(plan: Plan, name: string): Resume | undefined {
  switch (name) {
    case "resume":
      return { kind: "resume" };
    case "next":
      return { kind: "resume", afterStep: plan.execution?.afterStep };
    case "retry":
    case "skip":
    case "stop":
      return { kind: "resume", choice: name };
    default:
      return undefined;
  }
}
