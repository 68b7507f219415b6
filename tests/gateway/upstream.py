"""The tools of a suite as an MCP server. `pipe.py` is the program that Planwright starts; it connects its pipes with this server, so
that AgentDojo is loaded once and not for each task.

Every call that arrives is kept, whoever it is from: what ran is counted here and nowhere else. Each connection has an environment of its
own."""

import json
import os
import threading
import urllib.parse

from suites import call_of

# A resource that acts: reading the address `dojo://call/FUNCTION?arguments=JSON` makes the call.
TEMPLATE = "dojo://call/{function}?arguments={arguments}"


# Pairs of pipes that wait for a program.
SPARE = 8


class Upstream:
    def __init__(self, folder):
        self.folder, self.pairs = folder, 0
        self.suite, self.task, self.received = None, None, []
        self.lock = threading.Lock()
        os.makedirs(folder)
        os.mkfifo(f"{folder}/announce")
        for _ in range(SPARE):
            self.add_pair()
        threading.Thread(target=self.accept, daemon=True).start()

    def add_pair(self):
        self.pairs += 1
        for end in ("in", "out"):
            os.mkfifo(f"{self.folder}/{self.pairs}.{end}")
        open(f"{self.folder}/{self.pairs}.free", "w").close()

    def begin(self, suite, task):
        """The next connections work on this task."""
        with self.lock:
            self.suite, self.task, self.received = suite, task, []

    def calls(self):
        with self.lock:
            return list(self.received)

    def accept(self):
        # Opened for writing, too, so that it never ends.
        with open(os.open(f"{self.folder}/announce", os.O_RDWR), encoding="utf-8") as announced:
            for pair in announced:
                self.add_pair()
                threading.Thread(target=self.serve, args=(f"{self.folder}/{pair.strip()}",), daemon=True).start()

    def serve(self, pair):
        suite, environment = self.suite, self.suite.environment(self.task)
        runtime = suite.runtime()
        with open(f"{pair}.in", encoding="utf-8", newline="\n") as requests, open(f"{pair}.out", "w", encoding="utf-8", newline="\n") as answers:
            for line in requests:
                request = json.loads(line)
                if "id" not in request or "method" not in request:
                    continue
                try:
                    answer = {"result": self.answer(suite, runtime, environment, request["method"], request.get("params") or {})}
                except (KeyError, ValueError) as error:
                    answer = {"error": {"code": -32602, "message": f"it cannot be answered: {error!r}"}}
                try:
                    answers.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}) + "\n")
                    answers.flush()
                except BrokenPipeError:
                    return

    def answer(self, suite, runtime, environment, method, params):
        if method == "initialize":
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}, "resources": {}},
                "serverInfo": {"name": f"agentdojo-{suite.name}", "version": "1"},
            }
        if method == "tools/list":
            return {"tools": suite.described_tools()}
        if method == "resources/list":
            return {"resources": []}
        if method == "resources/templates/list":
            return {"resourceTemplates": [{"uriTemplate": TEMPLATE, "name": "call"}]}
        if method == "tools/call":
            text, error = self.run(runtime, environment, params["name"], params.get("arguments") or {})
            return {"content": [{"type": "text", "text": text}], "isError": error}
        if method == "resources/read":
            address = urllib.parse.urlsplit(params["uri"])
            arguments = json.loads(urllib.parse.parse_qs(address.query)["arguments"][0])
            text, _ = self.run(runtime, environment, address.path.strip("/"), arguments)
            return {"contents": [{"uri": params["uri"], "mimeType": "text/plain", "text": text}]}
        return {}

    def run(self, runtime, environment, function, arguments):
        with self.lock:
            self.received.append(call_of(function, arguments))
        result, error = runtime.run_function(environment, function, arguments)
        return error or str(result), bool(error)


def address_of(call):
    return f"dojo://call/{call.function}?" + urllib.parse.urlencode({"arguments": json.dumps(call.as_object)})
