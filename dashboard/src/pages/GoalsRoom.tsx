import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { addGoal, addTask, changeGoal, changeTask, command, diaryQuery, goalsQuery, tasksQuery } from "../api/auto";
import type { Goal, GoalStatus, Task, TaskStatus } from "../api/types";
import { useKey } from "../api/useKey";
import { useFollowSession } from "../live/useLive";
import { Markdown } from "../markdown/Markdown";
import { LineForm, RoomSection } from "../rooms/parts";
import type { SessionId } from "../session/id";
import { t } from "../texts/t";
import { Empty, errorWords, Failure, IconButton, Loading, Time } from "../ui/basics";
import { Visible } from "../ui/hidden";
import { Menu } from "../ui/Menu";
import { StateBadge, StateMark, type Shape, type Tone } from "../ui/status";
import { say } from "../ui/toasts";

/** What the session works towards: goals with their tasks, and the diary of what was done. */
export function GoalsRoom(): ReactNode {
  const { session } = useParams({ from: "/s/$session" });
  useFollowSession(session);
  const goals = useQuery(goalsQuery(session));
  const tasks = useQuery(tasksQuery(session));
  const failed = goals.isError ? goals : tasks.isError ? tasks : undefined;
  if (failed) return <Failure error={failed.error} retry={() => void failed.refetch()} />;
  if (!goals.data || !tasks.data) return <Loading />;
  return (
    <div className="room">
      <div className="room-column">
        <Goals session={session} goals={goals.data} tasks={tasks.data} />
        <Diary session={session} />
      </div>
    </div>
  );
}

const GOAL_LOOKS: Record<GoalStatus, [Tone, Shape]> = { active: ["running", "half"], paused: ["waiting", "pause"], done: ["done", "check"], cancelled: ["quiet", "minus"] };
const TASK_LOOKS: Record<TaskStatus, [Tone, Shape]> = { open: ["quiet", "circle"], done: ["done", "check"], failed: ["failed", "cross"], skipped: ["quiet", "minus"] };

/** Which status a person can give next. */
const GOAL_NEXT: Record<GoalStatus, readonly GoalStatus[]> = { active: ["done", "paused", "cancelled"], paused: ["active", "done", "cancelled"], done: ["active"], cancelled: ["active"] };
const TASK_NEXT: Record<TaskStatus, readonly TaskStatus[]> = { open: ["done", "failed", "skipped"], done: ["open"], failed: ["open"], skipped: ["open"] };

function Goals({ session, goals, tasks }: { session: SessionId; goals: readonly Goal[]; tasks: readonly Task[] }): ReactNode {
  const client = useQueryClient();
  const key = useKey();
  const reload = () => client.invalidateQueries({ queryKey: ["auto", session] });
  const add = async (title: string) => {
    await addGoal(session, title, key.of(title));
    key.renew();
    await reload();
  };
  // What is worked on comes first.
  const sorted = [...goals].sort((a, b) => Number(isOver(a)) - Number(isOver(b)) || a.number - b.number);
  const loose = tasks.filter((task) => task.goalId === null);
  return (
    <>
      <RoomSection title={t("goals.title")}>
        {goals.length === 0 && (
          <Empty title={t("goals.none")}>
            <p>{t("goals.noneWords")}</p>
          </Empty>
        )}
        {sorted.map((goal) => (
          <GoalCard key={goal.id} session={session} goal={goal} tasks={tasks.filter((task) => task.goalId === goal.id)} />
        ))}
        <LineForm label={t("goals.new")} button={t("goals.add")} send={add} />
      </RoomSection>
      <RoomSection title={t("tasks.loose")}>
        <TaskList session={session} tasks={loose} goal={undefined} />
      </RoomSection>
    </>
  );
}

const isOver = (goal: Goal) => goal.status === "done" || goal.status === "cancelled";

