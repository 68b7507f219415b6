"""Scripts of the model: calls in order, chosen by what the conversation contains."""

import re
import threading
import time
from dataclasses import dataclass
from typing import Callable

from clients import PAUSED
from conversation import Reply, in_code, is_tool

# How long the agent waits for its sub-agent before its last words.
DELEGATED_SECONDS = 60
# The last words of a conversation whose script was played to its end.
FINISHED = "The script is finished."


@dataclass
class Step:
    """One call. `arguments` may depend on the conversation. `before` runs once, before the call is sent."""

    tool: str
    arguments: dict | Callable
    before: Callable | None = None
    # Gets the text of the result.
    seen: Callable | None = None


class Script:
    """Plays its steps in order. The steps that are done are read from the conversation, so that a repeated request gets the
    same reply."""

    # The tools by which the agent's conversation is known among the client's requests; one of them is offered.
    known_by = ("plan_get",)

    def __init__(self, steps, known_names=None):
        self.steps = steps
        self.known_names = known_names or {}
        self.lock = threading.Lock()
        self.begun = set()
        self.looked_at = set()
        self.finished = False
        # Results of the steps, by position.
        self.results = {}
        self.missing = []

    def name(self, conversation, tool):
        for candidate in [tool, *self.known_names.get(tool, [])]:
            found = conversation.tool(candidate)
            if found:
                return found
        return None

    def is_call_of(self, call, tool):
        return any(is_tool(call, name.split("|")[-1]) for name in [tool, *self.known_names.get(tool, [])])

    def position(self, conversation, start=0):
        position = start
        for call in conversation.calls:
            if position < len(self.steps) and call.result is not None and self.is_call_of(call, self.steps[position].tool):
                self.look(position, call.result)
                position += 1
        return position

    def look(self, position, result):
        if position in self.looked_at:
            return
        self.looked_at.add(position)
        self.results[position] = result
        if self.steps[position].seen:
            self.steps[position].seen(result)

    def aside(self, _conversation):
        """The reply to a request without Planwright's tools; none has the usual one sent."""
        return None

    def play(self, conversation):
        with self.lock:
            return self.reply(conversation, self.position(conversation))

    def reply(self, conversation, position):
        if position >= len(self.steps):
            self.finished = True
            return Reply(text=FINISHED)
        step = self.steps[position]
        if step.before and position not in self.begun:
            self.begun.add(position)
            step.before()
        name = self.name(conversation, step.tool)
        deferred = conversation.deferred_tool(step.tool)
        if name is None and deferred:
            asked = any(call.tool == "ToolSearch" and deferred in call.arguments.get("query", "") for call in conversation.calls)
            if not asked:
                return Reply(tool="ToolSearch", arguments={"query": f"select:{deferred}", "max_results": 5})
            name = deferred
        if name is None:
            self.missing.append(step.tool)
            return Reply(text=f"There is no tool {step.tool}.")
        arguments = step.arguments(conversation) if callable(step.arguments) else step.arguments
        if conversation.is_code and "|" not in name:
            return Reply(tool="exec", arguments=in_code(name, arguments))
        return Reply(tool=name, arguments=arguments)


class DelegatingScript(Script):
    """A part of the work is given to a sub-agent, which has a script of its own. Its conversation begins with `TASK`."""

    TASK = "SUB-AGENT 7c2e: do what the script says."

    def __init__(self, steps, delegated, waits_for_delegated=True):
        super().__init__(steps)
        self.delegated = Script(delegated)
        self.waits_for_delegated = waits_for_delegated

    def is_delegated(self, conversation):
        return self.TASK in conversation.text()

    def aside(self, conversation):
        return self.delegated.play(conversation) if self.is_delegated(conversation) else None

    def play(self, conversation):
        return self.delegated.play(conversation) if self.is_delegated(conversation) else super().play(conversation)

    def reply(self, conversation, position):
        # Some clients end as soon as their agent has spoken its last words, and their sub-agents with them.
        limit = time.monotonic() + DELEGATED_SECONDS
        while position >= len(self.steps) and self.waits_for_delegated and not self.delegated.finished and time.monotonic() < limit:
            time.sleep(0.05)
        return super().reply(conversation, position)


class SpokenScript(Script):
    """Some steps are words instead of calls. One is done once the conversation contains what it waits for."""

    def __init__(self, steps, spoken):
        super().__init__(steps)
        # Pairs of what is in the conversation before it is said, and a function of the conversation that gives the text.
        self.spoken = spoken

    def play(self, conversation):
        with self.lock:
            position = self.position(conversation)
            if position < len(self.steps):
                return self.reply(conversation, position)
            said = [text for wanted, text in self.spoken if wanted in conversation.text()]
            if said:
                self.finished = len(said) == len(self.spoken)
                return Reply(text=said[-1]())
            return self.reply(conversation, position)


# What a plan that Planwright brings back begins with.
BROUGHT_BACK = "Planwright keeps this plan"
# How clients ask for a summary.
SUMMARY = re.compile(r"summar(y|ize|ise) of (the|our|this) conversation|anchored summary|handoff summary|CONTEXT CHECKPOINT|state_snapshot|summarize the conversation history")


class CompactedScript(Script):
    """After `long_after` steps the conversation is said to be too long, so that the client shortens it. The summary of the model
    contains nothing of the plan."""

    def __init__(self, steps, long_after, canary, pauses, notes):
        super().__init__(steps)
        self.long_after = long_after
        self.canary = canary
        # Whether the person asks for the summary; else the client makes one once the conversation is too long.
        self.pauses = pauses
        self.is_long = False
        self.summaries = 0
        # Whether the plan was in the request for a summary, and in the conversation after it.
        self.in_summary_request = self.in_conversation = False
        # What the workbook is called, and whether it was in the conversation.
        self.notes, self.has_notes = notes, False

    def is_summary(self, conversation):
        last = conversation.texts[-1] if conversation.texts else ""
        return self.is_long and SUMMARY.search(last) is not None

    def aside(self, conversation):
        return self.summary(conversation) if self.is_summary(conversation) else None

    def summary(self, conversation):
        self.summaries += 1
        self.in_summary_request |= BROUGHT_BACK in conversation.text() and self.canary in conversation.text()
        kept = conversation.text() if BROUGHT_BACK in conversation.text() else ""
        # A model copies what it is told to keep; without that it forgets the plan.
        text = kept[kept.index(BROUGHT_BACK) :] if kept else "Work was under way."
        return Reply(text=f"<summary>{text}</summary>")

    def play(self, conversation):
        with self.lock:
            if self.is_summary(conversation):
                return self.summary(conversation)
            if self.summaries:
                self.in_conversation |= BROUGHT_BACK in conversation.text() and self.canary in conversation.text()
                self.has_notes |= f"# Workbook `{self.notes}`" in conversation.text()
                start = self.long_after + 1
                kept = sum(1 for call in conversation.calls if self.is_call_of(call, self.steps[0].tool))
                return self.reply(conversation, self.position(conversation, 0 if kept else start))
            position = self.position(conversation)
            if self.pauses and position > self.long_after:
                self.is_long = True
                return Reply(text=PAUSED, tokens=950_000)
            reply = self.reply(conversation, position)
            if not self.pauses and position == self.long_after:
                self.is_long = True
                reply.tokens = 950_000
            return reply
