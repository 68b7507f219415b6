"""Programs that are no agents: the official SDK clients, the inspector's command line and the conformance suite."""

import json
import os
import re
import select
import socket
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = os.path.join(HERE, "../../target/clients/node_modules")
PYTHON = os.path.join(HERE, "../../target/clients/python/bin/python")

# Scenarios of the conformance suite that any server can pass. The other ones call tools, prompts and resources of a server that
# was made for the suite (`test_simple_text` and so on).
CONFORMANCE = [
    "server-initialize",
    "logging-set-level",
    "ping",
    "tools-list",
    # A tool that does not exist is an error in the result, too.
    "tools-call-error",
    "resources-list",
    "prompts-list",
    # Nothing is completed for a prompt that does not exist.
    "completion-complete",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
]


def observations(seen, output):
    lines = re.findall(r"^OBSERVED (.*)$", output, re.MULTILINE)
    for line in lines:
        seen.that(*json.loads(line))
    return lines


def run(stage, seen, line):
    code, output = stage.program(line)
    lines = observations(seen, output)
    seen.that("the program ends well", code == 0 and lines, "" if code == 0 else output[-800:])


def python_sdk(stage, seen):
    run(stage, seen, f"{PYTHON} {HERE}/sdk_client.py legacy {stage.require}")


def python_sdk_newest(stage, seen):
    run(stage, seen, f"{PYTHON} {HERE}/sdk_client.py auto {stage.require}")


def typescript_sdk(stage, seen):
    run(stage, seen, f"node {HERE}/sdk_client.mjs {PACKAGES} {stage.require}")


def inspector(stage, seen):
    def call(*words):
        code, output = stage.program("mcp-inspector --cli planwright mcp " + " ".join(words))
        try:
            return json.loads(output[output.index("{") :])
        except ValueError:
            return {"failed": output[-500:], "code": code}

    tools = call("--method", "tools/list")
    seen.that("tools/list", any(tool["name"] == "plan_get" for tool in tools.get("tools", [])), tools.get("failed", ""))
    prompts = call("--method", "prompts/list")
    seen.that("prompts/list", any(one["name"] == "plan-status" for one in prompts.get("prompts", [])), prompts.get("failed", ""))
    resources = call("--method", "resources/list")
    seen.that("resources/list", "planwright://plan/active" in json.dumps(resources), resources.get("failed", ""))
    drafted = call("--method", "tools/call", "--tool-name", "plan_set_content", "--tool-arg", "'plan_markdown=# One'")
    seen.that("tools/call", "READY" in json.dumps(drafted), "" if "READY" in json.dumps(drafted) else json.dumps(drafted)[:400])


class TokenProxy:
    """Adds the access token to each request: the suite cannot send one. Everything else passes as it is."""

    def __init__(self, target):
        self.target, self.token = target, ""
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with client, socket.create_connection(("127.0.0.1", self.target)) as server:
            head = b""
            while b"\r\n\r\n" not in head:
                data = client.recv(65536)
                if not data:
                    return
                head += data
            first, _, rest = head.partition(b"\r\n")
            # One request a connection, so that the next one gets its token, too.
            rest = re.sub(rb"(?im)^connection:.*\r\n", b"", rest, count=1)
            server.sendall(first + f"\r\nAuthorization: Bearer {self.token}\r\nConnection: close\r\n".encode() + rest)
            while True:
                ready, _, _ = select.select([client, server], [], [], 120)
                if not ready:
                    return
                for source in ready:
                    try:
                        data = source.recv(65536)
                    except ConnectionResetError:
                        return
                    if not data:
                        return
                    (server if source is client else client).sendall(data)


def conformance(stage, seen):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    proxy = TokenProxy(port)
    names = f"--host localhost:{proxy.port} --host 127.0.0.1:{proxy.port}"
    server = stage.start(f"planwright serve --listen 127.0.0.1:{port} {names}")
    try:
        stage.wait_for(lambda: can_connect(port), f"the server at port {port}")
        proxy.token = stage.done("planwright token show").strip().split()[-1]
        for scenario in CONFORMANCE:
            url = f"http://localhost:{proxy.port}/mcp/conformance-1"
            code, output = stage.program(f"conformance server --url {url} --scenario {scenario}")
            seen.that(scenario, code == 0, "" if code == 0 else output[-700:])
    finally:
        server.close()


def can_connect(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


POLICIES = ["any", "separate", "verified"]
PROGRAMS = [
    (python_sdk, "Python SDK", POLICIES),
    (python_sdk_newest, "Python SDK, newest protocol", ["separate"]),
    (typescript_sdk, "TypeScript SDK", POLICIES),
    (inspector, "Inspector, command line", ["separate"]),
    (conformance, "Conformance suite", ["separate"]),
]
