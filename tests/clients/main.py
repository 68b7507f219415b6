"""Drives the real clients against a scripted model and writes docs/clients/results.md."""

import argparse
import os
import sys
import time
import traceback

from clients import CLIENTS
from scenarios import SCENARIOS, Seen
from stage import Stage


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--planwright", required=True)
    parser.add_argument("--packages", required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    repository = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
    bins = [os.path.dirname(os.path.abspath(options.planwright)), *options.packages.split(":")]
    for play, names, policies in SCENARIOS:
        for client, require in ((CLIENTS[name], require) for name in names for require in policies):
            name = f"{client.name}.{play.__name__}.{require}"
            if options.only and options.only not in name:
                continue
            begun = time.monotonic()
            seen = Seen()
            stage = None
            try:
                stage = Stage(f"{repository}/target/clients/stages/{name}", repository, bins, require)
                play(stage, client, seen)
            except Exception:
                seen.that("the scenario ends", False, traceback.format_exc())
            finally:
                if stage:
                    stage.close()
            print(f"== {name} ({time.monotonic() - begun:.0f} s)")
            for what, passed, note in seen.lines:
                print(f"  {'ok  ' if passed else 'FAIL' if passed is False else '    '} {what} {note}")
            sys.stdout.flush()


main()
