import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, useState, type ReactNode } from "react";

import { planHistoryQuery, planQuery } from "../api/queries";
import type { Execution, Plan, Step, StepRun } from "../api/types";
import { useFollowSession } from "../live/useLive";
import { callWords, CallView, ResultView } from "../plan/CallView";
import { ChangedFiles } from "../plan/ChangedFiles";
import { PlanAsk } from "../ask/PlanAsk";
import { DecisionBar } from "../plan/DecisionBar";
import { Elapsed } from "../plan/StepList";
import { sessionIdOf } from "../session/id";
import { PageHead } from "../shell/Shell";
import { clockTime, t } from "../texts/t";
import { Banner, Failure, Loading, Time } from "../ui/basics";
import { Visible, visible } from "../ui/hidden";
import { Icon } from "../ui/Icon";
import { PlanBadge, planState, StepIcon } from "../ui/status";

/** One execution: its steps as a timeline, and what each did. */
export function ExecutionPage(): ReactNode {
  const { plan: planId, number } = useParams({ from: "/p/$plan/run/$number" });
  const plan = useQuery(planQuery(planId));
  const history = useQuery({ ...planHistoryQuery(planId), refetchInterval: plan.data?.status === "EXECUTING" ? 5_000 : false });
  const execution = history.data?.executions.find((one) => one.number === Number(number));
  const failed = plan.isError ? plan : history.isError ? history : undefined;
  if (plan.data && execution) return <Run plan={plan.data} execution={execution} executions={history.data?.executions ?? []} />;
  return (
    <main id="main" tabIndex={-1} className="page">
      <PageHead title={t("run.title", { n: number })} />
      <div className="page-body">
        {failed ? (
          <Failure error={failed.error} retry={() => void failed.refetch()} />
        ) : history.isSuccess ? (
          <Banner tone="quiet">{t("run.none", { n: number })}</Banner>
        ) : (
          <Loading />
        )}
      </div>
    </main>
  );
}

function Run({ plan, execution, executions }: { plan: Plan; execution: Execution; executions: readonly Execution[] }): ReactNode {
  useFollowSession(sessionIdOf(plan));
  const newest = plan.execution?.number ?? execution.number;
  const isLatest = execution.number === newest;
  // A plan that goes on does so in a new execution: who watches the last one is led there.
  const navigate = useNavigate();
  const [wasLatest, setWasLatest] = useState(isLatest);
  useEffect(() => {
    if (isLatest) setWasLatest(true);
    else if (wasLatest) void navigate({ to: "/p/$plan/run/$number", params: { plan: plan.id, number: String(newest) }, replace: true });
  }, [isLatest, wasLatest, newest, navigate, plan.id]);
  const state = planState(plan);
  const { counts } = execution;
  return (
    <main id="main" tabIndex={-1} className="page run-page">
      <PageHead
        title={<Visible text={plan.title} />}
        about={
          <>
            {isLatest && <PlanBadge state={state} />}
            <span>{t("run.title", { n: execution.number })}</span>
            <span>{t("history.counts", { done: counts.done, total: counts.total })}</span>
            <Elapsed from={execution.startedAt} to={execution.finishedAt} />
            {execution.spend && <span>{t("runs.tokens", { count: execution.spend.tokens })}</span>}
            <Link to="/p/$plan" params={{ plan: plan.id }}>
              {t("run.plan", { n: plan.number })}
            </Link>
          </>
        }
      />
      <div className="page-body">
        <div className="run-column">
          {isLatest && <PlanAsk plan={plan} />}
          {isLatest && (state === "PAUSED" || state === "UNCERTAIN" || state === "FAILED") && (
            <Banner tone={state === "FAILED" ? "failed" : "waiting"} icon={state === "PAUSED" ? "pause" : state === "FAILED" ? "warning" : "question"}>
              <Visible text={plan.situation} />
            </Banner>
          )}
          <Progress counts={counts} />
          <p className="secondary">{t("run.permissions", { ...execution.permissions })}</p>
          <ol className="run-steps" aria-live="polite">
            {(execution.steps ?? []).map((run) => (
              <RunStep key={run.step} run={run} step={plan.steps.find((step) => step.id === run.step)} />
            ))}
          </ol>
          <p className="secondary">
            {t("run.started")} <Time at={execution.startedAt} /> ({clockTime(execution.startedAt)})
            {execution.startedBy && <> · {visible(execution.startedBy.name)}</>}
            {execution.finishedAt && (
              <>
                {" "}
                · {t("run.finished")} <Time at={execution.finishedAt} />
              </>
            )}
          </p>
          <ChangedFiles plan={plan} />
          {executions.length > 1 && (
            <nav className="runs" aria-label={t("run.others")}>
              <h2>{t("run.others")}</h2>
              <ul>
                {executions.map((other) => (
                  <li key={other.number}>
                    <Link to="/p/$plan/run/$number" params={{ plan: plan.id, number: String(other.number) }} activeProps={{ "aria-current": "page" }}>
                      {t("run.title", { n: other.number })}
                    </Link>{" "}
                    <span className="secondary">{t("history.counts", { done: other.counts.done, total: other.counts.total })}</span>
                  </li>
                ))}
              </ul>
            </nav>
          )}
        </div>
      </div>
      {isLatest && (
        <footer className="plan-foot">
          <DecisionBar plan={plan} shown={plan} unticked={NONE} onReviewChanges={() => undefined} />
        </footer>
      )}
    </main>
  );
}

