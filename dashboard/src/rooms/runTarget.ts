import type { RunTarget } from "../api/auto";
import type { Goal, Run, Schedule, Task } from "../api/types";

/** What a session has for work without a person. */
export interface AutoWork {
  goals: readonly Goal[];
  tasks: readonly Task[];
  runs: readonly Run[];
  schedules: readonly Schedule[];
}

/** What a run is started on, with the words that a signature is about. */
export interface RunStart {
  target: RunTarget;
  goal?: Goal | undefined;
  task?: Task | undefined;
  /** Of these words, as the server has them. */
  digest: string | undefined;
}

/**
 * What a run works on that is started on `goal:ID`, `task:ID` or, with an empty text, on what is first. The first is named to the server:
 * what is started is what was shown, also if another goal or task has become the first.
 */
export function runStart(on: string, work: AutoWork): RunStart {
  const [kind, id] = on.split(":");
  const goal = kind === "goal" ? work.goals.find((one) => one.id === id) : on === "" ? work.goals.find((one) => one.status === "active") : undefined;
  if (goal) return { target: { goalId: goal.id }, goal, task: freeTask(goal.id, work), digest: goal.digest };
  const task = kind === "task" ? work.tasks.find((one) => one.id === id) : on === "" ? freeTask(null, work) : undefined;
  if (task) return { target: { taskId: task.id }, task, goal: work.goals.find((one) => one.id === task.goalId), digest: task.digest };
  // It is gone, or there is none: the server says so, or makes one.
  return { target: kind === "goal" && id ? { goalId: id } : kind === "task" && id ? { taskId: id } : {}, digest: undefined };
}

/** The task that a run of the goal, or of none, begins with: the first open one that no run works on and no schedule has. */
function freeTask(goal: string | null, { tasks, runs, schedules }: AutoWork): Task | undefined {
  const isTaken = (task: Task) =>
    runs.some((run) => run.taskId === task.id && (run.state === "running" || run.state === "paused")) || schedules.some((schedule) => schedule.taskId === task.id);
  return tasks.find((task) => task.goalId === goal && task.status === "open" && !isTaken(task));
}
