"""The bill of materials, by cargo-sbom, and what cargo-deny says about the libraries in it."""

import json
import os
import pathlib
import subprocess
import time
import uuid

import build

CARGO_SBOM = "0.10.0"
CARGO_DENY = "0.20.2"


def make(made: build.Build) -> list[pathlib.Path]:
    check_libraries()
    sbom = build.cargo_tool("cargo-sbom", CARGO_SBOM)
    text = build.capture(sbom, "sbom", "--cargo-package", "planwright", "--output-format", "cyclone_dx_json_1_4", cwd=build.ROOT)
    bill = json.loads(text)
    # What it makes up for each run is made from the version and the commit instead.
    bill["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'planwright {made.version} {made.epoch}')}"
    bill["metadata"]["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(made.epoch))
    bill["components"] = sorted(bill["components"], key=lambda one: (one["name"], one["version"]))
    bill["dependencies"] = sorted(bill.get("dependencies", []), key=lambda one: one["ref"])
    for one in bill["dependencies"]:
        one["dependsOn"] = sorted(one.get("dependsOn", []))
    written = json.dumps(bill, indent=1, sort_keys=True).replace(str(build.ROOT), "")
    path = made.out / f"planwright-{made.version}.cdx.json"
    path.write_text(written + "\n")
    return [path]


def check_libraries() -> None:
    """Licences, duplicate versions and sources; known vulnerabilities where the database of advisories can be fetched."""
    deny = build.cargo_tool("cargo-deny", CARGO_DENY)
    build.run(deny, "check", "--hide-inclusion-graph", "bans", "licenses", "sources", cwd=build.ROOT)
    asked = subprocess.run(
        [str(deny), "check", "--hide-inclusion-graph", "advisories"], cwd=build.ROOT, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"CARGO_NET_RETRY": "0"},
    )
    if asked.returncode != 0 and "failed to fetch advisory database" not in asked.stderr:
        raise SystemExit(asked.stderr)
    print("advisories: " + ("none" if asked.returncode == 0 else "not checked, the database cannot be fetched from here"), file=build.sys.stderr)
