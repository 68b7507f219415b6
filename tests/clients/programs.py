"""Programs that are no agents: the official SDK clients, the inspector's command line and the conformance suite."""

import json
import os
import re
import socket

from suite_proxy import SERVER, SuiteProxy

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = os.path.join(HERE, "../../target/clients/node_modules")
PYTHON = os.path.join(HERE, "../../target/clients/python/bin/python")

# The active server scenarios of the conformance suite.
CONFORMANCE = [
    "server-initialize",
    "logging-set-level",
    "ping",
    "completion-complete",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-with-logging",
    "tools-call-error",
    "tools-call-with-progress",
    "tools-call-sampling",
    "tools-call-elicitation",
    "json-schema-2020-12",
    "elicitation-sep1034-defaults",
    "server-sse-polling",
    "server-sse-multiple-streams",
    "elicitation-sep1330-enums",
    "resources-list",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "resources-subscribe",
    "resources-unsubscribe",
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
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


def conformance(stage, seen):
    """The suite's own server runs upstream of Planwright, so the suite talks to it through the gateway."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    arguments = json.dumps([f"{HERE}/suite_server.mjs", os.path.abspath(PACKAGES)])
    stage.add_settings(
        f"[gateway]\nwrites = \"free\"\n"
        f"[mcp.servers.{SERVER}]\ncommand = \"node\"\nargs = {arguments}\nelicitation = true\nsampling = true\n"
    )
    offered = json.loads(stage.done(f"planwright mcp-server show {SERVER} --json"))
    stage.done(f"planwright mcp-server accept {SERVER} --digest {offered['digest']}")
    listed = stage.program("conformance list --server")[1]
    active = re.findall(r"^ *- ([\w-]+)", listed, re.MULTILINE)
    seen.that("every active server scenario is run", sorted(active) == sorted(CONFORMANCE), listed[-700:])
    proxy = SuiteProxy(port)
    names = f"--host localhost:{proxy.port} --host 127.0.0.1:{proxy.port}"
    server = stage.start(f"planwright serve --listen 127.0.0.1:{port} {names}")
    try:
        stage.wait_for(lambda: can_connect(port), f"the server at port {port}")
        proxy.token = stage.done("planwright token show").strip().split()[-1]
        for scenario in CONFORMANCE:
            url = f"http://localhost:{proxy.port}/mcp/conformance-1"
            code, output = stage.program(f"conformance server --url {url} --scenario {scenario}")
            passed = code == 0 and " 0 failed, 0 warnings" in output
            seen.that(scenario, passed, "" if passed else output[-700:])
    finally:
        server.close()
        proxy.close()


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
