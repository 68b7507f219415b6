"""The `.mcpb` bundle, which clients of MCP install with a click, and `server.json`, which describes it to the MCP registry."""

import hashlib
import io
import json
import os
import pathlib
import time
import zipfile

import build

MCPB = "2.1.2"
SOURCE = build.ROOT / "packaging/mcp"


def make(made: build.Build) -> list[pathlib.Path]:
    described = json.dumps(manifest(made.platform, made.version), indent=2).encode() + b"\n"
    check(made, described)
    files = {
        "manifest.json": (described, 0o644),
        "server/planwright": (made.program.read_bytes(), 0o755),
        "LICENSE": ((build.ROOT / "LICENSE").read_bytes(), 0o644),
        "icon.png": ((build.ROOT / "dashboard/public/icon-512.png").read_bytes(), 0o644),
    }
    path = made.out / f"planwright-{made.version}-{made.platform.name}.mcpb"
    path.write_bytes(zipped(files, made.epoch))
    entry = made.out / "server.json"
    entry.write_text(json.dumps(registry_entry(made.version, path), indent=2) + "\n")
    return [path, entry]


def manifest(platform: build.Platform, version: str) -> dict:
    return json.loads((SOURCE / "manifest.json").read_text()) | {
        "version": version,
        "compatibility": {"platforms": [platform.node_os]},
    }


def zipped(files: dict[str, tuple[bytes, int]], epoch: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, (content, mode) in sorted(files.items()):
            entry = zipfile.ZipInfo(path, time.gmtime(epoch)[:6])
            entry.external_attr = (0o100000 | mode) << 16
            entry.create_system = 3
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, compresslevel=9)
    return buffer.getvalue()


def check(made: build.Build, described: bytes) -> None:
    """The manifest is one for the tool of those who define the format."""
    folder = made.target / f"mcpb-{MCPB}"
    environment = build.node_environment()
    tool = folder / "node_modules/.bin/mcpb"
    if not tool.exists():
        folder.mkdir(parents=True, exist_ok=True)
        build.run(
            "npm", "install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder,
            f"@anthropic-ai/mcpb@{MCPB}", env=environment,
        )
    path = made.fresh_stage("bundle") / "manifest.json"
    path.write_bytes(described)
    (path.parent / "icon.png").write_bytes((build.ROOT / "dashboard/public/icon-512.png").read_bytes())
    build.run(tool, "validate", path, env=environment)


def registry_entry(version: str, bundle: pathlib.Path) -> dict:
    """At GitHub it names the repository that it is built in. Elsewhere nothing is published, and it names the file alone."""
    entry = json.loads((SOURCE / "server.json").read_text()) | {"version": version}
    package = entry["packages"][0] | {
        "identifier": bundle.name,
        "version": version,
        "fileSha256": hashlib.sha256(bundle.read_bytes()).hexdigest(),
    }
    repository = os.environ.get("GITHUB_REPOSITORY")
    if repository:
        address = f"https://github.com/{repository}"
        entry["name"] = f"io.github.{repository.split('/')[0]}/planwright"
        entry["repository"] = {"url": address, "source": "github"}
        package["identifier"] = f"{address}/releases/download/v{version}/{bundle.name}"
    return entry | {"packages": [package]}
