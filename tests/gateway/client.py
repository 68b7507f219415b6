"""The agent's program and the person beside it, both with the real `planwright`."""

import json
import os
import subprocess
import time

# What one answer may take on a busy machine.
SECONDS = 120


class Stage:
    """A store with one upstream server, which the person has accepted."""

    def __init__(self, folder, planwright, server, settings):
        self.folder, self.planwright = folder, planwright
        os.makedirs(folder)
        self.environment = {
            "PATH": os.environ["PATH"],
            "USER": "ada",
            "TZ": "UTC",
            "PLANWRIGHT_DATA": folder,
            # The person of the replay is a script.
            "PLANWRIGHT_APPROVAL_REQUIRE": "any",
            "PLANWRIGHT_GATEWAY_START_SECONDS": "600",
            **settings,
        }
        with open(f"{folder}/planwright.toml", "w") as file:
            file.write(server)
        shown = json.loads(self.person("mcp-server", "show", "dojo", "--json"))
        self.person("mcp-server", "accept", "dojo", "--trust-annotations", "--digest", shown["digest"])

    def person(self, *arguments):
        command = [self.planwright, *arguments]
        done = subprocess.run(command, env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=SECONDS)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout


class Agent:
    """A client of `planwright mcp`. `permits` says what the person answers in the client."""

    def __init__(self, stage, session, style, permits):
        self.stage, self.session, self.permits = stage, session, permits
        self.next, self.permitted = 0, 0
        self.process = subprocess.Popen(
            [stage.planwright, "mcp", "--session", session, "--plan", style],
            env=stage.environment,
            cwd=stage.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        about = {"name": "replay", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {"form": {}}}, "clientInfo": about})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.next += 1
        number = self.next
        self.send({"id": number, "method": method, "params": params})
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if message.get("method") == "elicitation/create":
                is_permitted = self.permits()
                self.permitted += is_permitted
                decision = "once" if is_permitted else "no"
                self.send({"id": message["id"], "result": {"action": "accept", "content": {"decision": decision}}})
            elif message.get("id") == number and "method" not in message:
                return message
        raise RuntimeError(f"{method}: the server ended with {self.process.wait()}")

    def call(self, tool, arguments):
        """`(whether it was taken, what it answered)`."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        result = answer.get("result") or {"isError": True, "content": [{"type": "text", "text": json.dumps(answer.get("error"))}]}
        if "structuredContent" in result:
            return not result.get("isError"), result["structuredContent"]
        return not result.get("isError"), {"text": "".join(part.get("text", "") for part in result["content"])}

    def do(self, tool, arguments):
        taken, answer = self.call(tool, arguments)
        if not taken:
            raise RuntimeError(f"{tool} {arguments}: {answer}")
        return answer

    def attempt(self, request):
        """Whether it was taken in: made, or written into a plan."""
        if request[0] == "read":
            return "result" in self.ask("resources/read", {"uri": request[1]})
        return self.call(request[1], request[2])[0]

    def plan(self):
        return self.do("plan_get", {})

    def wait(self, fits):
        """Reads the plan until it fits."""
        end = time.monotonic() + SECONDS
        while not fits(plan := self.plan()):
            if time.monotonic() > end:
                raise RuntimeError(f"the plan stays as it is: {json.dumps(plan)[:2000]}")
        return plan

    def approve(self, number, digest):
        self.stage.person("plan", "approve", str(number), "--session", self.session, "--digest", digest)

    def reject(self, number):
        self.stage.person("plan", "reject", str(number), "--session", self.session, "--", "not what I asked for")

    def leave(self):
        self.process.stdin.close()
        self.process.wait(SECONDS)

    def kill(self):
        self.process.kill()
        self.process.wait()
