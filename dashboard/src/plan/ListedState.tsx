import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { planQuery } from "../api/queries";
import type { PlanStatus } from "../api/types";
import { planState, StateDot } from "../ui/status";

/** Statuses that mean different things: a step failed or was left out, a process works on it or it waits. */
const UNCLEAR: ReadonlySet<PlanStatus> = new Set(["EXECUTING", "PARTIALLY_COMPLETED"]);

/** The state of a plan in a list. A list has only its status; where that is not enough the plan itself says it. */
export function ListedState({ plan }: { plan: { id: string; status: PlanStatus } }): ReactNode {
  const whole = useQuery({ ...planQuery(plan.id), enabled: UNCLEAR.has(plan.status) }).data;
  return <StateDot state={whole?.status === plan.status ? planState(whole) : plan.status} />;
}
