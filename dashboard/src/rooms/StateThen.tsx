import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { stateQuery } from "../api/queries";
import type { SessionState } from "../api/types";
import type { SessionId } from "../session/id";
import { exactTime, t } from "../texts/t";
import { Banner, Failure, Loading } from "../ui/basics";
import { Dialog } from "../ui/Dialog";
import { Visible } from "../ui/hidden";
import { PlanBadge } from "../ui/status";

/** The session as it was after an entry of its journal. */
export function StateThen({ session, seq, onClose }: { session: SessionId; seq: number; onClose: () => void }): ReactNode {
  const state = useQuery(stateQuery(session, seq));
  return (
    <Dialog open onClose={onClose} title={t("state.title", { seq })}>
      <div className="ask">
        {state.isPending && <Loading />}
        {state.isError && <Failure error={state.error} retry={() => void state.refetch()} />}
        {state.data && <Past state={state.data} />}
      </div>
    </Dialog>
  );
}

function Past({ state }: { state: SessionState }): ReactNode {
  const { goals, tasks, runs, schedules, workbook } = state;
  const name = state.title ?? state.topic;
  return (
    <>
      {state.at !== null && <p className="secondary">{exactTime(state.at)}</p>}
      {(state.damaged ?? []).length > 0 && <Banner tone="failed">{t("memory.damaged", { count: (state.damaged ?? []).length })}</Banner>}
      <dl className="fields">
        {name !== null && (
          <div>
            <dt>{t("state.session")}</dt>
            <dd>
              <Visible text={name} />
            </dd>
          </div>
        )}
        <div>
          <dt>{t("state.mode")}</dt>
          <dd>
            {t(`state.mode.${state.mode}`, { style: t(`style.${state.style}`) })} {state.working && t("state.working")}
          </dd>
        </div>
        {state.workspace !== null && (
          <div>
            <dt>{t("state.workspace")}</dt>
            <dd>
              <Visible text={state.workspace} />
            </dd>
          </div>
        )}
        {workbook !== null && (
          <div>
            <dt>{t("state.workbook")}</dt>
            <dd>
              <Visible text={workbook.title} />
            </dd>
          </div>
        )}
      </dl>
      <section>
        <h3>{t("state.plans")}</h3>
        {state.plans.length === 0 && <p className="secondary">{t("state.noPlans")}</p>}
        <ul className="rows">
          {state.plans.map((plan) => (
            <li key={plan.planId} className="row">
              <PlanBadge state={plan.status} />
              <div className="row-main">
                <Link to="/p/$plan" params={{ plan: plan.planId }}>
                  {t("plan.short", { n: plan.number })} <Visible text={plan.title} />
                </Link>
              </div>
              <span className="secondary">{t("plan.version", { n: plan.version })}</span>
            </li>
          ))}
        </ul>
      </section>
      <PastList title={t("goals.title")} items={goals.map((goal) => [goal.number, goal.title, t(`goal.state.${goal.status}`)])} />
      <PastList title={t("tasks.title")} items={tasks.map((task) => [task.number, task.title, t(`task.state.${task.status}`)])} />
      <PastList title={t("runs.title")} items={runs.map((run) => [run.number, tasks.find((task) => task.id === run.taskId)?.title ?? "", t(`runs.state.${run.state}` as "runs.state.running")])} />
      <PastList title={t("schedules.title")} items={schedules.map((schedule) => [schedule.number, schedule.title, t(`schedules.state.${schedule.status}` as "schedules.state.active")])} />
    </>
  );
}

function PastList({ title, items }: { title: string; items: readonly [number: number, title: string, state: string][] }): ReactNode {
  if (items.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul className="rows">
        {items.map(([number, words, state]) => (
          <li key={number} className="row">
            <span className="secondary">{number}</span>
            <div className="row-main">
              <Visible text={words} />
            </div>
            <span className="secondary">{state}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
