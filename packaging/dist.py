#!/usr/bin/env python3
"""Builds the program once and packs it in every form there is:

    scripts/dist                        all packages, into target/packages
    scripts/dist archive npm            these alone
    scripts/dist --program FILE wheel   from a program that was built before

docs/packages.md says what they are.
"""

import argparse
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

import archive
import build
import bundle
import container
import debian
import inventory
import npm
import python_wheel

KINDS = {
    "archive": archive.make,
    "debian": debian.make,
    "wheel": python_wheel.make,
    "npm": npm.make,
    "mcpb": bundle.make,
    "container": container.make,
    "sbom": inventory.make,
}

# What the program may have, in bytes.
MOST = 60 * 1000 * 1000
# The newest version of glibc whose functions it may call.
NEWEST_GLIBC = (2, 17)


def main() -> None:
    arguments = argparse.ArgumentParser(description="Packs Planwright.")
    arguments.add_argument("--program", type=pathlib.Path, help="a program that was built before, by scripts/build-program")
    arguments.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}; all if none is named")
    given = arguments.parse_args()
    for kind in given.kinds:
        if kind not in KINDS:
            sys.exit(f"there is no package {kind}; there are {', '.join(KINDS)}")
    # The same rights of files whoever builds.
    os.umask(0o022)
    made = prepare(given.program)
    for kind in given.kinds or KINDS:
        for path in KINDS[kind](made):
            print(f"{path.stat().st_size / 1e6:8.1f} MB  {path}", file=sys.stderr)
    write_checksums(made.out)
    shutil.rmtree(made.stage, ignore_errors=True)
    print(made.out)


def prepare(program: pathlib.Path | None) -> build.Build:
    platform = build.platform(os.environ.get("PLANWRIGHT_TARGET", build.PLATFORMS[0].rust))
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", build.ROOT / "target")).resolve()
    if program is None:
        build.run(build.ROOT / "scripts/build-dashboard")
        program = pathlib.Path(build.capture(build.ROOT / "scripts/build-program"))
    out = target / "packages"
    out.mkdir(parents=True, exist_ok=True)
    for left in out.iterdir():
        left.unlink()
    made = build.Build(program.resolve(), platform, build.workspace_version(), build.commit_epoch(), target, out)
    check(made)
    return made


def check(made: build.Build) -> None:
    said = subprocess.run([str(made.program), "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    print(f"{said}, {made.program.stat().st_size / 1e6:.1f} MB", file=sys.stderr)
    if said.split()[1] != made.version:
        sys.exit(f"the program says {said}, and Cargo.toml {made.version}")
    if made.program.stat().st_size > MOST:
        sys.exit(f"the program has {made.program.stat().st_size:,} bytes, more than the {MOST:,} that it may have")
    needed = re.findall(rb"\0GLIBC_(\d+)\.(\d+)", made.program.read_bytes())
    newest = max((int(major), int(minor)) for major, minor in needed)
    if newest > NEWEST_GLIBC:
        sys.exit(f"the program needs glibc {newest[0]}.{newest[1]}; scripts/build-program builds one for {NEWEST_GLIBC[0]}.{NEWEST_GLIBC[1]}")


def write_checksums(out: pathlib.Path) -> None:
    """One file for all packages, and one beside the archive, which people download by itself."""
    lines = []
    for path in sorted(out.iterdir()):
        line = f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        lines.append(line)
        if path.name.endswith(".tar.gz"):
            (out / f"{path.name}.sha256").write_text(line)
    (out / "SHA256SUMS").write_text("".join(lines))


if __name__ == "__main__":
    main()
