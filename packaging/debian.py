"""The Debian package, by cargo-deb. What is in it is described in crates/planwright/Cargo.toml."""

import os
import pathlib

import build

CARGO_DEB = "3.8.0"


def make(made: build.Build) -> list[pathlib.Path]:
    # cargo-deb finds what begins with `target/release` in the folder of this build.
    folder = made.target / made.platform.rust / "dist" / "package-files"
    build.shutil.rmtree(folder, ignore_errors=True)
    build.write_files(folder, placed_files(made.program, made.fresh_stage("debian")))
    path = made.out / f"planwright_{made.version}-1_{made.platform.debian}.deb"
    cargo_deb = build.cargo_tool("cargo-deb", CARGO_DEB)
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(made.epoch), "CARGO_TARGET_DIR": str(made.target)}
    build.run(
        cargo_deb, "--package", "planwright", "--no-build", "--no-strip", "--profile", "dist", "--target", made.platform.rust,
        "--output", path, cwd=build.ROOT, env=environment,
    )
    return [path]


def placed_files(program: pathlib.Path, folder: pathlib.Path) -> dict[str, tuple[bytes, int]]:
    """The files where Debian has them, except for those that cargo-deb writes itself."""
    placed = {}
    for path, (content, mode) in build.shared_files(program, folder).items():
        if path == "share/zsh/site-functions/_planwright":
            path = "share/zsh/vendor-completions/_planwright"
        elif path.startswith("share/man/"):
            path, content = f"{path}.gz", build.gzipped(content)
        elif path.startswith("share/doc/planwright/"):
            continue
        placed[f"usr/{path}"] = (content, mode)
    placed["usr/lib/systemd/system/planwright.service"] = (unit(), 0o644)
    return placed


def unit() -> bytes:
    """The unit for the program of the package and for the user that the package makes."""
    text = (build.ROOT / "deploy/planwright.service").read_text()
    for here, there in [("/usr/local/bin/planwright", "/usr/bin/planwright"), ("DynamicUser=yes", "User=planwright\nGroup=planwright")]:
        if text.count(here) != 1:
            raise SystemExit(f"deploy/planwright.service names {here} {text.count(here)} times")
        text = text.replace(here, there)
    return text.encode()
