"""Keeps what was seen, and writes docs/clients/results.md from it."""

import json
import os
import re

INTRODUCTION = """# What the clients were seen to do

Made by `make test-clients`, which installs the clients from npm and PyPI, drives each of them without a person against a model that
plays a script, and looks at the store afterwards with `planwright` commands. The person has a terminal of their own, which is older than the
client. Clients: {clients}.

"""

TITLES = {
    "document": ("A plan as a document", "The client drafts a plan. A person approves it while the client waits in the same conversation."),
    "collect": ("Recorded calls", "The client records a call of one of its own tools."),
    "build": ("A plan of steps", "The client builds the plan step by step."),
    "two": ("Two clients in one session", "Claude Code and the client of the column work in the same folder at the same time."),
    "compaction": (
        "Compaction",
        "The client shortens its conversation in the middle of the work. In Claude Code and Codex the hook brings the plan and the workbook back afterwards; the summary "
        "contains nothing of them. In opencode the plugin puts them into the request for the summary, and the model copies it. No hook of Gemini CLI and goose brings anything back, "
        "so their agents call `plan_get`. goose shortens a conversation when the next message begins; Gemini CLI shortened none here, however long its model said that it is.",
    ),
    "gateway": ("The gateway", "The tools of `@modelcontextprotocol/server-filesystem` from npm behind the gate, in style collect."),
    "closed": (
        "A hook that cannot answer",
        "Its program is gone, is killed, waits for a configuration that never ends, or for a store that another process has locked for half a minute. "
        "In Claude Code and goose a failing hook blocks by itself; in the others the shell around the program and its own deadline do it.",
    ),
    "spellings": (
        "Commands in many spellings",
        "Before the approval the agent switches plan work off and changes files, in its client's shell.",
    ),
    "delegated": (
        "Sub-agents and notebooks",
        "Before the approval the client's agent gives the edit to a sub-agent. Only Claude Code has a tool for notebooks. goose starts no hooks for the "
        "calls of a sub-agent, so none begins.",
    ),
    "covered": (
        "Approve once",
        "The approved plan names files and a command in its block `planwright-needs`. Claude Code is in the mode that asks about every edit and command, and "
        "without a person its question is a refusal; the other clients are in their mode that asks about nothing, since a hook cannot answer their questions. "
        "Only Claude Code asks its person when a hook says so.",
    ),
    "inbox": (
        "Asked in the inbox",
        'With `hook.ask = "inbox"` a call that the plan does not cover waits for an answer in Planwright, in every client.',
    ),
    "native": (
        "The client's own plan mode",
        "The plan mode proposes a plan, a person asks for changes with `planwright plan revise`, and approves what is proposed next with `planwright plan approve`. "
        "The plan of Codex is a message with `<proposed_plan>`, which its hook reads in every mode; here it is in its usual mode. opencode and goose have no plan mode "
        "whose plan a hook is given.",
    ),
    "notes": (
        "Notes and reminders",
        "The agent reads a file twice, runs a command that fails three times, and ends its turn with open steps while a workbook is open. Codex does not tell its hooks "
        "that a command failed, goose tells them no result and takes no text after a failure, and opencode tells its plugins of the end of a turn only afterwards.",
    ),
    "pack_attack": ("The agent approves in its shell, with the pack", "The client has what `planwright install` writes."),
    "shell_attack": (
        "The agent approves in its shell, around the pack",
        "Hooks are taken out and the command is written so that no rule fits; the approval policy is what is left.",
    ),
    "programs": ("SDK clients and the inspector", "Programs that are no agents."),
    "conformance": ("Conformance suite", "The server scenarios of `@modelcontextprotocol/conformance` in both revisions that it scores, through the gateway."),
}


class Results:
    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)

    def keep(self, scenario, column, lines):
        name = re.sub(r"\W+", "-", f"{scenario}-{column}")
        with open(f"{self.folder}/{name}.json", "w") as file:
            json.dump({"scenario": scenario, "column": column, "lines": lines}, file)

    def clear(self):
        for name in os.listdir(self.folder):
            os.remove(f"{self.folder}/{name}")

    def all(self):
        found = []
        for name in sorted(os.listdir(self.folder)):
            with open(f"{self.folder}/{name}") as file:
                found.append(json.load(file))
        return found


def table(results, columns):
    """Rows are what was looked at, columns are the clients."""
    rows = {}
    for result in results:
        for what, passed, _ in result["lines"]:
            rows.setdefault(what, {})[result["column"]] = passed
    names = [column for column in columns if any(result["column"] == column for result in results)]
    text = f"| | {' | '.join(names)} |\n|---|{'---|' * len(names)}\n"
    for what, cells in rows.items():
        shown = [{True: "yes", False: "**no**", None: ""}[cells.get(name)] for name in names]
        text += f"| {what} | {' | '.join(shown)} |\n"
    return text


def write(path, results, versions, columns, notes):
    found = results.all()
    text = INTRODUCTION.format(clients=", ".join(f"{name} {version}" for name, version in versions.items()))
    for scenario, (title, words) in TITLES.items():
        of_scenario = [result for result in found if result["scenario"] == scenario]
        if of_scenario:
            text += f"## {title}\n\n{words}\n\n{table(of_scenario, columns)}\n"
    text += notes
    with open(path, "w") as file:
        file.write(text.rstrip() + "\n")
    return found
