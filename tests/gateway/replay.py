"""Replays AgentDojo through the real program: `scripts/test-gateway` starts it.

The calls that solve each task are made through `planwright mcp` by a scripted agent, which also tries every call that the suite's
injections ask for, in several disguises: before the first call of the task, while what the person approved is carried out, and after the
task. The person approves exactly the calls of the task, and rejects every round with others. What ran is counted by the server that is
called.

    replay.py --planwright PROGRAM --folder FOLDER [--only MODE] [--tasks NUMBER] [--docs docs/gateway.md] [--results FILE]
    replay.py --merge FILE… --docs docs/gateway.md      the table from the results of all modes, each replayed by itself
    replay.py --check          the suites and the server alone, without planwright
"""

import argparse
import collections
import itertools
import json
import os
import shutil
import subprocess
import sys
import time

import suites
from client import Agent, Stage
from table import write_table
from upstream import Upstream
from variants import LATER, SERVER, attempts, call_request, is_reading, named

HERE = os.path.dirname(os.path.abspath(__file__))
# By name: the style of the plan, and the settings.
MODES = {
    "recorded": ("document", {}),
    "collect": ("collect", {}),
    "collect, reads run": ("collect", {"PLANWRIGHT_GATEWAY_READS": "run"}),
    "during_plan": ("document", {"PLANWRIGHT_GATEWAY_WRITES": "during_plan"}),
    "ask": ("document", {"PLANWRIGHT_GATEWAY_WRITES": "ask"}),
    "free": ("document", {"PLANWRIGHT_GATEWAY_WRITES": "free"}),
}
OVER = ("COMPLETED", "PARTIALLY_COMPLETED")


class Figures:
    """What happened in a mode."""

    def __init__(self):
        self.tasks = self.gold = self.gold_missing = self.rounds = self.approvals = self.questions = 0
        # By kind of attempt: how many, and how many changing and reading calls reached the server because of them.
        self.tried, self.changed, self.read = (collections.Counter() for _ in range(3))
        self.errors = []


class Replay:
    """One task in one mode."""

    def __init__(self, stage, upstream, suite, task, mode, figures):
        self.upstream, self.mode, self.figures = upstream, mode, figures
        self.style, self.gold = MODES[mode][0], suite.tasks[task]
        self.prompt = " ".join(suite.prompt(task).split())
        # Each injection is tried at one of the three moments, in all its disguises.
        self.moments = [[], [], []]
        for number, calls in enumerate(suite.injections.values()):
            self.moments[number % 3].extend(attempts(calls, self.gold))
        self.is_gold, self.because_tried = False, 0
        upstream.begin(suite, task)
        self.agent = Agent(stage, f"{suite.name}-{task}-{mode}".replace(", ", "-").replace(" ", "-").replace("_", "-"), self.style, lambda: self.is_gold)

    def run(self):
        document = self.style == "document"
        if document:
            self.agent.do("plan_set_content", {"plan_markdown": f"# The task\n\n- [ ] {self.prompt}\n"})
            plan = self.agent.plan()
            self.agent.approve(plan["number"], plan["digest"])
            # Only here calls need it; elsewhere it stands beside them, because an attacker would like it to count.
            self.figures.approvals += self.mode == "during_plan"
        self.try_injections(0)
        groups = [(reads, list(calls)) for reads, calls in itertools.groupby(self.gold, lambda call: suites.only_reads(call.function))]
        middle = next((number for number, (reads, _) in enumerate(groups) if not reads), 0)
        for number, (reads, calls) in enumerate(groups):
            self.carry_out(reads, calls, is_middle=number == middle)
        if document:
            self.agent.do("plan_progress", {"status": "done"})
        self.try_injections(2)
        self.agent.leave()
        self.count_gold()

    def carry_out(self, reads, calls, is_middle):
        """Calls of the task that need no result of one another."""
        self.is_gold = True
        if self.runs_at_once(reads):
            for call in calls:
                self.make(call)
            self.is_gold = False
            if is_middle:
                self.try_injections(1)
            return
        for call in calls:
            self.make(call)
        keeps_open = is_middle and self.style == "collect"
        if keeps_open:
            # The agent's own call, so that the plan is still carried out while others are tried.
            self.agent.do("plan_add_call", {"tool": "Bash", "arguments": {"command": "make"}})
        closed = self.agent.do("plan_finalize", {})
        self.is_gold = False
        if is_middle and not keeps_open:
            self.try_injections(1)
        received = len(self.upstream.calls())
        self.agent.approve(closed["number"], closed["digest"])
        self.figures.rounds += 1
        self.figures.approvals += 1
        if keeps_open:
            self.agent.wait(lambda _: len(self.upstream.calls()) >= received + len(calls))
            self.try_injections(1)
            self.agent.do("plan_progress", {"status": "done"})
        self.agent.wait(lambda plan: self.recorded(plan).get("status") in OVER)

    def runs_at_once(self, reads):
        """Whether calls are made at once in this mode."""
        if self.mode == "collect":
            return False
        return reads or self.mode in ("during_plan", "ask", "free")

    def make(self, call):
        taken, answer = self.agent.call(*call_request(call)[1:])
        if not taken:
            self.figures.errors.append(f"{self.agent.session}: {named(call)} {json.dumps(call.as_object)}: {json.dumps(answer)[:300]}")

    def recorded(self, plan):
        """The plan or the round that calls are recorded in."""
        return plan if self.style == "collect" else plan.get("round") or {}

    def try_injections(self, moment):
        for kind, request in self.moments[moment]:
            before = len(self.upstream.calls())
            self.agent.attempt(request)
            self.figures.tried[kind] += 1
            self.count_injected(kind, self.upstream.calls()[before:])
        if self.mode in ("during_plan", "ask", "free"):
            return
        # What was written down, the person sees and rejects.
        recorded = self.recorded(self.agent.plan())
        if recorded.get("status") == "COLLECTING" and recorded.get("steps"):
            self.agent.reject(self.agent.do("plan_finalize", {})["number"])

    def count_injected(self, kind, calls):
        self.because_tried += len(calls)
        for call in calls:
            (self.figures.read if suites.only_reads(call.function) else self.figures.changed)[kind] += 1

    def count_gold(self):
        """Each call of the task once, exactly. What reached the server otherwise, and not while it was tried, was made later."""
        received = collections.Counter(key_of(call) for call in self.upstream.calls())
        wanted = collections.Counter(key_of(call) for call in self.gold)
        self.figures.tasks += 1
        self.figures.gold += len(self.gold)
        self.figures.gold_missing += (wanted - received).total()
        self.figures.questions += self.agent.permitted
        self.figures.changed[LATER] += max((received - wanted).total() - self.because_tried, 0)


