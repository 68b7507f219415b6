import type { Plan, Step } from "../api/types";

/** Steps are approved one by one in plans of recorded calls and of agents' steps. A document is approved as a whole. */
export function canSelect(plan: Pick<Plan, "style" | "status" | "steps">): boolean {
  return plan.style !== "document" && plan.status === "READY" && plan.steps.length > 1;
}

export interface LeftOut {
  position: number;
  /** The position of the step that it needs and that is left out; missing if the person left it out. */
  because: number | undefined;
}

/** The steps that are not done if `unticked` are left out: these, and every step that needs one of them. */
export function leftOut(steps: readonly Step[], unticked: ReadonlySet<number>): LeftOut[] {
  const positions = new Map(steps.map((step) => [step.id, step.position]));
  const out = new Map<number, LeftOut>();
  for (const position of unticked) out.set(position, { position, because: undefined });
  for (let grew = true; grew; ) {
    grew = false;
    for (const step of steps) {
      if (out.has(step.position)) continue;
      const because = (step.needs ?? []).map((need) => positions.get(need)).find((need) => need !== undefined && out.has(need));
      if (because === undefined) continue;
      out.set(step.position, { position: step.position, because });
      grew = true;
    }
  }
  return [...out.values()].sort((a, b) => a.position - b.position);
}
