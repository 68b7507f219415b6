"""The tools of a suite as an MCP server. `pipe.py` is the program that Planwright starts; it connects its pipes with this server, so
that AgentDojo is loaded once and not for each task.

Every call that arrives is kept, whoever it is from: what ran is counted here and nowhere else. Each connection has an environment of its
own."""

import json
import socket
import threading
import urllib.parse

from suites import call_of

# A resource that acts: reading the address `dojo://call/FUNCTION?arguments=JSON` makes the call.
TEMPLATE = "dojo://call/{function}?arguments={arguments}"


class Upstream:
    def __init__(self, path):
        self.suite, self.task, self.received = None, None, []
        self.lock = threading.Lock()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def begin(self, suite, task):
        """The next connections work on this task."""
        with self.lock:
            self.suite, self.task, self.received = suite, task, []

    def calls(self):
        with self.lock:
            return list(self.received)

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        suite, environment = self.suite, self.suite.environment(self.task)
        runtime = suite.runtime()
        with connection, connection.makefile("rw", encoding="utf-8", newline="\n") as stream:
            for line in stream:
                request = json.loads(line)
                if "id" not in request or "method" not in request:
                    continue
                try:
                    answer = {"result": self.answer(suite, runtime, environment, request["method"], request.get("params") or {})}
                except KeyError as error:
                    answer = {"error": {"code": -32602, "message": f"there is no {error}"}}
                stream.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}) + "\n")
                stream.flush()

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
