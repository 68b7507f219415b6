import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";

import { resumeRunAct, startRunAct } from "../api/acts";
import { changeRun, goalsQuery, loadWork, type RunChoice, runMessagesQuery, runsQuery, schedulesQuery, startRun, tasksQuery } from "../api/auto";
import { newId } from "../api/newId";
import type { Run } from "../api/types";
import { useKey } from "../api/useKey";
import { useNeeds, useSigning, type Signable } from "../approval/useSigning";
import { useFollowSession } from "../live/useLive";
import { Markdown } from "../markdown/Markdown";
import { Elapsed } from "../plan/StepList";
import { Problem, RoomSection } from "../rooms/parts";
import { runStart, type AutoWork } from "../rooms/runTarget";
import { Schedules } from "../rooms/Schedules";
import { WorkShown } from "../rooms/WorkShown";
import type { SessionId } from "../session/id";
import { duration, t } from "../texts/t";
import { Button, Empty, errorWords, Failure, Loading, sentence, Time } from "../ui/basics";
import { Visible, visible } from "../ui/hidden";
import { StateBadge, type Shape, type Tone } from "../ui/status";
import { say } from "../ui/toasts";

/** Work without a person: what runs now, what ran, and what starts at set times. */
export function RunsRoom(): ReactNode {
  const { session } = useParams({ from: "/s/$session" });
  useFollowSession(session);
  const goals = useQuery(goalsQuery(session));
  const tasks = useQuery(tasksQuery(session));
  const runs = useQuery(runsQuery(session));
  const schedules = useQuery(schedulesQuery(session));
  const failed = [goals, tasks, runs, schedules].find((query) => query.isError);
  if (failed) return <Failure error={failed.error} retry={() => void failed.refetch()} />;
  if (!goals.data || !tasks.data || !runs.data || !schedules.data) return <Loading />;
  const work: AutoWork = { goals: goals.data, tasks: tasks.data, runs: runs.data, schedules: schedules.data };
  return (
    <div className="room">
      <div className="room-column">
        <RoomSection title={t("runs.title")}>
          <StartRun session={session} work={work} />
          {runs.data.length === 0 && (
            <Empty title={t("runs.none")}>
              <p>{t("runs.noneWords")}</p>
            </Empty>
          )}
          <div aria-live="polite">
            {[...runs.data]
              .sort((a, b) => b.number - a.number)
              .map((run) => (
                <RunCard key={run.id} session={session} run={run} work={work} />
              ))}
          </div>
        </RoomSection>
        <Schedules session={session} work={work} />
      </div>
    </div>
  );
}

function StartRun({ session, work }: { session: SessionId; work: AutoWork }): ReactNode {
  const { goals, tasks } = work;
  const [on, setOn] = useState("");
  const client = useQueryClient();
  const key = useKey();
  const active = goals.filter((goal) => goal.status === "active");
  const open = tasks.filter((task) => task.status === "open");
  const signing = useSigning(useNeeds(session)?.starts, "run");
  const signable = (from: AutoWork): Signable => {
    const { target, goal, task, digest } = runStart(on, from);
    return {
      title: t("runs.start"),
      send: t("runs.start"),
      shown: goal || task ? <WorkShown goal={goal} task={task} /> : <p>{t("runs.onFirst")}</p>,
      act: startRunAct(session, target, digest),
      perform: async (proof) => {
        try {
          await startRun(session, target, key.of(target), proof, digest);
          key.renew();
        } finally {
          void client.invalidateQueries({ queryKey: ["auto", session] });
        }
      },
      reload: async () => signable(await loadWork(client, session)),
    };
  };
  const start = () => void signing.begin(signable(work));
  const nothing = active.length === 0 && open.length === 0;
  return (
    <>
      <form
        className="line-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!nothing && !signing.busy) start();
        }}
      >
        <label>
          <span className="visually-hidden">{t("runs.on")}</span>
          <select value={on} onChange={(event) => setOn(event.target.value)}>
            <option value="">{t("runs.onFirst")}</option>
            {active.map((goal) => (
              <option key={goal.id} value={`goal:${goal.id}`}>
                {t("runs.onGoal", { n: goal.number, title: visible(goal.title) })}
              </option>
            ))}
            {open.map((task) => (
              <option key={task.id} value={`task:${task.id}`}>
                {t("runs.onTask", { n: task.number, title: visible(task.title) })}
              </option>
            ))}
          </select>
        </label>
        <Button type="submit" look="primary" icon="run" busy={signing.busy} off={nothing ? t("runs.offNothing") : undefined}>
          {t("runs.start")}
        </Button>
        {signing.note}
        <Problem error={signing.problem} />
      </form>
      {signing.dialog}
    </>
  );
}

function workOf(run: Run, { goals, tasks }: AutoWork) {
  return { goal: goals.find((one) => one.id === run.goalId), task: tasks.find((one) => one.id === run.taskId) };
}

