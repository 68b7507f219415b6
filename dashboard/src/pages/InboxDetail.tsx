import { Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useState, type ReactNode } from "react";

import type { InboxItem, Plan } from "../api/types";
import { AskCard } from "../ask/AskCard";
import { DecisionBar } from "../plan/DecisionBar";
import { PlanText } from "../plan/PlanText";
import { canSelect, leftOut } from "../plan/selection";
import { usePlanToRead, useShownVersion } from "../plan/useShownVersion";
import { sessionIdOf } from "../session/id";
import { SessionName } from "../session/SessionName";
import { t } from "../texts/t";
import { Failure, Loading } from "../ui/basics";
import { Visible } from "../ui/hidden";
import { PlanBadge, planState } from "../ui/status";
import { RunDetail } from "./RunDetail";
import { ToolChangeDetail } from "./ToolChangeDetail";
import { inboxPlan, isAboutPlan } from "./inboxItems";

/** What waits, in full, with what a person can do about it. */
export function InboxDetail({ item }: { item: InboxItem }): ReactNode {
  if (item.toolChange) return <ToolChangeDetail key={item.digest} item={item} change={item.toolChange} />;
  if (item.run) return <RunDetail key={item.id} item={item} run={item.run} />;
  if (isAboutPlan(item)) return <Detail key={item.id} planId={inboxPlan(item)} />;
  return <AskCard key={item.id} item={item} where="inbox" />;
}

function Detail({ planId }: { planId: string }): ReactNode {
  const { plan, error, retry } = usePlanToRead(planId);
  if (plan) return <DetailBody plan={plan} />;
  return error ? <Failure error={error} retry={retry} /> : <Loading words={t("plan.loading")} />;
}

function DetailBody({ plan }: { plan: Plan }): ReactNode {
  const navigate = useNavigate();
  const [unticked, setUnticked] = useState<ReadonlySet<number>>(new Set());
  const { shown, accept } = useShownVersion(plan);
  const selectable = canSelect(shown);
  const out = useMemo(() => (selectable ? leftOut(shown.steps, unticked) : []), [selectable, shown.steps, unticked]);
  const toggle = (position: number) =>
    setUnticked((before) => {
      const next = new Set(before);
      if (!next.delete(position)) next.add(position);
      return next;
    });
  return (
    <>
      <header className="inbox-detail-head">
        <div className="page-about">
          <PlanBadge state={planState(plan)} />
          <span>{t("plan.number", { n: plan.number })}</span>
          <span>{t("plan.version", { n: shown.version })}</span>
          <Link to="/s/$session" params={{ session: sessionIdOf(plan) }}>
            <SessionName session={sessionIdOf(plan)} />
          </Link>
          <Link to="/p/$plan" params={{ plan: plan.id }}>
            {t("inbox.openPage")}
          </Link>
        </div>
        <h2 dir="auto">
          <Visible text={shown.title} />
        </h2>
      </header>
      <div className="inbox-detail-body">
        <PlanText plan={shown} selection={selectable ? { out, toggle } : undefined} />
      </div>
      <DecisionBar
        plan={plan}
        shown={shown}
        unticked={unticked}
        onReviewChanges={() => {
          const from = shown.version;
          accept();
          void navigate({ to: "/p/$plan", params: { plan: plan.id }, search: { view: "changes", from, to: plan.version } });
        }}
      />
    </>
  );
}
