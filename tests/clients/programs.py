"""Programs that are no agents: the official SDK clients, the inspector's command line and the conformance suite."""

import json
import os
import re
import socket

from suite_proxy import NEWEST, SERVER, SuiteProxy

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = os.path.join(HERE, "../../target/clients/node_modules")
PYTHON = os.path.join(HERE, "../../target/clients/python/bin/python")

# The versions that the conformance suite scores a server by.
REVISIONS = ["2025-11-25", "2026-07-28"]
# One scenario may take so long on a busy machine.
SCENARIO_SECONDS = 300
# What the suite does not score and the fixture has nothing for, and why.
LEFT_OUT = {"http-custom-header-server-validation": "the fixture has no tool with a header for a parameter"}
# A warning that the fixture cannot avoid: behind the gateway a tool that no person accepted is not offered, so a list that the fixture
# changes does not change for the client.
UNAVOIDABLE = ["sep-2575-server-sends-tools-list-changed-on-subscription"]


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
    """The suite's own servers run upstream of Planwright, so the suite talks to them through the gateway."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    passed = "elicitation = true\nsampling = true\nroots = true\n"
    settings = '[gateway]\nwrites = "free"\n'
    for server, program in ((SERVER, "suite_server.mjs"), (NEWEST, "suite_newest.mjs")):
        arguments = json.dumps([f"{HERE}/{program}", os.path.abspath(PACKAGES)])
        settings += f'[mcp.servers.{server}]\ncommand = "node"\nargs = {arguments}\n{passed}'
    stage.add_settings(settings)
    for server in (SERVER, NEWEST):
        offered = json.loads(stage.done(f"planwright mcp-server show {server} --json"))
        stage.done(f"planwright mcp-server accept {server} --digest {offered['digest']}")
    listed = stage.program("conformance list --server")[1]
    scenarios = re.findall(r"^ *- ([\w-]+) \[(.*)\]", listed, re.MULTILINE)
    seen.that("the suite lists its scenarios", bool(scenarios), listed[-700:])
    proxy = SuiteProxy(port)
    names = f"--host localhost:{proxy.port} --host 127.0.0.1:{proxy.port}"
    server = stage.start(f"planwright serve --listen 127.0.0.1:{port} {names}")
    try:
        stage.wait_for(lambda: can_connect(port), f"the server at port {port}")
        proxy.token = stage.done("planwright token show").strip().split()[-1]
        for revision in REVISIONS:
            names = [name for name, versions in scenarios if revision in versions.split(",") and name not in LEFT_OUT]
            scored, passed, total = scored_scenarios(revision), 0, 0
            for scenario in names:
                url = f"http://localhost:{proxy.port}/mcp/conformance-1"
                line = f"conformance server --url {url} --scenario {scenario} --spec-version {revision}"
                # On a busy machine an answer may come too late; what fails counts when it fails again.
                for _ in range(2):
                    code, output = stage.program(line, SCENARIO_SECONDS)
                    wrong, counts = failed_checks(output), re.search(r"Passed: (\d+)/(\d+)", output)
                    if counts and not wrong:
                        break
                seen.that(f"{scenario} ({revision})", not wrong and counts, "" if not wrong else f"{code}: {wrong}")
                if counts and scenario in scored:
                    passed, total = passed + int(counts[1]), total + int(counts[2])
            missing = [name for name in scored if name not in names]
            what = f"{passed} of {total} checks of the scored scenarios pass ({revision})"
            seen.that(what, passed == total and not missing, f"not run: {missing}")
    finally:
        server.close()
        proxy.close()


def scored_scenarios(revision):
    """What the suite scores a server of this revision by."""
    with open(f"{PACKAGES}/@modelcontextprotocol/conformance/requirements/{revision}.yaml") as file:
        listed = re.search(r"^server:\n((?:  - .*\n)+)", file.read(), re.MULTILINE)
    return re.findall(r"- ([\w-]+)", listed[1])


def failed_checks(output):
    """The checks that failed or warned, each once, without those that the fixture cannot pass."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output)
    found = re.findall(r"\[([\w-]+) *\] (?:FAILURE|WARNING) (.*)", plain)
    return [f"{check}: {what}" for check, what in dict(found).items() if check not in UNAVOIDABLE]


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
