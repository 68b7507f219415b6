"""The npm packages: one for each platform with the program in it, and `planwright`, which starts the one for the machine it is on."""

import json
import pathlib
import tarfile

import build

SOURCE = build.ROOT / "packaging/npm"


def make(made: build.Build) -> list[pathlib.Path]:
    files = build.shared_files(made.program, made.fresh_stage("npm-files"))
    platform = made.platform
    described = json.loads((SOURCE / "platform-package.json").read_text()) | {
        "name": platform.npm,
        "version": made.version,
        "os": [platform.node_os],
        "cpu": [platform.node_cpu],
        "libc": ["glibc"],
    }
    content = {"bin/planwright": files["bin/planwright"], "README.md": (platform_readme(platform).encode(), 0o644)}
    packed = pack(made, platform.npm, described, content)
    return [packed, make_main(made, files)]


def make_main(made: build.Build, files: dict) -> pathlib.Path:
    """It names the packages of platforms that lie beside it and no others."""
    pages = {path: file for path, file in files.items() if path.startswith("share/man/")}
    described = json.loads((SOURCE / "package.json").read_text()) | {
        "version": made.version,
        "optionalDependencies": {name: made.version for name in platform_packages(made)},
        "man": [f"./{path}" for path in pages],
    }
    content = {path: file for path, file in files.items() if path != "bin/planwright" and not path.endswith(".service")}
    content["bin/planwright.js"] = ((SOURCE / "planwright.js").read_bytes(), 0o755)
    content["README.md"] = ((SOURCE / "README.md").read_bytes(), 0o644)
    return pack(made, "planwright", described, content)


def platform_packages(made: build.Build) -> list[str]:
    names = []
    for path in sorted(made.out.glob(f"planwright-*-{made.version}.tgz")):
        with tarfile.open(path) as archive:
            names.append(json.load(archive.extractfile("package/package.json"))["name"])
    return names


def pack(made: build.Build, name: str, described: dict, content: dict) -> pathlib.Path:
    folder = made.fresh_stage(f"npm-{name}")
    license_file = {"LICENSE": ((build.ROOT / "LICENSE").read_bytes(), 0o644)}
    description = {"package.json": (json.dumps(described, indent=2).encode() + b"\n", 0o644)}
    build.write_files(folder, content | license_file | description)
    environment = build.node_environment()
    build.run("npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", made.out, folder, env=environment)
    return made.out / f"{name}-{made.version}.tgz"


def platform_readme(platform: build.Platform) -> str:
    return f"# {platform.npm}\n\nThe program of the package `planwright` for {platform.node_os} on {platform.node_cpu}.\n"
