"""Scripts of the model: calls in order, chosen by what the conversation contains."""

import threading
from dataclasses import dataclass
from typing import Callable

from conversation import Reply, is_tool

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
        return Reply(tool=name, arguments=arguments)
