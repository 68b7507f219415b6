"""The tar archive: unpacked into `~/.local` or `/usr/local` it is an installation."""

import pathlib

import build

# What a person downloads, in bytes.
MOST_PACKED = 25 * 1000 * 1000


def make(made: build.Build) -> list[pathlib.Path]:
    folder = name(made.version, made.platform)
    files = build.shared_files(made.program, made.fresh_stage("archive"))
    packed = build.gzipped(build.tar({f"{folder}/{path}": file for path, file in files.items()}, made.epoch))
    if len(packed) > MOST_PACKED:
        raise SystemExit(f"the archive has {len(packed):,} bytes, more than the {MOST_PACKED:,} that it may have")
    path = made.out / f"{folder}.tar.gz"
    path.write_bytes(packed)
    return [path]


def name(version: str, platform: build.Platform) -> str:
    return f"planwright-{version}-{platform.name}"
