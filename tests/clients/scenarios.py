"""What each client is seen to do. A scenario returns its observations as `(what, passed, note)`."""

import json
import os

from script import Script, Step

DOCUMENT = "# Release notes\n\n- [ ] collect the changes\n- [ ] write the notes\n"
REFUSED = "a report before the approval is refused in our words"
DECIDED = "the decision arrives in the same conversation"
AWAIT = ("plan_await_decision", {"timeout_seconds": 120})


class Seen:
    """Collects observations."""

    def __init__(self):
        self.lines = []

    def that(self, what, passed, note=""):
        self.lines.append((what, bool(passed), note))

    def nothing_wrong(self, what, wrong):
        self.that(what, not wrong, "; ".join(wrong))

    def result(self, what, *words):
        """A look at the result of a call: all of these words are in it."""
        return lambda text: self.that(what, all(word in text for word in words), "" if all(w in text for w in words) else text[:400])


def stored(seen, stage):
    """The store and the journal, looked at with commands afterwards."""
    plan = stage.plan()
    seen.that("the stored plan is COMPLETED", plan["status"] == "COMPLETED", plan["status"])
    history = stage.done("planwright plan history")
    named = "approved" in history and "terminal" in history
    seen.that("the history names the person at a terminal who approved it", named, "" if named else history[-600:])
    stage.done("planwright verify")
    seen.that("`planwright verify` finds nothing wrong", True)


def document(stage, client, seen):
    """Draft, refused before the approval, approved meanwhile, reported in the same conversation, completed."""
    stage.install(client)
    file = f"{stage.project}/notes.txt"
    steps = [Step("plan_set_content", {"plan_markdown": DOCUMENT})]
    if client.has_hook:
        tool, arguments = client.write
        exists = lambda: os.path.exists(file)
        def blocked(text):
            ours = "waits for a person's approval" in text
            seen.that("the hook blocks an edit before the approval", ours and not exists(), "" if ours else text[:400])
        steps.append(Step(tool, arguments(file, "notes\n"), seen=blocked))
    steps += [
        Step("plan_progress", {"step": "1", "status": "done"}, seen=seen.result(REFUSED, "approve")),
        Step(*AWAIT, before=stage.approve_meanwhile, seen=seen.result(DECIDED, "APPROVED")),
    ]
    if client.has_hook:
        tool, arguments = client.write
        steps.append(Step(tool, arguments(file, "notes\n"), seen=lambda _: seen.that("the same edit passes after the approval", os.path.exists(file))))
    steps += [
        Step("plan_progress", {"step": "1", "status": "done"}, seen=seen.result("the first report is taken", "EXECUTING")),
        Step("plan_progress", {"step": "2", "status": "done", "note": "written"}, seen=seen.result("the last report completes the plan", "COMPLETED")),
    ]
    script = Script(steps)
    seen.nothing_wrong("the conversation goes through", stage.run(client, script))
    stored(seen, stage)


def collect(stage, client, seen):
    """Calls of the client's own tools are recorded, approved, made and reported."""
    stage.install(client, ["--plan", "collect"])
    call = {"tool": "send_mail", "arguments": {"to": "team@example.org"}, "description": "tell the team"}
    steps = [
        Step("plan_add_call", call, seen=seen.result("a call is recorded", "[Planned]")),
        Step("plan_finalize", {}, seen=seen.result("the plan is ready", "READY")),
        Step("plan_progress", {"step": "1", "status": "done"}, seen=seen.result(REFUSED, "approve")),
        Step(*AWAIT, before=stage.approve_meanwhile, seen=seen.result(DECIDED, "APPROVED")),
        Step("plan_progress", {"step": "1", "status": "done"}, seen=seen.result("the report completes the plan", "COMPLETED")),
    ]
    seen.nothing_wrong("the conversation goes through", stage.run(client, Script(steps)))
    stored(seen, stage)


def build(stage, client, seen):
    """A plan is built step by step, submitted, approved and reported."""
    stage.install(client, ["--plan", "build"])
    metadata = {"assumptions": ["a"], "risks": ["r"], "verification": ["v"], "files": ["NOTES.md"]}
    steps = [
        Step("plan_create_draft", {"goal": "write the notes", "title": "Notes"}, seen=seen.result("a draft begins", "COLLECTING")),
        Step("plan_set_metadata", metadata),
        Step("plan_add_step", {"description": "collect the changes", "agent": "coder"}, seen=seen.result("a step is added", "s1")),
        Step("plan_add_step", {"description": "write", "agent": "writer", "needs": ["s1"]}),
        Step("plan_submit", {}, seen=seen.result("the plan is ready", "READY")),
        Step("plan_progress", {"step": "s1", "status": "done"}, seen=seen.result(REFUSED, "approve")),
        Step(*AWAIT, before=stage.approve_meanwhile, seen=seen.result(DECIDED, "APPROVED")),
        Step("plan_progress", {"step": "s1", "status": "done"}, seen=seen.result("the first report is taken", "EXECUTING")),
        Step("plan_progress", {"step": "s2", "status": "done"}, seen=seen.result("the last report completes the plan", "COMPLETED")),
    ]
    seen.nothing_wrong("the conversation goes through", stage.run(client, Script(steps)))
    stored(seen, stage)


SCENARIOS = {"document": document, "collect": collect, "build": build}