function GoalCard({ session, goal, tasks }: { session: SessionId; goal: Goal; tasks: readonly Task[] }): ReactNode {
  const client = useQueryClient();
  const change = (status: GoalStatus) =>
    void changeGoal(session, goal.id, status)
      .catch((error: unknown) => say(errorWords(error), { tone: "failed" }))
      .finally(() => client.invalidateQueries({ queryKey: ["auto", session] }));
  const [tone, shape] = GOAL_LOOKS[goal.status];
  const over = tasks.filter((task) => task.status !== "open").length;
  return (
    <article className="card" data-over={isOver(goal) || undefined}>
      <header className="card-head">
        <StateBadge tone={tone} shape={shape}>
          {t(`goal.state.${goal.status}`)}
        </StateBadge>
        <h3>
          <span className="secondary">{t("goal.number", { n: goal.number })}</span> <Visible text={goal.title} />
        </h3>
        {tasks.length > 0 && <span className="secondary">{t("goal.tasksOver", { over, total: tasks.length })}</span>}
        <Menu trigger={<IconButton icon="more" label={t("goal.change", { n: goal.number })} />} items={GOAL_NEXT[goal.status].map((status) => ({ label: t(`goal.to.${status}`), act: () => change(status) }))} />
      </header>
      {goal.note !== null && (
        <p className="secondary">
          <Visible text={goal.note} />
        </p>
      )}
      <TaskList session={session} tasks={tasks} goal={goal} />
    </article>
  );
}

function TaskList({ session, tasks, goal }: { session: SessionId; tasks: readonly Task[]; goal: Goal | undefined }): ReactNode {
  const client = useQueryClient();
  const key = useKey();
  const add = async (title: string) => {
    await addTask(session, goal?.id, title, key.of([goal?.id, title]));
    key.renew();
    await client.invalidateQueries({ queryKey: ["auto", session] });
  };
  return (
    <>
      {tasks.length > 0 && (
        <ul className="rows">
          {tasks.map((task) => (
            <TaskRow key={task.id} session={session} task={task} />
          ))}
        </ul>
      )}
      {(goal === undefined || !isOver(goal)) && (
        <LineForm label={goal === undefined ? t("tasks.new") : t("tasks.newFor", { n: goal.number })} button={t("tasks.add")} send={add} />
      )}
    </>
  );
}

function TaskRow({ session, task }: { session: SessionId; task: Task }): ReactNode {
  const client = useQueryClient();
  const change = (status: TaskStatus) =>
    void changeTask(session, task.id, status)
      .catch((error: unknown) => say(errorWords(error), { tone: "failed" }))
      .finally(() => client.invalidateQueries({ queryKey: ["auto", session] }));
  const [tone, shape] = TASK_LOOKS[task.status];
  return (
    <li className="row" data-over={task.status !== "open" || undefined}>
      <StateMark tone={tone} shape={shape} label={t(`task.state.${task.status}`)} />
      <div className="row-main">
        <span>
          <span className="secondary">{task.number}</span> <Visible text={task.title} />
        </span>
        {task.note !== null && (
          <span className="secondary">
            <Visible text={task.note} />
          </span>
        )}
      </div>
      <span className="secondary">
        {t(`task.state.${task.status}`)} <Time at={task.changedAt} />
      </span>
      <Menu trigger={<IconButton icon="more" label={t("task.change", { n: task.number })} />} items={TASK_NEXT[task.status].map((status) => ({ label: t(`task.to.${status}`), act: () => change(status) }))} />
    </li>
  );
}

function Diary({ session }: { session: SessionId }): ReactNode {
  const diary = useQuery(diaryQuery(session));
  const client = useQueryClient();
  const key = useKey();
  const add = async (text: string) => {
    const said = `/diary add ${text.replace(/\s+/g, " ")}`;
    await command(session, said, key.of(said));
    key.renew();
    await client.invalidateQueries({ queryKey: ["auto", session, "diary"] });
  };
  return (
    <RoomSection title={t("diary.title")}>
      {diary.isError && <Failure error={diary.error} retry={() => void diary.refetch()} />}
      {diary.isPending && <Loading />}
      {diary.data !== undefined && (
        <div className="diary">
          <Markdown text={diary.data} />
        </div>
      )}
      <LineForm label={t("diary.new")} button={t("diary.add")} send={add} />
    </RoomSection>
  );
}
