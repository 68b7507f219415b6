"""The tasks of AgentDojo as plain data: the calls that solve a task, and the calls that its injections ask for."""

from dataclasses import dataclass

from agentdojo.functions_runtime import FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suites

# The benchmark's own version of its suites.
SUITES_VERSION = "v1.2.2"
# What the server says about itself, and the person believes: these names only read. A web page is fetched from outside, so its
# address says something to others.
READING = ("get_", "search_", "list_", "read_", "check_")
NOT_READING = ("get_webpage",)


@dataclass(frozen=True)
class Call:
    function: str
    arguments: tuple

    @property
    def as_object(self):
        return {name: value for name, value in self.arguments}


def only_reads(function):
    return function.startswith(READING) and function not in NOT_READING


def call_of(function, arguments):
    return Call(function, tuple(arguments.items()))


class Suite:
    def __init__(self, name, suite):
        self.name, self.suite = name, suite
        self.tasks = {task: self.calls_of(one) for task, one in suite.user_tasks.items()}
        injections = {task: self.calls_of(one) for task, one in suite.injection_tasks.items()}
        # Some injections ask for words only, and no call of a tool carries them out.
        self.injections = {task: calls for task, calls in injections.items() if calls}

    def environment(self, task=None):
        """What the tools work on, as it is before a task."""
        environment = self.suite.load_and_inject_default_environment({})
        return self.suite.user_tasks[task].init_environment(environment) if task else environment

    def calls_of(self, task):
        environment = self.suite.load_and_inject_default_environment({})
        if hasattr(task, "init_environment"):
            environment = task.init_environment(environment)
        return [call_of(call.function, call.args) for call in task.ground_truth(environment)]

    def prompt(self, task):
        return self.suite.user_tasks[task].PROMPT

    def described_tools(self):
        """As `tools/list` answers."""
        return [
            {
                "name": tool.name,
                "description": tool.description,
                "inputSchema": tool.parameters.model_json_schema(),
                "annotations": {"readOnlyHint": only_reads(tool.name)},
            }
            for tool in self.suite.tools
        ]

    def runtime(self):
        return FunctionsRuntime(self.suite.tools)


def load():
    return {name: Suite(name, suite) for name, suite in get_suites(SUITES_VERSION).items()}
