import type { ReactNode } from "react";

import type { Change, PlanDiff } from "../api/types";
import { t } from "../texts/t";

export interface DiffSize {
  added: number;
  removed: number;
}

/** `+12 −3`. Lines where there are lines, else changes. */
export function diffSize(diff: PlanDiff): DiffSize {
  if (diff.lines.length > 0) {
    return {
      added: diff.lines.filter((line) => line.mark === "added").length,
      removed: diff.lines.filter((line) => line.mark === "removed").length,
    };
  }
  return {
    added: diff.changes.filter((change) => sign(change) !== "removed").length,
    removed: diff.changes.filter((change) => sign(change) !== "added").length,
  };
}

export function SizeBadge({ size }: { size: DiffSize }): ReactNode {
  return (
    <span className="size" title={t("diff.size", { added: size.added, removed: size.removed })}>
      <span className="plus">+{size.added}</span> <span className="minus">−{size.removed}</span>
    </span>
  );
}

/** The lines of the newer text that are not in the older one. */
export function changedLines(diff: PlanDiff): Set<number> {
  return new Set(diff.lines.filter((line) => line.mark === "added").map((line) => line.to));
}

/** What became of what changed. */
export function sign(change: Change): "added" | "removed" | "changed" {
  if (/Added$/.test(change.kind)) return "added";
  if (/Removed$/.test(change.kind)) return "removed";
  return "changed";
}
