"""What the hooks of each client are seen to do: they hold calls back when they cannot answer, for sub-agents and in every spelling;
they let through what an approved plan covers; they take in plans of the client's own plan mode, and note what its tools did."""

import fcntl
import json
import os
import re
import threading

from clients import planning_claude_command, planning_gemini_command
from script import FINISHED, DelegatingScript, Script, SpokenScript, Step

DOCUMENT = "# Release notes\n\n- [ ] collect the changes\n- [ ] write the notes\n"
AWAIT = ("plan_await_decision", {"timeout_seconds": 120})
# The bytes of SQLite's shared memory that its readers and writers lock.
FIRST_LOCK, LOCKS = 120, 8


class LockedStore:
    """Keeps every other process out of the store for half a minute, or until `end`."""

    def __init__(self, path):
        self.path = path

    def begin(self):
        self.file = open(f"{self.path}-shm", "r+b")
        fcntl.lockf(self.file, fcntl.LOCK_EX, LOCKS, FIRST_LOCK)
        self.timer = threading.Timer(30, self.file.close)
        self.timer.start()

    def end(self):
        self.timer.cancel()
        self.file.close()


def closed(stage, client, seen):
    """The hook cannot answer: its program is gone, is killed, or is stuck in front of a configuration that never ends or a store
    that is locked."""
    stage.install(client)
    program, file = f"{stage.folder}/program", client.hook.format(project=stage.project, home=stage.home)
    with open(file) as hooks:
        text = hooks.read()
    assert stage.planwright in text, text
    with open(file, "w") as hooks:
        hooks.write(text.replace(stage.planwright, program))
    settings = f"{stage.home}/.local/share/planwright/planwright.toml"
    store = LockedStore(f"{stage.home}/.local/share/planwright/planwright.db")

    def start(script):
        if os.path.lexists(program):
            os.remove(program)
        if script is None:
            os.symlink(stage.planwright, program)
        elif script:
            with open(program, "w") as made:
                made.write(f"#!/bin/sh\n{script}\n")
            os.chmod(program, 0o755)

    def stuck():
        start(None)
        os.rename(settings, f"{settings}.kept")
        os.mkfifo(settings)

    def locked():
        os.remove(settings)
        os.rename(f"{settings}.kept", settings)
        store.begin()

    start(None)
    tool, arguments = client.write
    steps = [Step("plan_set_content", {"plan_markdown": DOCUMENT})]
    for name, before in [
        ("with `planwright` moved away", lambda: start("")),
        ("with the hook killed", lambda: start("kill -9 $$")),
        ("with a hook that is stuck", stuck),
        ("with the store locked", locked),
    ]:
        made = f"{stage.project}/{len(steps)}.txt"
        look = lambda text, made=made, name=name: seen.that(f"an edit is blocked {name}", not os.path.exists(made), text[:300])
        steps.append(Step(tool, arguments(made, "mine\n"), before=before, seen=look))
    steps.append(Step("plan_get", {}, before=store.end))
    seen.nothing_wrong("the conversation goes through", stage.run(client, Script(steps)))


def spellings(stage, client, seen):
    """Commands that switch plan work or decide, and edits in a shell, written in ways that no list of prefixes has."""
    stage.install(client)
    tool, arguments = client.shell
    steps = [Step("plan_set_content", {"plan_markdown": DOCUMENT})]
    for line in ["env A=1 planwright plan off", "sh -c 'planwright plan done'", "npx -y planwright plan off", "p=planwright; $p plan off"]:
        look = lambda text, line=line: seen.that(f"`{line}` is blocked", "does not decide" in text or "denied" in text.lower(), text[:300])
        steps.append(Step(tool, arguments(line), seen=look))
    file = f"{stage.project}/spelled.txt"
    for line in ["echo x > spelled.txt", "sh -c 'touch spelled.txt'", "ls && touch spelled.txt", "cat <(touch spelled.txt)", "git init -q other; touch spelled.txt"]:
        look = lambda text, line=line: seen.that(f"`{line}` is blocked", not os.path.exists(file) and "approv" in text, text[:300])
        steps.append(Step(tool, arguments(line), seen=look))
    seen.nothing_wrong("the conversation goes through", stage.run(client, Script(steps)))
    seen.that("the plan still waits", stage.plan()["status"] == "READY")


