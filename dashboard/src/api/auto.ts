import { queryOptions, type QueryClient } from "@tanstack/react-query";

import type { AutoWork } from "../rooms/runTarget";
import { sessionQuery, type SessionId } from "../session/id";
import { once, signed, type Proof } from "./acts";
import { request } from "./client";
import type { Answer, Goal, GoalStatus, MessagePage, Run, Schedule, Task, TaskStatus } from "./types";

const path = encodeURIComponent;

/** Everything of a session that has to do with work without a person is under `["auto", session]`. */
function listQuery<T>(id: SessionId, what: "goals" | "tasks" | "runs" | "schedules") {
  return queryOptions({
    queryKey: ["auto", id, what],
    queryFn: async ({ signal }) => (await request<{ items: T[] }>("GET", `/api/${what}`, { query: sessionQuery(id), signal })).items,
  });
}

export const goalsQuery = (id: SessionId) => listQuery<Goal>(id, "goals");
export const tasksQuery = (id: SessionId) => listQuery<Task>(id, "tasks");
export const runsQuery = (id: SessionId) => listQuery<Run>(id, "runs");
export const schedulesQuery = (id: SessionId) => listQuery<Schedule>(id, "schedules");

/** Everything that a run can be started on, as the server has it now. What has digests is asked for first: it is never newer than the words. */
export async function loadWork(client: QueryClient, id: SessionId): Promise<AutoWork> {
  const [runs, schedules] = await Promise.all([client.fetchQuery({ ...runsQuery(id), staleTime: 0 }), client.fetchQuery({ ...schedulesQuery(id), staleTime: 0 })]);
  const [goals, tasks] = await Promise.all([client.fetchQuery({ ...goalsQuery(id), staleTime: 0 }), client.fetchQuery({ ...tasksQuery(id), staleTime: 0 })]);
  return { goals, tasks, runs, schedules };
}

/** The newest messages of a run, in order. */
export function runMessagesQuery(id: SessionId, run: string) {
  const { sessionId, channel } = sessionQuery(id);
  return queryOptions({
    queryKey: ["auto", id, "runs", run, "messages"],
    queryFn: ({ signal }) => request<MessagePage>("GET", `/api/sessions/${path(sessionId)}/messages`, { query: { channel, runId: run }, signal }),
  });
}

/** The newest entries, as the list that `/diary` answers with. */
export function diaryQuery(id: SessionId) {
  return queryOptions({
    queryKey: ["auto", id, "diary"],
    queryFn: async () => (await command(id, "/diary")).reply,
  });
}

/** Carries out a slash command of the session and answers with what it says. */
export function command(id: SessionId, text: string, key?: string): Promise<Answer> {
  const { sessionId, channel } = sessionQuery(id);
  return request<Answer>("POST", `/api/sessions/${path(sessionId)}/messages`, { query: { channel }, body: { text }, ...(key === undefined ? {} : { idempotencyKey: key }) });
}

export function addGoal(id: SessionId, title: string, key: string): Promise<Goal> {
  return request("POST", "/api/goals", { body: { ...sessionQuery(id), title }, idempotencyKey: key });
}

export function changeGoal(id: SessionId, goal: string, status: GoalStatus): Promise<Goal> {
  return request("PATCH", `/api/goals/${path(goal)}`, { query: sessionQuery(id), body: { status } });
}

export function addTask(id: SessionId, goalId: string | undefined, title: string, key: string): Promise<Task> {
  return request("POST", "/api/tasks", { body: { ...sessionQuery(id), title, ...(goalId === undefined ? {} : { goalId }) }, idempotencyKey: key });
}

export function changeTask(id: SessionId, task: string, status: TaskStatus): Promise<Task> {
  return request("PATCH", `/api/tasks/${path(task)}`, { query: sessionQuery(id), body: { status } });
}

/** What a run works on; without either, the first active goal or the first open task. */
export interface RunTarget {
  goalId?: string;
  taskId?: string;
}

export function startRun(id: SessionId, on: RunTarget, key: string, proof?: Proof, digest?: string): Promise<Run> {
  return request("POST", "/api/runs", { body: { ...sessionQuery(id), ...on, ...signed(proof, digest) }, ...once(key, proof) });
}

export type RunChoice = "resume" | "stop";

/** Lets a run continue that waits for a person, or ends it. */
export function changeRun(id: SessionId, run: Pick<Run, "id" | "digest">, to: RunChoice, key: string, proof?: Proof): Promise<Run> {
  return request("POST", `/api/runs/${path(run.id)}/${to}`, { query: sessionQuery(id), body: { ...signed(proof, run.digest) }, ...once(key, proof) });
}

export interface NewSchedule {
  title: string;
  cron: string;
  timeZone: string;
  goalId?: string;
  maxExecutions?: number;
}

export function addSchedule(id: SessionId, schedule: NewSchedule, key: string, proof?: Proof): Promise<Schedule> {
  return request("POST", "/api/schedules", { body: { ...sessionQuery(id), ...schedule, ...proof }, ...once(key, proof) });
}

export function switchSchedule(id: SessionId, schedule: Pick<Schedule, "id" | "digest">, to: "pause" | "resume", key: string, proof?: Proof): Promise<Schedule> {
  return request("POST", `/api/schedules/${path(schedule.id)}/${to}`, { query: sessionQuery(id), body: { ...signed(proof, schedule.digest) }, ...once(key, proof) });
}

export function deleteSchedule(id: SessionId, schedule: string): Promise<void> {
  return request("DELETE", `/api/schedules/${path(schedule)}`, { query: sessionQuery(id) });
}
