import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { planQuery } from "../api/queries";
import type { Plan } from "../api/types";

/**
 * The plan as the person has it in view. It follows the plan until a version waits for a decision: that one stays as it is until
 * the person asks for the newer one (`accept`), so that no text changes under a reader, and no button under a finger.
 */
export function useShownVersion(plan: Plan): { shown: Plan; accept: () => void } {
  const [kept, setKept] = useState(plan);
  const follows = kept.digest === plan.digest || kept.status !== "READY";
  useEffect(() => {
    if (follows && kept !== plan) setKept(plan);
  }, [follows, kept, plan]);
  return { shown: follows ? plan : kept, accept: () => setKept(plan) };
}

/** How long a plan that is known already waits for the answer that says whether it is the newest, in milliseconds. */
const MAX_HOLD = 5_000;

/** The plan for a person who begins to read it: not an older answer whose successor is under way. */
export function usePlanToRead(planId: string) {
  const query = useQuery(planQuery(planId));
  const [ready, setReady] = useState(false);
  const hasAnswer = query.data !== undefined;
  const isNewest = hasAnswer && (!query.isFetching || query.failureCount > 0);
  useEffect(() => {
    if (isNewest) return setReady(true);
    if (!hasAnswer) return;
    const timer = setTimeout(() => setReady(true), MAX_HOLD);
    return () => clearTimeout(timer);
  }, [isNewest, hasAnswer]);
  return { plan: ready || isNewest ? query.data : undefined, error: query.data === undefined && query.isError ? query.error : undefined, retry: () => void query.refetch() };
}
