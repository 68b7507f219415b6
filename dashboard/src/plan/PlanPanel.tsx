import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useState, type ReactNode } from "react";

import { disablePlanWork, enablePlanWork, endPlanWork } from "../api/decisions";
import { planControlQuery, planDiffQuery, planQuery } from "../api/queries";
import type { Plan, PlanList, PlanStyle } from "../api/types";
import type { SessionId } from "../session/id";
import { t } from "../texts/t";
import { Button, errorWords, Failure, IconButton, Loading, Time } from "../ui/basics";
import { Visible } from "../ui/hidden";
import { Menu } from "../ui/Menu";
import { PlanBadge, planState } from "../ui/status";
import { say } from "../ui/toasts";
import { Covers } from "./Covers";
import { DecisionBar } from "./DecisionBar";
import { diffSize, SizeBadge } from "./diffSize";
import { ListedState } from "./ListedState";
import { canSelect, leftOut } from "./selection";
import { StepList } from "./StepList";
import { useShownVersion } from "./useShownVersion";

/** The plan work of one session. */
export function PlanPanel({ session }: { session: SessionId }): ReactNode {
  const control = useQuery(planControlQuery(session));
  if (control.isPending) return <Loading words={t("panel.loading")} />;
  if (control.isError) return <Failure error={control.error} retry={() => void control.refetch()} />;
  const planId = shownPlan(control.data);
  return (
    <>
      <ModeHead session={session} list={control.data} />
      {planId === undefined ? <NoPlan session={session} list={control.data} /> : <PanelPlan key={planId} planId={planId} />}
      <OtherPlans list={control.data} shown={planId} />
    </>
  );
}

/** The active plan; else one that still waits for something. */
export function shownPlan(list: PlanList): string | undefined {
  return list.planMode.activePlanId ?? list.plans.find((plan) => ["READY", "APPROVED", "EXECUTING", "PARTIALLY_COMPLETED"].includes(plan.status))?.id;
}

/** The mode of this session in words, and how to change it. */
function ModeHead({ session, list }: { session: SessionId; list: PlanList }): ReactNode {
  const client = useQueryClient();
  const { planMode } = list;
  const change = useMutation({
    mutationFn: (to: PlanStyle | "off" | "done") => (to === "off" ? disablePlanWork(session) : to === "done" ? endPlanWork(session) : enablePlanWork(session, to)),
    onSettled: () => client.invalidateQueries({ queryKey: ["plan-control-state", session] }),
    onError: (error) => say(errorWords(error), { tone: "failed" }),
  });
  const items = planMode.enabled
    ? [
        { label: t("mode.off"), act: () => change.mutate("off") },
        { label: t("mode.done"), act: () => change.mutate("done") },
      ]
    : STYLES.map((style) => ({ label: t(`mode.on.${style}`), act: () => change.mutate(style) }));
  return (
    <div className="mode" data-on={planMode.enabled || undefined}>
      <div>
        <strong>{planMode.enabled ? t("mode.isOn") : t("mode.isOff")}</strong>
        <span className="secondary">{planMode.enabled ? t(`mode.style.${planMode.style}`) : t("mode.offWords")}</span>
      </div>
      <Menu trigger={<IconButton icon="more" label={t("mode.change")} />} items={items} />
    </div>
  );
}

const STYLES: readonly PlanStyle[] = ["document", "collect", "build"];

function NoPlan({ session, list }: { session: SessionId; list: PlanList }): ReactNode {
  const client = useQueryClient();
  const begin = useMutation({
    mutationFn: () => enablePlanWork(session, "document"),
    onSettled: () => client.invalidateQueries({ queryKey: ["plan-control-state", session] }),
    onError: (error) => say(errorWords(error), { tone: "failed" }),
  });
  return (
    <div className="panel-empty">
      <p>{list.plans.length === 0 ? t("panel.none") : t("panel.noneActive")}</p>
      {!list.planMode.enabled && (
        <Button look="plain" busy={begin.isPending} onClick={() => begin.mutate()}>
          {t("panel.begin")}
        </Button>
      )}
    </div>
  );
}

