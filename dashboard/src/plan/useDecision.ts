import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { newId } from "../api/newId";
import { ApiProblem, NoAnswer } from "../api/client";
import { decide, hasPassphrase, type DecidedPlan, type PlanDecision } from "../api/decisions";
import { approversQuery } from "../api/queries";
import type { Plan } from "../api/types";
import { forget, forgetWrong, remember } from "../approval/remembered";
import { useConnection } from "../live/live";
import { sessionIdOf } from "../session/id";

/**
 * A decision on its way. Nothing is shown as decided before the server said so: when no answer came, it is unknown whether the
 * decision arrived. It is sent again under its key, which carries it out once: by the person, or by the page when a lost
 * connection is back.
 */
export type Deciding =
  | { phase: "idle" }
  | { phase: "sending"; decision: PlanDecision }
  | { phase: "unknown"; decision: PlanDecision; key: string }
  | { phase: "refused"; decision: PlanDecision; problem: unknown };

export function useDecision(plan: Plan, onDecided?: (decided: DecidedPlan, decision: PlanDecision) => void, onRefused?: (problem: unknown) => void) {
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

  // A decision with a passphrase has no key, so it is not sent twice without the person.
  const { phase } = useConnection();
  const wasLost = useRef(false);
  useEffect(() => {
    if (state.phase !== "unknown") {
      wasLost.current = false;
      return;
    }
    if (phase !== "open") wasLost.current = true;
    else if (wasLost.current && isRepeatable(state.decision)) {
      wasLost.current = false;
      void send(state.decision, state.key);
    }
  });

  async function send(decision: PlanDecision, key: string = newId()): Promise<void> {
    setState({ phase: "sending", decision });
    try {
      const decided = await decide(plan.id, decision, key);
      if (current.current) setState({ phase: "idle" });
      // A plan that is still ready waits for another approver, who is asked.
      if (decision.kind === "approve" && decided.status === "READY") forget();
      else if ("passphrase" in decision && decision.approver !== undefined && decision.passphrase !== undefined) {
        const seconds = client.getQueryData(approversQuery.queryKey)?.remember ?? 0;
        remember({ approver: decision.approver, passphrase: decision.passphrase }, seconds);
      }
      onDecided?.(decided, decision);
    } catch (error) {
      forgetWrong(error);
      if (!current.current) return;
      if (error instanceof NoAnswer || (error instanceof ApiProblem && error.status >= 500)) setState({ phase: "unknown", decision, key });
      else refused(decision, error);
    } finally {
      reload();
    }
  }

  function refused(decision: PlanDecision, problem: unknown): void {
    setState({ phase: "refused", decision, problem });
    onRefused?.(problem);
  }

  function reload(): void {
    for (const queryKey of [["plan", plan.id], ["plan-control-state", sessionIdOf(plan)], ["inbox"], ["sessions"]]) {
      void client.invalidateQueries({ queryKey });
    }
  }

  return {
    state,
    send: (decision: PlanDecision) => void send(decision),
    sendAgain: () => {
      if (state.phase === "unknown") void send(state.decision, state.key);
    },
    /** What was to be signed was refused before there was anything to send. */
    refuse: (decision: PlanDecision, problem: unknown) => {
      refused(decision, problem);
      reload();
    },
    clear: () => setState({ phase: "idle" }),
  };
}

/** Whether the same request can be sent again and is carried out once. */
export function isRepeatable(decision: PlanDecision): boolean {
  return !hasPassphrase(decision);
}
