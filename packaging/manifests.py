#!/usr/bin/env python3
"""Writes what the packages say about themselves, without packing anything, for the tests that `make test` runs:

    packaging/manifests.py PROGRAM FOLDER
"""

import json
import pathlib
import sys
import tomllib

import archive
import build
import bundle
import debian
import npm
import python_wheel


def main() -> None:
    program, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    version, platform = build.workspace_version(), build.PLATFORMS[0]
    work = folder / "work"
    work.mkdir()
    files = build.shared_files(program, work)
    project = tomllib.loads((build.ROOT / "packaging/python/pyproject.toml").read_text())["project"]
    packed = folder / archive.name(version, platform)
    packed.write_bytes(b"")

    def write(name: str, content) -> None:
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))

    write("npm.json", npm.main_manifest(version, [platform.npm], files))
    write("npm-platform.json", npm.platform_manifest(platform, version))
    write("METADATA", python_wheel.metadata(project, version))
    write("manifest.json", bundle.manifest(platform, version))
    write("server.json", bundle.registry_entry(version, packed))
    write("planwright.service", debian.unit().decode())
    write("files.json", sorted(files))
    write("debian-files.json", sorted(debian.placed_files(program, work)))


if __name__ == "__main__":
    main()
