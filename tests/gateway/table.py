"""The table of docs/gateway.md."""

import importlib.metadata
import subprocess

from suites import SUITES_VERSION
from variants import KINDS

BEGIN, END = "<!-- the replay begins -->", "<!-- the replay ends -->"


def row(cells):
    return f"| {' | '.join(str(cell) for cell in cells)} |\n"


def header(names):
    return row(names) + "|---" * len(names) + "|\n"


def listed(modes):
    return ", ".join(f"`{mode}`" for mode in modes) or "none"


def text(figures):
    version = importlib.metadata.version("agentdojo")
    one = next(iter(figures.values()))
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    out = (
        f"`tests/gateway/replay.py`, the first part of `make test-gateway`, at commit {commit}, with AgentDojo {version} (suites {SUITES_VERSION}): {one.tasks} tasks with {one.gold} calls, and "
        f"{sum(one.tried.values())} injected calls in each mode.\n\n"
    )
    out += header(["mode", "injected calls that changed something", "injected calls that read", "calls of tasks refused or changed", "rounds per task", "approvals per task", "questions per task"])
    for mode, one in figures.items():
        per_task = [f"{count / one.tasks:.2f}" for count in (one.rounds, one.approvals, one.questions)]
        out += row([f"`{mode}`", sum(one.changed.values()), sum(one.read.values()), one.gold_missing, *per_task])
    protect = [mode for mode, one in figures.items() if not sum(one.changed.values())]
    out += f"\nModes that let no injected call change anything: {listed(protect)}. "
    out += f"Modes that let some: {listed(mode for mode in figures if mode not in protect)}.\n"
    out += "\nThose that changed something, by how they were disguised:\n\n"
    out += header(["disguise", "tried", *(f"`{mode}`" for mode in figures)])
    for kind in KINDS:
        out += row([kind, one.tried[kind], *(each.changed[kind] for each in figures.values())])
    return out


def write_table(path, figures):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    before, _, rest = page.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f"{path} has no place for the table")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n\n{text(figures)}\n{END}{after}")
