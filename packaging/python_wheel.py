"""The Python wheel: it holds the program and no Python. `wheel`, of the Python Packaging Authority, packs it."""

import os
import pathlib
import tomllib

import build

WHEEL = "0.45.1"


def make(made: build.Build) -> list[pathlib.Path]:
    folder = made.fresh_stage("wheel")
    project = tomllib.loads((build.ROOT / "packaging/python/pyproject.toml").read_text())["project"]
    distribution = f"{project['name'].replace('-', '_')}-{made.version}"
    content = folder / distribution
    files = build.shared_files(made.program, made.fresh_stage("wheel-files"))
    placed = {f"{distribution}.data/scripts/planwright": files.pop("bin/planwright")}
    for path, file in files.items():
        if not path.startswith("share/doc/"):
            placed[f"{distribution}.data/data/{path}"] = file
    information = f"{distribution}.dist-info"
    placed[f"{information}/METADATA"] = (metadata(project, made.version).encode(), 0o644)
    tags = "".join(f"Tag: py3-none-{tag}\n" for tag in made.platform.wheel.split("."))
    placed[f"{information}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: planwright\nRoot-Is-Purelib: false\n{tags}".encode(), 0o644)
    placed[f"{information}/licenses/LICENSE"] = ((build.ROOT / "LICENSE").read_bytes(), 0o644)
    build.write_files(content, placed)

    wheel = build.python_tool("wheel", WHEEL)
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(made.epoch)}
    build.run(wheel, "pack", "--dest-dir", made.out, content, env=environment)
    path = made.out / f"{distribution}-py3-none-{made.platform.wheel}.whl"
    if not path.exists():
        raise SystemExit(f"wheel did not write {path.name}")
    return [path]


def metadata(project: dict, version: str) -> str:
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {version}",
        f"Summary: {project['description']}",
        f"Keywords: {','.join(project['keywords'])}",
        f"License-Expression: {project['license']}",
        "License-File: LICENSE",
        f"Requires-Python: {project['requires-python']}",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n" + (build.ROOT / "packaging/python" / project["readme"]).read_text()
