"""The npm packages: one for each platform with the program in it, and `planwright`, which starts the one for the machine it is on."""

import json
import pathlib
import tarfile

import build

SOURCE = build.ROOT / "packaging/npm"


def make(made: build.Build) -> list[pathlib.Path]:
    files = build.shared_files(made.program, made.fresh_stage("npm-files"))
    platform = made.platform
    readme = f"# {platform.npm}\n\nThe program of the package `planwright` for {platform.node_os} on {platform.node_cpu}.\n"
    program = {"bin/planwright": files.pop("bin/planwright"), "README.md": (readme.encode(), 0o644)}
    packed = pack(made, platform_manifest(platform, made.version), program)

    content = {path: file for path, file in files.items() if not path.startswith("share/doc/")}
    content["bin/planwright.js"] = ((SOURCE / "planwright.js").read_bytes(), 0o755)
    content["README.md"] = ((SOURCE / "README.md").read_bytes(), 0o644)
    # It names the packages of platforms that lie beside it and no others.
    return [packed, pack(made, main_manifest(made.version, platform_packages(made), files), content)]


def platform_manifest(platform: build.Platform, version: str) -> dict:
    return json.loads((SOURCE / "platform-package.json").read_text()) | {
        "name": platform.npm,
        "version": version,
        "os": [platform.node_os],
        "cpu": [platform.node_cpu],
        "libc": ["glibc"],
    }


def main_manifest(version: str, platforms: list[str], files: dict) -> dict:
    return json.loads((SOURCE / "package.json").read_text()) | {
        "version": version,
        "optionalDependencies": {name: version for name in platforms},
        "man": [f"./{path}" for path in files if path.startswith("share/man/")],
    }


def platform_packages(made: build.Build) -> list[str]:
    names = []
    for path in sorted(made.out.glob(f"planwright-*-{made.version}.tgz")):
        with tarfile.open(path) as archive:
            names.append(json.load(archive.extractfile("package/package.json"))["name"])
    return names


def pack(made: build.Build, manifest: dict, content: dict) -> pathlib.Path:
    name = manifest["name"]
    folder = made.fresh_stage(f"npm-{name}")
    license_file = {"LICENSE": ((build.ROOT / "LICENSE").read_bytes(), 0o644)}
    described = {"package.json": (json.dumps(manifest, indent=2).encode() + b"\n", 0o644)}
    build.write_files(folder, content | license_file | described)
    environment = build.node_environment()
    build.run("npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", made.out, folder, env=environment)
    return made.out / f"{name}-{made.version}.tgz"
