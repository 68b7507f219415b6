import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { planHistoryQuery } from "../api/queries";
import type { Decision, Execution, Plan, PlanHistory } from "../api/types";
import { clockTime, list, t } from "../texts/t";
import { Failure, Loading, Time } from "../ui/basics";
import { Visible, visible } from "../ui/hidden";
import { Icon } from "../ui/Icon";
import { Elapsed } from "./StepList";

/** Versions, decisions and executions in the order in which they happened, the newest first. */
export function History({ plan }: { plan: Plan }): ReactNode {
  const history = useQuery(planHistoryQuery(plan.id));
  if (history.isPending) return <Loading />;
  if (history.isError) return <Failure error={history.error} retry={() => void history.refetch()} />;
  const items = timeline(history.data);
  if (items.length === 0) return <p className="secondary">{t("history.none")}</p>;
  return (
    <ol className="timeline">
      {items.map((item, index) => (
        <li key={index} data-kind={item.kind}>
          {item.kind === "version" && (
            <>
              <Icon name="edit" />
              <div>
                <p>
                  {t("history.version", { version: item.version.version, by: visible(item.version.by.name) })}{" "}
                  {item.version.version > 1 && (
                    <Link to="/p/$plan" params={{ plan: plan.id }} search={{ view: "changes", from: item.version.version - 1, to: item.version.version }}>
                      {t("history.changes")}
                    </Link>
                  )}
                </p>
                <p className="secondary">
                  <Time at={item.version.at} /> · <code>{item.version.digest.slice(0, 8)}</code>
                </p>
              </div>
            </>
          )}
          {item.kind === "decision" && (
            <>
              <Icon name="person" />
              <DecisionItem decision={item.decision} />
            </>
          )}
          {item.kind === "execution" && (
            <>
              <Icon name="run" />
              <ExecutionItem plan={plan} execution={item.execution} />
            </>
          )}
        </li>
      ))}
    </ol>
  );
}

type Item =
  | { kind: "version"; at: string; version: PlanHistory["versions"][number] }
  | { kind: "decision"; at: string; decision: Decision }
  | { kind: "execution"; at: string; execution: Execution };

export function timeline(history: PlanHistory): Item[] {
  const items: Item[] = [
    ...history.versions.map((version) => ({ kind: "version" as const, at: version.at, version })),
    ...history.decisions.map((decision) => ({ kind: "decision" as const, at: decision.at, decision })),
    ...history.executions.map((execution) => ({ kind: "execution" as const, at: execution.startedAt, execution })),
  ];
  return items.reverse().sort((a, b) => b.at.localeCompare(a.at));
}

/** Who decided what, when, through what, and whether it was a person or a rule. */
export function DecisionItem({ decision }: { decision: Decision }): ReactNode {
  const how = decision.given === "person" ? t("history.person") : t("history.policy");
  return (
    <div>
      <p>
        <strong>{t(`history.decision.${decision.decision as "approved"}`, { by: visible(decision.by) })}</strong>
      </p>
      <p className="secondary">
        {how} · {t("history.through", { through: decision.through })} · <Presence decision={decision} /> · <Time at={decision.at} /> ({clockTime(decision.at)})
        {decision.digest !== undefined && (
          <>
            {" "}
            · <code>{decision.digest.slice(0, 8)}</code>
          </>
        )}
      </p>
      {(decision.steps ?? []).length > 0 && (decision.skipped ?? []).length > 0 && <p className="secondary">{t("history.steps", { steps: list(decision.steps ?? []) })}</p>}
      {(decision.skipped ?? []).length > 0 && (
        <p className="secondary">{t("history.skipped", { steps: list((decision.skipped ?? []).map((step) => step.position)) })}</p>
      )}
      {decision.note && (
        <blockquote>
          <Visible text={decision.note} />
        </blockquote>
      )}
    </div>
  );
}

/** How the person was recognised: in words, and in another look where it was a signature. */
function Presence({ decision }: { decision: Decision }): ReactNode {
  const presence = decision.presence ?? "unknown";
  const signatures = decision.signatures ?? [];
  if (signatures.length === 0) return <span data-presence={presence}>{t(`history.presence.${presence as "verified"}`)}</span>;
  return (
    <span data-presence={presence} data-tone="done">
      {t("history.signed", { names: list(signatures.map((one) => t(`history.signedWith.${one.with as "passkey"}`, { name: visible(one.approver) }))) })}
    </span>
  );
}

function ExecutionItem({ plan, execution }: { plan: Plan; execution: Execution }): ReactNode {
  return (
    <div>
      <p>
        <Link to="/p/$plan/run/$number" params={{ plan: plan.id, number: String(execution.number) }}>
          {t("history.execution", { n: execution.number })}
        </Link>{" "}
        {t("history.counts", { done: execution.counts.done, total: execution.counts.total })}
      </p>
      <p className="secondary">
        <Time at={execution.startedAt} /> · <Elapsed from={execution.startedAt} to={execution.finishedAt} />
      </p>
    </div>
  );
}