def delegated(stage, client, seen):
    """A sub-agent of the client makes the edit, or may not begin; where the client has notebooks, one is edited as well."""
    stage.install(client)
    stage.record_hooks(client)
    file, notebook = f"{stage.project}/delegated.txt", f"{stage.project}/work.ipynb"
    with open(notebook, "w") as made:
        json.dump({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, made)
    tool, arguments = client.write
    is_ours = lambda text: "waits for a person's approval" in text
    look = lambda text: seen.that("an edit of a sub-agent is blocked", is_ours(text) and not os.path.exists(file), text[:300])
    steps = [Step("plan_set_content", {"plan_markdown": DOCUMENT})]
    if client.notebook:
        name, cell = client.notebook
        # It edits only what it has read.
        steps.append(Step(client.read[0], client.read[1](notebook)))
        steps.append(Step(name, cell(notebook), seen=lambda text: seen.that("an edit of a notebook is blocked", is_ours(text), text[:300])))
    begun = lambda text: client.hooks_of_sub_agents or seen.that("a sub-agent does not begin, since no hook sees its calls", is_ours(text), text[:300])
    first, *more = client.delegate(DelegatingScript.TASK)
    steps += [Step(*first, seen=begun), *[Step(*one) for one in more]]
    script = DelegatingScript(steps, [Step(tool, arguments(file, "mine\n"), seen=look)], client.hooks_of_sub_agents)
    seen.nothing_wrong("the conversation goes through", stage.run(client, script))
    if client.hooks_of_sub_agents:
        seen.that("the sub-agent made its call", script.delegated.finished)


COVERED = """# Release notes

- [ ] write the notes
- [ ] build them

```planwright-needs
files = ["notes/**"]
commands = ["sh build.sh"]
```
"""
PUSH = "git push --force"


def prepare_covered(stage):
    os.makedirs(f"{stage.project}/notes")
    with open(f"{stage.project}/build.sh", "w") as script:
        script.write("echo built > built.txt\n")


def covered(stage, client, seen):
    """What the approved plan names passes, and ends with the plan. In Claude Code the client itself would ask about every call."""
    stage.install(client)
    prepare_covered(stage)
    edit, arguments = client.covered_write or client.write
    shell, line = client.shell
    exists = lambda name: os.path.exists(f"{stage.project}/{name}")
    there = lambda what, name: lambda text: seen.that(what, exists(name), text[:300])
    absent = lambda what, name: lambda text: seen.that(what, not exists(name), text[:300])
    path = lambda name: f"{stage.project}/notes/{name}"

    def pushed(text):
        is_held = "No configured push destination" not in text and "does not appear" not in text
        words = ["No rule and no approved plan covers this call"] if client.asks else ["cannot ask about a single call"]
        seen.that("`git push --force` is asked about, or denied where the client cannot ask", is_held and any(word in text for word in words), text[:600])

    steps = [
        Step("plan_set_content", {"plan_markdown": COVERED}),
        Step(edit, arguments(path("before.txt"), "x\n"), seen=absent("the edit is blocked before the approval", "notes/before.txt")),
        Step(*AWAIT, before=stage.approve_meanwhile),
        Step("plan_progress", {"step": "1", "status": "in_progress"}),
        Step(edit, arguments(path("a.txt"), "x\n"), seen=there("a covered edit passes without a question", "notes/a.txt")),
        Step(shell, line("sh build.sh"), seen=there("a covered command passes without a question", "built.txt")),
        Step(shell, line(PUSH), seen=pushed),
        Step("plan_progress", {"step": "1", "status": "done"}),
        Step("plan_progress", {"step": "2", "status": "done"}, seen=seen.result("the last report completes the plan", "COMPLETED")),
        Step(edit, arguments(path("b.txt"), "x\n"), seen=absent("after COMPLETED the same edit is held back again", "notes/b.txt")),
    ]
    seen.nothing_wrong("the conversation goes through", stage.run(client, Script(steps), client.asking_command))
    counts = json.loads(stage.done("planwright plan show 1 --json"))["execution"]["permissions"]
    expected = {"covered": 2, "asked": int(client.asks), "refused": int(not client.asks)}
    seen.that("the execution counts what was covered, asked and refused", counts == expected, json.dumps(counts))


def inbox(stage, client, seen):
    """With `hook.ask = "inbox"` a person answers in Planwright about a call that the plan does not cover."""
    stage.install(client)
    shell, line = client.shell
    waiting = lambda: [one for one in json.loads(stage.done("planwright inbox --json"))["items"] if one["kind"] == "permission"]

    def begin():
        stage.done("planwright config set hook.ask inbox")
        stage.approve_meanwhile()

    def permit():
        items = waiting()
        seen.that("it stands in the inbox once", len(items) == 1, json.dumps(items)[:600])
        for item in items:
            stage.done(f"planwright inbox answer {item['id']} once --digest {item['call']['code']}")

    ran = lambda text: "push destination" in text
    steps = [
        Step("plan_set_content", {"plan_markdown": COVERED}),
        Step(*AWAIT, before=begin),
        Step("plan_progress", {"step": "1", "status": "in_progress"}),
        Step(shell, line(PUSH), seen=lambda text: seen.that("`git push --force` is asked about in the inbox", "inbox" in text and not ran(text), text[:600])),
        Step(shell, line(PUSH), before=permit, seen=lambda text: seen.that("it runs when a person said `once`", ran(text), text[:600])),
        Step(shell, line(PUSH), seen=lambda text: seen.that("the next one is asked about again", "inbox" in text and not ran(text), text[:600])),
    ]
    seen.nothing_wrong("the conversation goes through", stage.run(client, Script(steps), client.asking_command))


# How clients answer a call that was denied, or whose question nobody answered.
REFUSED_BY_CLIENT = re.compile("No person|permission request failed|denied|blocked|rejected|hook error", re.IGNORECASE)
FIRST = "# Move the tables\n\n- [ ] copy the rows\n- [ ] drop the old table\n"
SECOND = FIRST.replace("drop", "rename")
WORDS = "rename the old table instead"


def native(stage, client, seen):
    """The client's own plan mode proposes a plan; a person asks for changes, and approves the second version."""
    stage.install(client)
    stage.record_hooks(client)
    file = f"{stage.project}/moved.txt"

    def decide(version, line):
        """The person decides in their own terminal, once the version is there."""

        def decided():
            stage.wait_for(lambda: stage.waiting_version() == version, f"version {version} of the plan")
            stage.approve() if line is None else stage.done(line)

        return lambda: stage.meanwhile(decided)

    # Where the client itself would ask about the edit afterwards, the plan covers it.
    needs = '\n```planwright-needs\nfiles = ["moved.txt"]\n```\n' if client.asks else ""
    revise = decide(1, f"planwright plan revise -f '{WORDS}'")
    approve = decide(2, None)
    returned = lambda text: seen.that("the person's words come back as the client's feedback", WORDS in text, text[:600])
    wrong = PLAN_MODES[client.name](stage, client, seen, file, (FIRST + needs, revise, returned), (SECOND + needs, approve))
    seen.nothing_wrong("the conversation goes through", wrong)
    plan = stage.plan()
    seen.that("the text of the plan mode is a plan of Planwright", "rename the old table" in json.dumps(plan), json.dumps(plan)[:400])
    seen.that("the second proposal is version 2 of the same plan", plan["version"] == 2 and plan["number"] == 1, f"{plan['version']}")
    difference = stage.done("planwright plan diff 1")
    seen.that("version 2 shows its difference", "drop the old table" in difference and "rename the old table" in difference, difference[:400])


def native_by_tool(tool, propose, command, first_calls):
    """For clients whose plan mode ends with a call. `propose` gives the calls before it and its arguments, of the text."""

    def play(stage, client, seen, file, first, second):
        edit, arguments = client.write
        (text, revise, returned), (changed, approve) = first, second
        steps = [Step(*one) for one in first_calls]
        for words, before, look in [
            (text, revise, returned),
            (changed, approve, lambda answer: seen.that("the approved text passes", stage.plan()["status"] == "APPROVED" and not REFUSED_BY_CLIENT.search(answer), answer[:600])),
        ]:
            earlier, last = propose(words)
            steps += [Step(*one) for one in earlier]
            steps.append(Step(tool, last, before=before, seen=look))
        steps.append(Step(edit, arguments(file, "x\n"), seen=lambda text: seen.that("an edit passes afterwards", os.path.exists(file), text[:400])))
        script = Script(steps)
        script.known_by = ("plan_get", tool)
        return stage.run(client, script, command)

    return play


def native_of_codex(stage, client, seen, file, first, second):
    """Its plan is a message. Afterwards the person says that it shall be carried out, as Codex asks them."""
    edit, arguments = client.write
    (text, revise, returned), (changed, approve) = first, second
    proposed = lambda words, before: lambda: (before(), f"Here is the plan.\n<proposed_plan>\n{words}</proposed_plan>\n{FINISHED}")[1]
    script = SpokenScript([Step("plan_get", {})], [("", proposed(text, revise)), (WORDS, proposed(changed, approve))])
    wrong = stage.run(client, script)
    script_text = script.model.requests[-1].text()
    returned(script_text)
    seen.that("the approved text passes", stage.plan()["status"] == "APPROVED", stage.plan()["status"])
    steps = [Step("plan_get", {}), Step(edit, arguments(file, "x\n"), seen=lambda text: seen.that("an edit passes afterwards", os.path.exists(file), text[:400]))]
    return wrong + stage.run(client, Script(steps))


def proposed_to_claude(text):
    """Its plan is the file that its prompt names; it reads the file itself for the hook."""
    file = lambda conversation: re.search(r"\S+/plans/[\w-]+\.md", conversation.text()).group()
    return [("Write", lambda conversation: {"file_path": file(conversation), "content": text})], {}


def proposed_to_gemini(text):
    """Its plan is a file in the folder that its prompt names."""
    folder = lambda conversation: re.search(r"`(\S+/plans)/`", conversation.text()).group(1)
    file = lambda conversation: f"{folder(conversation)}/quiet-river.md"
    return [("write_file", lambda conversation: {"file_path": file(conversation), "content": text})], {"plan_filename": "quiet-river.md"}


# In its plan mode Gemini CLI offers its agent no tools of servers.
PLAN_MODES = {
    "claude-code": native_by_tool("ExitPlanMode", proposed_to_claude, planning_claude_command, [("plan_get", {})]),
    "codex": native_of_codex,
    "gemini": native_by_tool("exit_plan_mode", proposed_to_gemini, planning_gemini_command, []),
}


def notes(stage, client, seen):
    """What the client's own tools found out and why they failed is noted in the workbook. The agent that ends its turn is reminded
    of open steps, once."""
    stage.add_settings("[planning_files]\nenabled = true\n")
    stage.install(client)
    stage.record_hooks(client)
    with open(f"{stage.project}/shelves.txt", "w") as file:
        file.write("the shelves are of oak\n")
    read, of_file = client.read
    shell, line = client.shell
    shown = lambda name: stage.done(f"planwright plan files show {name}")
    fails = line("cat no-such-file.txt")
    steps = [
        Step("plan_set_content", {"plan_markdown": DOCUMENT}),
        Step(*AWAIT, before=stage.approve_meanwhile),
        Step("init_plan", {"task_title": "Move the shop"}),
        *[Step(read, of_file(f"{stage.project}/shelves.txt")) for _ in range(2)],
        *[Step(shell, fails) for _ in range(3)],
        Step("plan_progress", {"step": "1", "status": "in_progress"}),
    ]
    script = RemindedScript(steps)
    wrong = stage.run(client, script)
    seen.nothing_wrong("the conversation goes through", wrong)
    if client.tells_results:
        findings = shown("findings")
        seen.that("what a reading tool answered is in the findings", findings.count("the shelves are of oak") == 1, findings[-600:])
    if client.tells_failures:
        progress = shown("progress")
        seen.that("why a command failed is in the table of errors", "no-such-file" in progress, progress[-600:])
    if client.tells_failures and client.hints:
        hint = "failed 3 times" in "\n".join([*script.results.values(), *script.model.requests[-1].texts])
        seen.that("at the third failure the agent is told not to repeat the call", hint, list(script.results.values())[-2][:400])
    if client.stops:
        seen.that("the agent that ends its turn is reminded of open steps once", script.reminders == 1, f"{script.reminders}")


class RemindedScript(Script):
    """Ends its turn with open steps, and counts how often the client sends it on."""

    reminders = -1

    def reply(self, conversation, position):
        if position >= len(self.steps):
            self.reminders += 1
        return super().reply(conversation, position)