type RunState = "running" | "paused" | "interrupted" | "completed" | "failed" | "stopped";
const LOOKS: Record<RunState, [Tone, Shape]> = {
  running: ["running", "dots"],
  paused: ["waiting", "pause"],
  interrupted: ["waiting", "question"],
  completed: ["done", "check"],
  failed: ["failed", "cross"],
  stopped: ["quiet", "minus"],
};

function RunCard({ session, run, work }: { session: SessionId; run: Run; work: AutoWork }): ReactNode {
  const client = useQueryClient();
  const [key] = useState(newId);
  const { goal, task } = workOf(run, work);
  const signing = useSigning(useNeeds(session)?.starts, "run");
  const signable = (to: RunChoice, now: Run, from: AutoWork): Signable => ({
    title: t("sign.resumeRun", { n: now.number }),
    send: t("sign.resumeRun", { n: now.number }),
    shown: <WorkShown {...workOf(now, from)} />,
    act: to === "resume" ? resumeRunAct(session, now) : undefined,
    perform: async (proof) => {
      try {
        await changeRun(session, now, to, `${key}-${to}-${now.activeAt}`, proof);
      } finally {
        void client.invalidateQueries({ queryKey: ["auto", session] });
        void client.invalidateQueries({ queryKey: ["inbox"] });
      }
    },
    reload: async () => {
      const loaded = await loadWork(client, session);
      const found = loaded.runs.find((one) => one.id === now.id);
      return found && signable(to, found, loaded);
    },
  });
  const change = async (to: RunChoice) => {
    const problem = await signing.begin(signable(to, run, work));
    if (problem !== undefined) say(errorWords(problem), { tone: "failed" });
  };
  const state = run.state as RunState;
  const [tone, shape] = LOOKS[state] ?? ["quiet", "circle"];
  const waits = state === "paused" || state === "interrupted";
  return (
    <article className="card" aria-label={t("runs.number", { n: run.number })}>
      <header className="card-head">
        <StateBadge tone={tone} shape={shape}>
          {t(`runs.state.${state}`)}
        </StateBadge>
        <h3>
          <span className="secondary">{t("runs.number", { n: run.number })}</span> {task && <Visible text={task.title} />}
        </h3>
        <div className="card-actions">
          {run.actions.map(({ name, label }) => (
            <Button key={name} look={name === "resume" ? "primary" : undefined} icon={name === "stop" ? "stop" : undefined} busy={signing.busy} onClick={() => void change(name as RunChoice)}>
              {label}
            </Button>
          ))}
        </div>
      </header>
      {run.reason !== null && (
        <p className={waits ? "card-why" : "secondary"}>
          <Visible text={sentence(run.reason)} />
        </p>
      )}
      <p className="facts">
        {goal && (
          <span>
            {t("goal.number", { n: goal.number })}: <Visible text={goal.title} />
          </span>
        )}
        <span>{t("runs.turns", { count: run.spent.turns })}</span>
        <span>{t("runs.tokens", { count: run.spent.tokens })}</span>
        <span>{t("runs.work", { time: duration(run.spent.seconds * 1000) })}</span>
        {run.spent.money > 0 && <span>{t("runs.money", { sum: run.spent.money.toFixed(2) })}</span>}
        <span>
          {t("runs.started")} <Time at={run.startedAt} />
        </span>
        {state === "running" && <Elapsed from={run.startedAt} to={undefined} />}
        {run.scheduleId !== undefined && <span>{t("runs.bySchedule")}</span>}
      </p>
      {signing.dialog}
      <RunMessages session={session} run={run} />
    </article>
  );
}

/** What was said in the turns of a run. The conversation of the session has its result only. */
function RunMessages({ session, run }: { session: SessionId; run: Run }): ReactNode {
  const [open, setOpen] = useState(false);
  const page = useQuery({ ...runMessagesQuery(session, run.id), enabled: open });
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t("runs.messages")}</summary>
      {open && page.isError && <Failure error={page.error} retry={() => void page.refetch()} />}
      {open && page.isPending && <Loading />}
      {page.data?.messages.length === 0 && <p className="secondary">{t("runs.noMessages")}</p>}
      {page.data?.messages.map((message) => (
        <article key={message.seq} className="message" data-role={message.role}>
          <p className="secondary">
            {message.tool !== undefined ? <Visible text={message.tool} /> : <Visible text={message.by.name} />} <Time at={message.at} />
          </p>
          {message.role === "tool" ? <pre>{<Visible text={message.text} />}</pre> : <Markdown text={message.text} />}
          {message.calls?.map((call, place) => <p key={place} className="secondary"><code><Visible text={`${call.name} ${call.arguments}`} /></code></p>)}
        </article>
      ))}
    </details>
  );
}
