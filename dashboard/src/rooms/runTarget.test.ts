import { expect, test } from "vitest";

import type { Goal, Run, Schedule, Task } from "../api/types";
import { runStart, type AutoWork } from "./runTarget";

const goal = (id: string, status = "active") => ({ id, status, title: id, note: null, digest: `digest of ${id}` }) as Goal;
const task = (id: string, goalId: string | null = null, status = "open") => ({ id, goalId, status, title: id, note: null, digest: `digest of ${id}` }) as Task;
const run = (taskId: string, state: string) => ({ id: `run of ${taskId}`, taskId, state }) as Run;
const work = (parts: Partial<AutoWork>): AutoWork => ({ goals: [], tasks: [], runs: [], schedules: [], ...parts });

test("what is first is named, with the words that a run of it begins with", () => {
  const all = work({ goals: [goal("old", "done"), goal("move")], tasks: [task("alone"), task("pack", "move", "done"), task("load", "move")] });
  expect(runStart("", all)).toMatchObject({ target: { goalId: "move" }, goal: { id: "move" }, task: { id: "load" }, digest: "digest of move" });
  expect(runStart("", { ...all, goals: [] })).toMatchObject({ target: { taskId: "alone" }, task: { id: "alone" }, digest: "digest of alone" });
  expect(runStart("task:load", all)).toMatchObject({ target: { taskId: "load" }, goal: { id: "move" }, task: { id: "load" }, digest: "digest of load" });
  expect(runStart("goal:move", all)).toMatchObject({ target: { goalId: "move" }, task: { id: "load" } });
});

test("a task that a run works on or a schedule has is not what a run begins with", () => {
  const tasks = [task("running"), task("paused"), task("scheduled"), task("interrupted"), task("free")];
  const schedules = [{ id: "s1", taskId: "scheduled" } as Schedule];
  expect(runStart("", work({ tasks, schedules, runs: [run("running", "running"), run("paused", "paused"), run("interrupted", "interrupted")] })).task?.id).toBe("interrupted");
});

test("what is gone is left to the server to refuse, and nothing is signed for it", () => {
  expect(runStart("goal:gone", work({}))).toEqual({ target: { goalId: "gone" }, digest: undefined });
  expect(runStart("task:gone", work({}))).toEqual({ target: { taskId: "gone" }, digest: undefined });
  expect(runStart("", work({}))).toEqual({ target: {}, digest: undefined });
});
