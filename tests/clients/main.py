"""Drives the real clients against a scripted model and writes docs/clients/results.md.

    scripts/test-clients                 everything
    scripts/test-clients codex.document  the scenarios whose name contains this
"""

import argparse
import os
import sys
import time
import traceback

import results
from clients import CLIENTS
from programs import PROGRAMS, conformance
from scenarios import SCENARIOS, Seen
from stage import Stage

NOTES = """The suite calls tools, prompts and resources of a server that was made for it, such as `test_simple_text`. That server
(`tests/clients/suite_server.mjs`, on the TypeScript SDK) runs upstream of Planwright, and a small proxy (`tests/clients/suite_proxy.py`) takes off the prefix that the gateway
gives to its names. A second one, `tests/clients/suite_newest.mjs`, has the tools of version 2026-07-28. The suite cannot send the access token; the proxy adds it. In `server-sse-polling` the proxy cuts the stream of the call, and Planwright resumes it.

Codex asks its person once to trust the hooks; here it is told to skip that. The column *Codex, code mode* has a model that Codex knows (`gpt-6.1-sol`): such a
model calls its tools from JavaScript, and has another tool for patches and other sub-agents. A cell is empty where the client has no such thing, for the reason above its table,
or where another column shows the same.
"""


def plays():
    """Every scenario as `(name, title of the scenario, column, policy, function of stage and observations)`."""
    for play, names, policies in SCENARIOS:
        for client in (CLIENTS[name] for name in names):
            for require in policies:
                yield (
                    f"{client.key or client.name}.{play.__name__}.{require}",
                    play.__name__,
                    client.title,
                    require,
                    lambda stage, seen, play=play, client=client: play(stage, client, seen),
                )
    for play, title, policies in PROGRAMS:
        for require in policies:
            scenario = "conformance" if play is conformance else "programs"
            yield f"programs.{play.__name__}.{require}", scenario, title, require, play


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--planwright", required=True)
    parser.add_argument("--path", required=True, help="folders of Node and the clients")
    parser.add_argument("--versions", required=True, help="NAME=VERSION, separated by commas")
    parser.add_argument("only", nargs="?", default="")
    options = parser.parse_args()
    repository = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
    tools = [os.path.dirname(os.path.abspath(options.planwright)), *options.path.split(":")]
    kept = results.Results(f"{repository}/target/clients/results")
    if not options.only:
        kept.clear()
    failed, seen_columns = 0, {}
    for name, scenario, column, require, play in plays():
        if options.only not in name:
            continue
        begun, seen, stage = time.monotonic(), Seen(), None
        try:
            stage = Stage(f"{repository}/target/clients/stages/{name}", repository, tools, require)
            play(stage, seen)
        except Exception:
            seen.that("the scenario ends", False, traceback.format_exc())
        finally:
            if stage:
                stage.close()
        seen_columns.setdefault((scenario, column), {})[require] = seen.lines
        kept.keep(scenario, column, [line for lines in seen_columns[(scenario, column)].values() for line in lines])
        wrong = [line for line in seen.lines if line[1] is False]
        failed += len(wrong)
        print(f"{'FAIL' if wrong else 'ok  '} {name} ({time.monotonic() - begun:.0f} s)", flush=True)
        for what, _, note in wrong:
            print(f"     {what}: {note[-1500:]}", flush=True)
    versions = dict(one.rsplit("=", 1) for one in options.versions.split(","))
    columns = [client.title for client in CLIENTS.values()] + [title for _, title, _ in PROGRAMS]
    results.write(f"{repository}/docs/clients/results.md", kept, versions, columns, NOTES)
    sys.exit(1 if failed else 0)


main()
