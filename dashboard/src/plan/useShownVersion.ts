import { useEffect, useState } from "react";

import type { Plan } from "../api/types";

export interface ShownVersion {
  version: number;
  digest: string;
}

/**
 * The version that the person has in view. It follows the plan until a version waits for a decision; a newer one then has to be
 * looked at (`accept`) before it can be approved.
 */
export function useShownVersion(plan: Plan): { shown: ShownVersion; accept: () => void } {
  const now = { version: plan.version, digest: plan.digest, ready: plan.status === "READY" };
  const [shown, setShown] = useState(now);
  const follows = !shown.ready && (shown.digest !== now.digest || now.ready);
  useEffect(() => {
    if (follows) setShown(now);
  });
  return { shown: follows ? now : shown, accept: () => setShown(now) };
}