const NONE: ReadonlySet<number> = new Set();

function Progress({ counts }: { counts: Execution["counts"] }): ReactNode {
  const parts = [
    ["done", counts.done],
    ["failed", counts.failed],
    ["waiting", counts.uncertain],
    ["running", counts.inProgress],
    ["skipped", counts.skipped],
  ] as const;
  const ended = counts.done + counts.failed + counts.skipped;
  return (
    <div className="progress" role="progressbar" aria-valuemin={0} aria-valuemax={counts.total} aria-valuenow={ended} aria-label={t("history.counts", { done: counts.done, total: counts.total })}>
      {parts.map(([tone, n]) => (n > 0 ? <span key={tone} data-tone={tone} style={{ flexGrow: n }} /> : null))}
      {counts.notBegun > 0 && <span style={{ flexGrow: counts.notBegun }} />}
    </div>
  );
}

function RunStep({ run, step }: { run: StepRun; step: Step | undefined }): ReactNode {
  const [open, setOpen] = useState(run.status === "FAILED" || run.status === "UNCERTAIN");
  const call = step?.tool === undefined ? undefined : callWords(step.tool, step.arguments, run.note ?? undefined);
  const hasDetails = run.note !== null || run.evidence !== null || step?.tool !== undefined;
  return (
    <li className="run-step" data-status={run.status}>
      <StepIcon status={run.status} />
      <div>
        <div className="step-line">
          <span className="step-number">{run.position}</span>
          <button type="button" className="step-label" dir="auto" aria-expanded={open} disabled={!hasDetails} onClick={() => setOpen(!open)}>
            {call ? (
              <>
                {call.words} {call.detail !== undefined && <code className="call-detail"><Visible text={call.detail} /></code>}
              </>
            ) : (
              <Visible text={run.description} />
            )}
            {hasDetails && <Icon name="chevron" size={12} />}
          </button>
        </div>
        <div className="step-about">
          <span>{t(`step.state.${run.status}`)}</span>
          {step?.agent !== undefined && <span className="agent">{visible(step.agent)}</span>}
          {run.startedAt && <Elapsed from={run.startedAt} to={run.finishedAt} />}
          {run.startedAt && <span>{clockTime(run.startedAt)}</span>}
          {run.calls !== undefined && <span>{t("tools.count", { count: run.calls })}</span>}
          {run.spend && <span>{t("runs.tokens", { count: run.spend.tokens })}</span>}
        </div>
        {open && hasDetails && (
          <div className="step-details">
            {step?.tool !== undefined && <CallView tool={step.tool} args={step.arguments} />}
            {run.note !== null && (
              <div className="detail">
                <h2>{step?.tool === undefined ? t("step.note") : t("step.result")}</h2>
                {step?.tool === undefined ? <p><Visible text={run.note} /></p> : <ResultView result={run.note} />}
              </div>
            )}
            {run.evidence !== null && (
              <div className="detail">
                <h2>{t("step.evidence")}</h2>
                <p>
                  <Visible text={run.evidence} />
                </p>
              </div>
            )}
          </div>
        )}
      </div>
    </li>
  );
}