function PanelPlan({ planId }: { planId: string }): ReactNode {
  const plan = useQuery(planQuery(planId));
  if (plan.isPending) return <Loading words={t("plan.loading")} />;
  if (plan.isError) return <Failure error={plan.error} retry={() => void plan.refetch()} />;
  return <PanelBody plan={plan.data} />;
}

function PanelBody({ plan }: { plan: Plan }): ReactNode {
  const navigate = useNavigate();
  const [unticked, setUnticked] = useState<ReadonlySet<number>>(new Set());
  const { shown, accept } = useShownVersion(plan);
  const diff = useQuery({ ...planDiffQuery(plan.id, undefined, plan.version), enabled: plan.version > 1 });
  const selectable = canSelect(shown);
  const out = useMemo(() => (selectable ? leftOut(shown.steps, unticked) : []), [selectable, shown.steps, unticked]);
  return (
    <div className="panel-plan">
      <div className="panel-about">
        <PlanBadge state={planState(plan)} />
        <span>{t("plan.number", { n: plan.number })}</span>
        <span>{t("plan.version", { n: shown.version })}</span>
        {diff.data && <SizeBadge size={diffSize(diff.data)} />}
      </div>
      <h2 className="panel-title">
        <Link to="/p/$plan" params={{ plan: plan.id }}>
          <Visible text={shown.title} />
        </Link>
      </h2>
      {shown.steps.length > 0 ? (
        <StepList
          steps={shown.steps}
          compact
          selection={
            selectable
              ? {
                  out,
                  toggle: (position) =>
                    setUnticked((before) => {
                      const next = new Set(before);
                      if (!next.delete(position)) next.add(position);
                      return next;
                    }),
                }
              : undefined
          }
        />
      ) : (
        <p className="secondary">{plan.status === "COLLECTING" ? t("panel.writing") : t("plan.noSteps")}</p>
      )}
      {plan.status === "READY" && <Covers plan={shown} out={out} />}
      <Link className="panel-open" to="/p/$plan" params={{ plan: plan.id }}>
        {plan.status === "READY" ? t("panel.readAll") : t("panel.open")}
      </Link>
      <DecisionBar
        plan={plan}
        shown={shown}
        unticked={unticked}
        compact
        onReviewChanges={() => {
          const from = shown.version;
          accept();
          void navigate({ to: "/p/$plan", params: { plan: plan.id }, search: { view: "changes", from, to: plan.version } });
        }}
      />
    </div>
  );
}

function OtherPlans({ list, shown }: { list: PlanList; shown: string | undefined }): ReactNode {
  const others = list.plans.filter((plan) => plan.id !== shown);
  if (others.length === 0) return null;
  return (
    <section className="other-plans">
      <h3>{t("panel.others")}</h3>
      <ul>
        {others.map((plan) => (
          <li key={plan.id}>
            <ListedState plan={plan} />
            <Link to="/p/$plan" params={{ plan: plan.id }}>
              {t("plan.short", { n: plan.number })} <Visible text={plan.title} />
            </Link>
            <Time at={plan.updatedAt} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The plan as one line, for a phone. */
export function PlanStrip({ session }: { session: SessionId }): ReactNode {
  const control = useQuery(planControlQuery(session));
  const planId = control.data && shownPlan(control.data);
  const plan = useQuery({ ...planQuery(planId ?? ""), enabled: planId !== undefined });
  if (!plan.data || planId === undefined) return null;
  return (
    <Link className="plan-strip" to="/p/$plan" params={{ plan: planId }}>
      <PlanBadge state={planState(plan.data)} />
      <span className="plan-strip-title">
        {t("plan.short", { n: plan.data.number })} <Visible text={plan.data.title} />
      </span>
      <strong>{plan.data.status === "READY" ? t("strip.review") : t("strip.open")}</strong>
    </Link>
  );
}
