import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { inboxQuery } from "../api/queries";
import type { Plan } from "../api/types";
import { AskCard } from "./AskCard";

/** What the agent that carries the plan out asks now, with the answers. */
export function PlanAsk({ plan }: { plan: Pick<Plan, "askId"> }): ReactNode {
  const item = useQuery(inboxQuery).data?.find((one) => one.id === plan.askId);
  return item ? <AskCard item={item} where="plan" /> : null;
}
