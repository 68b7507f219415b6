import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { ApiProblem, NoAnswer } from "../api/client";
import { decide, type DecidedPlan, type PlanDecision } from "../api/decisions";
import type { Plan } from "../api/types";
import { sessionIdOf } from "../session/id";

/**
 * A decision on its way. Nothing is shown as decided before the server said so: when no answer came, it is unknown whether the
 * decision arrived, and it can be sent again under its key, which carries it out once.
 */
export type Deciding =
  | { phase: "idle" }
  | { phase: "sending"; decision: PlanDecision }
  | { phase: "unknown"; decision: PlanDecision; key: string }
  | { phase: "refused"; decision: PlanDecision; problem: unknown };

export function useDecision(plan: Plan, onDecided?: (decided: DecidedPlan, decision: PlanDecision) => void) {
  const [state, setState] = useState<Deciding>({ phase: "idle" });
  const client = useQueryClient();
  const current = useRef(true);
  useEffect(() => {
    current.current = true;
    return () => {
      current.current = false;
    };
  }, []);

  // The plan moved on: what was unknown is known now.
  const unknown = state.phase === "unknown" ? state.decision.kind : undefined;
  useEffect(() => {
    if (unknown === undefined) return;
    if ((unknown === "approve" || unknown === "reject") && plan.status !== "READY") setState({ phase: "idle" });
    if (unknown === "cancel" && plan.status === "CANCELLED") setState({ phase: "idle" });
    if (unknown === "resume" && plan.activity === "running") setState({ phase: "idle" });
  }, [unknown, plan.status, plan.activity]);

  async function send(decision: PlanDecision, key: string = crypto.randomUUID()): Promise<void> {
    setState({ phase: "sending", decision });
    try {
      const decided = await decide(plan.id, decision, key);
      if (current.current) setState({ phase: "idle" });
      onDecided?.(decided, decision);
    } catch (error) {
      if (!current.current) return;
      if (error instanceof NoAnswer || (error instanceof ApiProblem && error.status >= 500)) setState({ phase: "unknown", decision, key });
      else setState({ phase: "refused", decision, problem: error });
    } finally {
      for (const queryKey of [["plan", plan.id], ["plan-control-state", sessionIdOf(plan)], ["inbox"], ["sessions"]]) {
        void client.invalidateQueries({ queryKey });
      }
    }
  }

  return {
    state,
    send: (decision: PlanDecision) => void send(decision),
    sendAgain: () => {
      if (state.phase === "unknown") void send(state.decision, state.key);
    },
    clear: () => setState({ phase: "idle" }),
  };
}
