"""A person and clients on one machine, as the same user: a home, a project, and a terminal for each."""

import json
import os
import re
import shutil
import subprocess
import threading
import time

from clients import PROMPT, begin_goose
from model import ScriptedModel
from script import FINISHED
from terminal import Terminal

PASSPHRASE = "correct horse battery staple"
# A client that talks to a scripted model is done in seconds; this bounds one that hangs.
CLIENT_SECONDS = 600
# Stands before the program in a client's hooks, and keeps what passes.
RECORDER = """#!/bin/sh
name={file}.$$
cat > $name.in
{planwright} "$@" < $name.in > $name.out
code=$?
echo "$*" > $name.words
cat $name.out
exit $code
"""


class Stage:
    def __init__(self, folder, repository, tools, require="separate"):
        """`tools` are the folders of the programs: planwright, Node and the clients."""
        shutil.rmtree(folder, ignore_errors=True)
        self.folder, self.repository, self.require = folder, repository, require
        self.home, self.project = f"{folder}/home", f"{folder}/project"
        self.planwright = f"{tools[0]}/planwright"
        os.makedirs(self.home)
        os.makedirs(self.project)
        self.environment = {
            "PATH": ":".join([*tools, "/usr/local/bin", "/usr/bin", "/bin"]),
            "HOME": self.home,
            "USER": "ada",
            "SHELL": "/bin/sh",
            "TERM": "xterm",
            "LANG": "C.UTF-8",
            "GIT_CONFIG_GLOBAL": "/dev/null",
        }
        subprocess.run(["git", "init", "-q"], cwd=self.project, env=self.environment, check=True)
        self.person = Terminal(folder, "person", self.project, self.environment)
        self.lock = threading.Lock()
        self.opened = [self.person]
        self.models = []
        self.background = []
        self.failures = []
        if require == "verified":
            self.enrol()
        self.set_policy(require)

    def close(self):
        for thread in self.background:
            thread.join(90)
        for terminal in self.opened:
            terminal.close()
        for model in self.models:
            model.close()

    def done(self, line):
        """The person types a command, which has to succeed."""
        with self.lock:
            code, output = self.person.run(line)
        if code != 0:
            raise AssertionError(f"{line}: {code}\n{output}")
        return output

    def install(self, client, arguments=()):
        """Writes the configuration of the client. `arguments` are added to `planwright mcp`, as a person would."""
        if client.name == "goose":
            begin_goose(self)
        self.done(f"planwright install {client.name} --yes")
        if arguments:
            path = client.config.format(project=self.project, home=self.home)
            with open(path) as file:
                text = file.read()
            more = "".join(rf", \1{word}\1" for word in arguments)
            changed, count = re.subn(r'("?)\bmcp\1(\s*\])', rf"\1mcp\1{more}\2", text)
            assert count == 1, text
            with open(path, "w") as file:
                file.write(changed)

    def record_hooks(self, client):
        """Keeps what the client sends to its hooks, and what they answer, in files of the stage."""
        recorder = f"{self.folder}/recorder"
        with open(recorder, "w") as made:
            made.write(RECORDER.format(planwright=self.planwright, file=f"{self.folder}/hooks"))
        os.chmod(recorder, 0o755)
        path = client.hook.format(project=self.project, home=self.home)
        with open(path) as file:
            text = file.read()
        assert self.planwright in text, text
        with open(path, "w") as file:
            file.write(text.replace(self.planwright, recorder))

    def plan(self):
        return json.loads(self.done("planwright plan show --json"))

    def plan_status(self):
        """Of the newest plan; a finished plan may not be the active one."""
        return json.loads(self.done("planwright plan show 1 --json"))["status"]

    def set_policy(self, require):
        """The configuration asks for it. A policy that is weaker than the default is put in force by the person."""
        folder = f"{self.home}/.local/share/planwright"
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with open(f"{folder}/planwright.toml", "w") as file:
            file.write(f'[approval]\nrequire = "{require}"\n')
        if require == "any":
            self.done("planwright approver policy --require any")

    def add_settings(self, text):
        with open(f"{self.home}/.local/share/planwright/planwright.toml", "a") as file:
            file.write(text)

    def enrol(self):
        with self.lock:
            self.person.type_line("planwright approver add ada")
            self.person.answer("New passphrase for ada: ", PASSPHRASE)
            self.person.answer("The same again: ", PASSPHRASE)
            code, output = self.person.end()
        assert code == 0, output

    def approve(self, options=""):
        """The person reads the plan in their own terminal and approves exactly that text."""
        digest = self.plan()["digest"]
        with self.lock:
            self.person.type_line(f"planwright plan approve --digest {digest} {options}")
            if self.require == "verified":
                self.person.answer("Passphrase of ada: ", PASSPHRASE)
            code, output = self.person.end()
        if code != 0:
            self.failures.append(f"the approval failed: {output}")

    def approve_meanwhile(self):
        """The person approves while the client waits."""
        self.meanwhile(self.approve)

    def meanwhile(self, act):
        """The person does something while the client works."""

        def do():
            try:
                act()
            except AssertionError as failure:
                self.failures.append(str(failure))

        thread = threading.Thread(target=do, daemon=True)
        thread.start()
        self.background.append(thread)

    def waiting_version(self):
        """The version of the plan that waits for the person."""
        with self.lock:
            code, output = self.person.run("planwright plan show --json")
        plan = json.loads(output) if code == 0 else {}
        return plan.get("version") if plan.get("status") == "READY" else None

    def run(self, client, script, command=None):
        """Runs the client until it ends. Returns what went wrong, or an empty list."""
        number = len(self.opened)
        model = ScriptedModel(script, f"{self.folder}/{client.name}-{number}-model.jsonl")
        script.model = model
        self.models.append(model)
        variables = {**self.environment, **client.prepare(self, model.address)}
        # The agent's program starts later than the person's terminal; the kernel counts hundredths of a second.
        time.sleep(0.05)
        terminal = Terminal(self.folder, f"{client.name}-{number}", self.project, variables)
        self.opened.append(terminal)
        code, output = terminal.run((command or client.command)(PROMPT), CLIENT_SECONDS)
        wrong = [*model.failures, *self.failures]
        if script.missing:
            wrong.append(f"not offered: {', '.join(script.missing)}")
        if not script.finished:
            wrong.append(f"the script stopped at step {len(script.results) + 1} of {len(script.steps)}")
        if wrong or code != 0:
            wrong.append(f"{client.program} ended with {code}: {output[-2000:]}")
        if not wrong and FINISHED not in output:
            wrong.append(f"the last words of the model are not in the output: {output[-500:]}")
        return wrong

    def start(self, line):
        """Starts a program in a terminal of its own."""
        time.sleep(0.05)
        terminal = Terminal(self.folder, f"program-{len(self.opened)}", self.project, self.environment)
        self.opened.append(terminal)
        terminal.type_line(line)
        return terminal

    def program(self, line, seconds=120):
        """Runs a program to its end."""
        terminal = self.start(line)
        try:
            return terminal.end(seconds)
        finally:
            terminal.close()

    def wait_for(self, look, what, seconds=60):
        limit = time.monotonic() + seconds
        while not look():
            if time.monotonic() > limit:
                raise AssertionError(f"waited in vain for {what}")
            time.sleep(0.05)
