"""What each client is seen to do. A scenario returns its observations as `(what, passed, note)`."""

import os
import re
import threading

import hooks
from clients import CLIENTS
from hooks import AWAIT, DOCUMENT
from script import CompactedScript, Script, Step

REFUSED = "a report before the approval is refused in our words"
DECIDED = "the decision arrives in the same conversation"


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
    tool, arguments = client.write

    def blocked(text):
        ours = "waits for a person's approval" in text
        seen.that("the hook blocks an edit before the approval", ours and not os.path.exists(file), "" if ours else text[:400])

    steps = [
        Step("plan_set_content", {"plan_markdown": DOCUMENT}),
        Step(tool, arguments(file, "notes\n"), seen=blocked),
        Step("plan_progress", {"step": "1", "status": "done"}, seen=seen.result(REFUSED, "approve")),
        Step(*AWAIT, before=stage.approve_meanwhile, seen=seen.result(DECIDED, "APPROVED")),
        Step(tool, arguments(file, "notes\n"), seen=lambda _: seen.that("the same edit passes after the approval", os.path.exists(file))),
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


def two(stage, client, seen):
    """Claude Code and another client in one session at the same time: neither loses the other's work."""
    first = CLIENTS["claude-code"]
    stage.install(first)
    stage.install(client)
    drafted, changed, approved, reported = (threading.Event() for _ in range(4))
    other = "# Release notes\n\n- [ ] collect the changes\n- [ ] write the notes\n- [ ] show them\n"

    def wait(event, what):
        return lambda: event.wait(120) or stage.failures.append(f"waited in vain for {what}")

    one = Script([
        Step("plan_set_content", {"plan_markdown": DOCUMENT}, seen=lambda _: drafted.set()),
        Step(
            "plan_set_content",
            lambda conversation: {"plan_markdown": DOCUMENT + "- [ ] mine\n", "expected_digest": digest_of(conversation)},
            before=wait(changed, "the change of the other client"),
            seen=seen.result("a client that did not read the latest version is told so and sees the difference", "CONFLICT", "show them"),
        ),
        Step(*AWAIT, before=stage.approve_meanwhile, seen=lambda text: (seen.result(DECIDED, "APPROVED")(text), approved.set())),
        Step("plan_progress", {"step": "1", "status": "done"}, seen=lambda _: reported.set()),
    ])
    two = Script([
        Step("plan_get", {}, before=wait(drafted, "the first draft"), seen=seen.result("the other client reads the plan", "collect the changes")),
        Step("plan_set_content", {"plan_markdown": other}, seen=lambda _: changed.set()),
        Step(*AWAIT, before=wait(approved, "the approval"), seen=seen.result("the other client sees the decision, too", "APPROVED")),
        Step("plan_progress", {"step": "2", "status": "done"}, before=wait(reported, "the first report"), seen=seen.result("both report on the same plan", "EXECUTING")),
        Step("plan_progress", {"step": "3", "status": "done"}, seen=seen.result("the last report completes the plan", "COMPLETED")),
    ])
    wrong = []
    threads = [
        threading.Thread(target=lambda c=c, s=s: wrong.extend(stage.run(c, s)), daemon=True) for c, s in ((first, one), (client, two))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    seen.nothing_wrong("both conversations go through", wrong)
    stored(seen, stage)


def compaction(stage, client, seen):
    """The client shortens its conversation in the middle of the work, and the plan comes back with the workbook."""
    stage.add_settings("[planning_files]\nenabled = true\n")
    stage.install(client)
    canary, notes = "canary 5b1f", "Canary 9d2c"
    steps = [
        Step("init_plan", {"task_title": notes}),
        Step("plan_set_content", {"plan_markdown": DOCUMENT.replace("the notes", f"the notes ({canary})")}),
        Step(*AWAIT, before=stage.approve_meanwhile),
        Step("plan_progress", {"step": "1", "status": "done"}),
    ]
    # Without a hook the agent looks for the plan itself, as the instructions of the server tell it.
    if not client.brings_back:
        steps.append(Step("plan_get", {}, seen=seen.result("`plan_get` brings the plan back", canary, "EXECUTING")))
    steps.append(Step("plan_progress", {"step": "2", "status": "done"}, seen=seen.result("the last report completes the plan", "COMPLETED")))
    script = CompactedScript(steps, 3, canary, pauses=client.name in ("claude-code", "goose"), notes=notes)
    wrong = stage.run(client, script, client.long_command)
    seen.nothing_wrong("the conversation goes through", wrong)
    seen.that("the client shortened the conversation", script.summaries > 0, f"{script.summaries}")
    if client.brings_back:
        seen.that("the plan is in the conversation after that", script.in_conversation, "in the request for the summary" if script.in_summary_request else "")
        seen.that("the workbook is as well", script.has_notes)
    stored(seen, stage)


FILESYSTEM = "crates/upstream/tests/servers/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"


def gateway(stage, client, seen):
    """The tools of a real MCP server behind the gate: calls are recorded, approved, and made by Planwright."""
    file = f"{stage.project}/hello.txt"
    upstream = f"files=node {stage.repository}/{FILESYSTEM} {stage.project}"
    stage.install(client, ["--plan", "collect", "--upstream", upstream])
    call = {"path": file, "content": "hello"}
    written = lambda text: seen.that("Planwright makes the approved call", os.path.exists(file) and "COMPLETED" in text, text[-300:])
    steps = [
        Step("files__write_file", call, seen=seen.result("the call is recorded", "[Planned]")),
        Step("plan_finalize", {}, seen=lambda _: seen.that("nothing runs before the approval", not os.path.exists(file))),
        # The plan is approved first and carried out by Planwright alone; the agent then reads the result.
        Step("plan_await_decision", {"timeout_seconds": 120}, before=stage.approve_meanwhile),
        Step("plan_get", {}, before=lambda: stage.wait_for(lambda: stage.plan_status() == "COMPLETED", "the approved call"), seen=written),
        Step("files__write_file", {**call, "content": "injected"}, seen=lambda text: None),
    ]
    seen.nothing_wrong("the conversation goes through", stage.run(client, Script(steps)))
    with open(file) as written_file:
        seen.that("a call after the plan is recorded and not made", written_file.read() == "hello")


def digest_of(conversation):
    return re.search(r"digest\W+([0-9a-f]{64})", conversation.last("plan_set_content").result).group(1)


def attack(stage, client, line):
    """The agent drafts a plan and runs a line in the shell of its client. Returns what went wrong, and what it was told."""
    tool, arguments = client.shell
    told = []
    steps = [
        Step("plan_set_content", {"plan_markdown": DOCUMENT}),
        Step(tool, lambda conversation: arguments(line(digest_of(conversation))), seen=told.append),
    ]
    wrong = stage.run(client, Script(steps))
    return wrong, told[0].strip() if told else ""


def pack_attack(stage, client, seen):
    """The agent runs `planwright plan approve` in a client with the whole pack."""
    stage.install(client)
    wrong, told = attack(stage, client, lambda digest: f"planwright plan approve --digest {digest} --later")
    seen.nothing_wrong("the conversation goes through", wrong)
    words = [word for word in ("does not decide", "denied", "deny", "rejected", "forbidden", "decides about") if word in told.lower()]
    seen.that("the pack stops `planwright plan approve` in the shell", words and stage.plan()["status"] == "READY", told[:300])


def shell_attack(stage, client, seen):
    """The same without the hooks of the pack, written so that its rules do not fit: what is left is the approval policy."""
    stage.install(client)
    os.remove(client.hook.format(project=stage.project, home=stage.home))
    line = lambda digest: f"sh -c 'p={stage.planwright}; $p plan app\"\"rove --digest {digest} --later'"
    wrong, told = attack(stage, client, line)
    seen.nothing_wrong("the conversation goes through", wrong)
    status, expected = stage.plan()["status"], "APPROVED" if stage.require == "any" else "READY"
    what = "succeeds, as documented" if stage.require == "any" else "is stopped"
    # What stopped it is the policy, not a shell that did not find the program.
    ours = stage.require == "any" or "may come from the agent" in told or "assphrase" in told
    seen.that(f"`planwright plan approve` around the rules {what} under `{stage.require}`", status == expected and ours, f"{status}: {told[:400]}")
    if stage.require != "any":
        stage.approve("--later")
        status = stage.plan()["status"]
        seen.that(f"the person's own approval passes under `{stage.require}`", status == "APPROVED", "; ".join(stage.failures))


# Scenario, its clients, its policies.
ALL = ["claude-code", "codex", "opencode", "gemini", "goose"]
WITH_CODE = ["claude-code", "codex", "codex-code", "opencode", "gemini", "goose"]
SCENARIOS = [
    (document, WITH_CODE, ["separate"]),
    (collect, ALL, ["separate"]),
    (build, ALL, ["separate"]),
    (two, ["codex"], ["separate"]),
    (compaction, ["claude-code", "codex", "opencode", "goose"], ["separate"]),
    (gateway, ["claude-code", "codex", "goose"], ["separate"]),
    (hooks.closed, WITH_CODE, ["separate"]),
    (hooks.spellings, WITH_CODE, ["separate"]),
    (hooks.delegated, WITH_CODE, ["separate"]),
    (hooks.covered, WITH_CODE, ["separate"]),
    (hooks.inbox, WITH_CODE, ["separate"]),
    (hooks.native, ["claude-code", "codex", "gemini"], ["separate"]),
    (hooks.notes, WITH_CODE, ["separate"]),
    (pack_attack, ALL, ["separate"]),
    (shell_attack, ["codex", "opencode", "goose"], ["any", "separate", "verified"]),
]
