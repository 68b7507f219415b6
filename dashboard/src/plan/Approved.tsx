import type { ReactNode } from "react";

import type { Plan } from "../api/types";
import { list, t } from "../texts/t";
import { DecisionItem } from "./History";

/** Who approved the plan, when, how, and which steps of it. */
export function Approved({ plan }: { plan: Plan }): ReactNode {
  const { approval } = plan;
  if (!approval) return null;
  const positions = new Map(plan.steps.map((step) => [step.id, step.position]));
  const steps = approval.steps.map((id) => positions.get(id)).filter((n) => n !== undefined);
  return (
    <section className="approved">
      <h2>{t("plan.approval")}</h2>
      <DecisionItem
        decision={{
          seq: 0,
          at: approval.at,
          decision: "approved",
          by: approval.by,
          given: approval.given,
          through: approval.through,
          presence: approval.presence,
          signatures: approval.signatures,
          digest: approval.digest,
          steps,
          skipped: approval.skipped,
          note: approval.note,
        }}
      />
      {approval.digest !== plan.digest && <p className="secondary">{t("plan.approvalOther")}</p>}
      {approval.skipped.length > 0 && <p className="secondary">{t("history.skipped", { steps: list(approval.skipped.map((step) => step.position)) })}</p>}
    </section>
  );
}