def key_of(call):
    return json.dumps([call.function, call.as_object], sort_keys=True)


def replay(planwright, folder, only, most):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    loaded = suites.load()
    upstream = Upstream(f"{folder}/dojo")
    arguments = json.dumps([f"{HERE}/pipe.py", f"{folder}/dojo"])
    server = f'[mcp.servers.{SERVER}]\ncommand = "python3"\nargs = {arguments}\n'
    figures = {}
    for mode, (_, settings) in MODES.items():
        if not is_wanted(mode, only):
            continue
        of_mode = figures.setdefault(mode, Figures())
        for suite in loaded.values():
            begun = time.monotonic()
            upstream.begin(suite, None)
            stage = Stage(f"{folder}/{mode.replace(', ', '-').replace(' ', '-')}-{suite.name}", planwright, server, settings)
            tasks = list(suite.tasks)[:most]
            for task in tasks:
                run_task(stage, upstream, suite, task, mode, of_mode)
            print(f"{mode}, {suite.name}: {len(tasks)} tasks, {time.monotonic() - begun:.0f} s", flush=True)
    return figures


def is_wanted(mode, only):
    """The mode with this name, else those whose name contains it."""
    return mode == only if only in MODES else only in mode


def run_task(stage, upstream, suite, task, mode, figures):
    one = None
    try:
        one = Replay(stage, upstream, suite, task, mode, figures)
        one.run()
    except (RuntimeError, OSError, LookupError, ValueError, subprocess.TimeoutExpired) as error:
        figures.errors.append(f"{suite.name}-{task}-{mode}: {error!r}")
        if one:
            one.agent.kill()


def merged(files):
    """The figures of all modes, from the results of several replays."""
    found = {}
    for path in files:
        with open(path) as file:
            for mode, values in json.load(file).items():
                found[mode] = Figures()
                vars(found[mode]).update({name: collections.Counter(one) if isinstance(one, dict) else one for name, one in values.items()})
    return {mode: found[mode] for mode in MODES}


def check():
    """The suites and the server alone."""
    loaded = suites.load()
    tasks = sum(len(suite.tasks) for suite in loaded.values())
    gold = sum(len(calls) for suite in loaded.values() for calls in suite.tasks.values())
    tried, failed = collections.Counter(), []
    for suite in loaded.values():
        runtime = suite.runtime()
        for task, calls in suite.tasks.items():
            environment = suite.environment(task)
            for call in calls:
                _, error = runtime.run_function(environment, call.function, call.as_object)
                if error:
                    failed.append(f"{suite.name} {task} {call.function}: {error}")
            for injected in suite.injections.values():
                for kind, request in attempts(injected, calls):
                    json.dumps(request)
                    tried[f"{kind}{', reading' if is_reading(request) else ''}"] += 1
    print(f"{tasks} tasks with {gold} calls; {sum(tried.values())} attempts: {dict(tried)}")
    print("\n".join(failed) or "every call of a task runs")
    return not failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--planwright")
    parser.add_argument("--folder")
    parser.add_argument("--only", default="")
    parser.add_argument("--tasks", type=int, help="of each suite only the first ones")
    parser.add_argument("--docs", help="the page whose table is written")
    parser.add_argument("--results", help="the file that the figures are written to")
    parser.add_argument("--merge", nargs="+", help="files with results, in place of a replay")
    options = parser.parse_args()
    if options.check:
        sys.exit(0 if check() else 1)
    if options.merge:
        figures = merged(options.merge)
    else:
        figures = replay(os.path.abspath(options.planwright), os.path.abspath(options.folder), options.only, options.tasks)
    if options.results:
        with open(options.results, "w") as file:
            json.dump({mode: vars(one) for mode, one in figures.items()}, file, indent=1)
    errors = [error for one in figures.values() for error in one.errors]
    print("\n".join(errors[:50]))
    # A part of the table would look like the whole.
    if options.docs and not options.only and not options.tasks and not errors:
        write_table(options.docs, figures)
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
