#!/usr/bin/env python3
"""Installs every package into a bare Debian and does there what a person does first: `make test-dist` calls it, after `make dist`.

    scripts/test-dist              all packages; writes docs/packages.md
    scripts/test-dist npm wheel    these alone; writes nothing

A root has nothing but what Debian's essential packages and apt bring: no Rust, and Node or Python only where the package is theirs. What
runs in it has no network. It needs root, for the roots.
"""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from dataclasses import dataclass, field

import build
import container
import report

HOME = "/home/ada"
# What Planwright keeps stays behind, and nothing else.
DATA = (f"{HOME}/.local/share/planwright", "/var/lib/planwright")
# Logs and caches of package managers, and what useradd writes beside its files.
NOT_OURS = ("/var/log/", "/var/lib/dpkg/", "/var/cache/", f"{HOME}/.npm", f"{HOME}/.cache", "/root/", "/packages", "/results", "/run/")
BESIDE = ("/etc/passwd-", "/etc/shadow-", "/etc/group-", "/etc/gshadow-", "/etc/subuid-", "/etc/subgid-")


@dataclass
class Result:
    kind: str
    package: str
    installed_with: str
    version: str = ""
    tools: int = 0
    demonstration: str = ""
    dashboard: str = ""
    removed: str = ""
    problems: list[str] = field(default_factory=list)


class Root:
    """A bare Debian, unpacked."""

    def __init__(self, stage: pathlib.Path, base: pathlib.Path, name: str):
        self.folder = stage / name
        remove(self.folder)
        self.folder.mkdir(parents=True)
        build.run("tar", "-xf", base, "-C", self.folder, "--numeric-owner", "--xattrs")
        for made in ("packages", "results"):
            (self.folder / made).mkdir()
        (self.folder / "results").chmod(0o777)
        shutil.copy(build.ROOT / "packaging/try_package.sh", self.folder / "packages/try_package.sh")

    def take(self, path: pathlib.Path) -> str:
        shutil.copy(path, self.folder / "packages" / path.name)
        return f"/packages/{path.name}"

    def add_person(self) -> None:
        self.run("useradd", "--create-home", "--shell", "/bin/bash", "ada")

    def run(self, *command: str, user: str = "root", environment: dict | None = None) -> subprocess.CompletedProcess:
        home = {"root": "/root", "ada": HOME}.get(user, "/")
        known = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": home, "LANG": "C.UTF-8", "TERM": "xterm"}
        inside = ["env", "-i", *(f"{name}={value}" for name, value in (known | (environment or {})).items())]
        if user != "root":
            inside = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", *inside]
        outside = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--uts", "--ipc"]
        enter = [sys.executable, str(build.ROOT / "packaging/enter.py"), str(self.folder)]
        done = subprocess.run([*outside, *enter, *inside, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            print(done.stdout, file=sys.stderr)
        return done

    def must_run(self, *command: str, **options) -> str:
        done = self.run(*command, **options)
        if done.returncode != 0:
            raise Failed(f"`{' '.join(command)}` ends with exit code {done.returncode}")
        return done.stdout

    def paths(self) -> set[str]:
        found = set()
        for folder, folders, files in os.walk(self.folder):
            inside = "/" + os.path.relpath(folder, self.folder)
            inside = "/" if inside == "/." else inside
            if inside in ("/proc", "/dev", "/sys"):
                folders.clear()
                continue
            # Folders of package managers stay when they are empty.
            named = [name for name in folders if "planwright" in name]
            found.update(os.path.join(inside, name) for name in files + named if not name.endswith(".pyc"))
        return found


class Failed(Exception):
    pass


def remove(folder: pathlib.Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def use(root: Root, result: Result, planwright: list[str], user: str = "ada", environment: dict | None = None) -> None:
    """Goes from nothing to tools, the demonstration and a dashboard, and reads what each answered."""
    root.run("/packages/try_package.sh", "/results", *planwright, user=user, environment=environment)
    answers = root.folder / "results"

    def text(name: str) -> str:
        path = answers / name
        return path.read_text(errors="replace") if path.exists() else ""

    for name in ("version", "tools", "demonstration", "dashboard"):
        status = text(f"{name}.status").strip()
        if status != "ok":
            result.problems.append(f"{name}: {status or 'not reached'}: {text(f'{name}.stderr').strip()[-600:]}")
    result.version = text("version").strip().removeprefix("planwright ")
    if not result.version.startswith(f"{build.workspace_version()} "):
        result.problems.append(f"--version says {result.version}, and Cargo.toml {build.workspace_version()}")
    answered = [json.loads(line) for line in text("tools").splitlines() if line.startswith("{")]
    for answer in answered:
        if answer.get("id") == 1:
            same_version(result, "MCP", answer["result"]["serverInfo"]["version"])
        if answer.get("id") == 2:
            result.tools = len(answer["result"]["tools"])
    if not result.tools:
        result.problems.append("tools/list names no tool")
    result.demonstration = text("demonstration.status").strip()
    result.dashboard = text("dashboard.status").strip()
    about = text("about")
    if "\r\n\r\n" in about:
        body = about.split("\r\n\r\n", 1)[1]
        described = json.loads(body[body.index("{") : body.rindex("}") + 1])
        same_version(result, "/api/server", described["version"])
        for name in ("commit", "commitDate"):
            if (described.get(name) or "") not in result.version:
                result.problems.append(f"/api/server says {name} {described.get(name)}, --version says {result.version}")


def same_version(result: Result, where: str, found: str) -> None:
    if found != result.version.split()[0]:
        result.problems.append(f"{where} says {found}, --version says {result.version}")


def check_removed(root: Root, result: Result, before: set[str]) -> None:
    left = sorted(
        path for path in root.paths() - before
        if not path.startswith(NOT_OURS) and path not in BESIDE and not any(path == data or path.startswith(f"{data}/") or data.startswith(f"{path}/") for data in DATA)
    )
    gone = sorted(path for path in before - root.paths() if not path.startswith(NOT_OURS))
    result.removed = "ok" if not left and not gone else "no"
    if left:
        result.problems.append(f"left behind: {', '.join(left[:20])}")
    if gone:
        result.problems.append(f"removed with it: {', '.join(gone[:20])}")


def try_archive(root: Root, found: dict, result: Result) -> None:
    path = root.take(found["archive"])
    before = root.paths()
    root.must_run("sh", "-c", f"mkdir -p ~/.local && tar -xzf {path} -C ~/.local --strip-components=1", user="ada")
    use(root, result, [f"{HOME}/.local/bin/planwright"])
    listed = f"tar -tzf {path} | grep -v '/$' | cut -d/ -f2-"
    root.must_run("sh", "-c", f"cd ~/.local && {listed} | xargs rm && find . -type d -empty -delete", user="ada")
    check_removed(root, result, before)


def try_debian(root: Root, found: dict, result: Result) -> None:
    path = root.take(found["debian"])
    before = root.paths()
    root.must_run("dpkg", "-i", path)
    packaged = root.must_run("dpkg-query", "-W", "-f", "${Version}", "planwright").strip()
    use(root, result, ["planwright"])
    same_version(result, "dpkg", packaged.removesuffix("-1"))
    check_debian_files(root, result)
    root.must_run("dpkg", "--purge", "planwright")
    check_removed(root, result, before)
    if "planwright" in (root.folder / "etc/passwd").read_text():
        result.problems.append("the user of the service stays, though there is no data of it")


def check_debian_files(root: Root, result: Result) -> None:
    for path in (
        "usr/share/bash-completion/completions/planwright", "usr/share/zsh/vendor-completions/_planwright", "usr/share/man/man1/planwright.1.gz",
        "usr/share/fish/vendor_completions.d/planwright.fish", "usr/lib/systemd/system/planwright.service", "etc/planwright/environment",
    ):
        # Debian's base image of containers leaves the manual out; this root does not.
        if not (root.folder / path).exists():
            result.problems.append(f"the package does not install /{path}")
    if (root.folder / "etc/planwright/environment").stat().st_mode & 0o077:
        result.problems.append("others than root can read /etc/planwright/environment")
    if "planwright" not in (root.folder / "etc/passwd").read_text():
        result.problems.append("the package makes no user")


def try_wheel(root: Root, found: dict, result: Result) -> None:
    path, uv = root.take(found["wheel"]), root.take(found["uv"])
    root.must_run("sh", "-c", "python3 -m venv ~/venv", user="ada")
    before = root.paths()
    root.must_run("sh", "-c", f"~/venv/bin/pip install --no-index {path}", user="ada")
    packaged = root.must_run(f"{HOME}/venv/bin/pip", "show", "planwright-runtime", user="ada")
    use(root, result, [f"{HOME}/venv/bin/planwright"])
    same_version(result, "pip", next(line.split()[1] for line in packaged.splitlines() if line.startswith("Version:")))
    root.must_run("sh", "-c", "~/venv/bin/pip uninstall --yes planwright-runtime", user="ada")
    # pip leaves the folders of what it removes.
    root.must_run("sh", "-c", "find ~/venv/share -type d -empty -delete || true", user="ada")
    check_removed(root, result, before)
    once = f"python3 -m venv /tmp/uv && /tmp/uv/bin/pip install --quiet --no-index {uv} && /tmp/uv/bin/uvx --offline --from {path} planwright --version"
    said = root.must_run("sh", "-c", once, user="ada").strip().splitlines()[-1]
    if said != f"planwright {result.version}":
        result.problems.append(f"uvx says {said}")


def try_npm(root: Root, found: dict, result: Result) -> None:
    platform, main = root.take(found["npm-platform"]), root.take(found["npm"])
    before = root.paths()
    root.must_run("npm", "install", "--global", "--offline", "--no-audit", "--no-fund", platform, main)
    listed = json.loads(root.must_run("npm", "ls", "--global", "--json"))
    use(root, result, ["planwright"])
    same_version(result, "npm", listed["dependencies"]["planwright"]["version"])
    root.must_run("npm", "uninstall", "--global", "planwright", platform.split("/")[-1].rsplit("-", 1)[0])
    check_removed(root, result, before)


def try_mcpb(root: Root, found: dict, result: Result) -> None:
    before = root.paths()
    extension = root.folder / HOME.lstrip("/") / "extension"
    with zipfile.ZipFile(found["mcpb"]) as bundle:
        manifest = json.loads(bundle.read("manifest.json"))
        for entry in bundle.infolist():
            bundle.extract(entry, extension)
            (extension / entry.filename).chmod(entry.external_attr >> 16 & 0o777)
    config = manifest["server"]["mcp_config"]
    command = [part.replace("${__dirname}", f"{HOME}/extension") for part in [config["command"], *config["args"]]]
    if command[1:] != ["mcp"]:
        result.problems.append(f"the bundle starts {command}")
    use(root, result, command[:1])
    same_version(result, "manifest.json", manifest["version"])
    registry = json.loads(found["registry"].read_text())
    same_version(result, "server.json", registry["version"])
    if registry["packages"][0]["fileSha256"] != hashlib.sha256(found["mcpb"].read_bytes()).hexdigest():
        result.problems.append("server.json has the checksum of another bundle")
    shutil.rmtree(extension)
    check_removed(root, result, before)


def try_container(stage: pathlib.Path, found: dict, result: Result) -> None:
    """The image is unpacked as a runtime of containers does, and started with its own configuration."""
    layout = stage / "layout"
    remove(layout)
    with tarfile.open(found["container"]) as archive:
        archive.extractall(layout, filter="data")

    def blob(described: dict) -> pathlib.Path:
        return layout / "blobs" / described["digest"].replace(":", "/")

    manifest = json.loads(blob(json.loads((layout / "index.json").read_text())["manifests"][0]).read_text())
    described = json.loads(blob(manifest["config"]).read_text())
    config = described["config"]
    bases = [blob(layer) for layer in manifest["layers"]]
    root = Root(stage, bases[0], "container")
    for layer in bases[1:]:
        build.run("tar", "-xf", layer, "-C", root.folder, "--numeric-owner")
    environment = dict(pair.split("=", 1) for pair in config["Env"])
    serve = " ".join(config["Cmd"])
    root.must_run("git", "--version", user=config["User"], environment=environment)
    use(root, result, config["Entrypoint"], config["User"], environment | {"SERVE": serve, "PLANWRIGHT_TOKEN": "0123456789abcdef0123"})
    same_version(result, "the image's label", config["Labels"]["org.opencontainers.image.version"])
    result.removed = "the image is the installation"


TRIES = {
    "archive": ("bare", try_archive, "`tar -xzf FILE -C ~/.local --strip-components=1`"),
    "debian": ("bare", try_debian, "`dpkg -i FILE`"),
    "wheel": ("python", try_wheel, "`pip install --no-index FILE`; also `uvx --offline --from FILE planwright`"),
    "npm": ("node", try_npm, "`npm install --global --offline FILE FILE`"),
    "mcpb": ("bare", try_mcpb, "unpacked, the command of `manifest.json`"),
    "container": (None, try_container, "unpacked, its entrypoint and command as its user"),
}
BASES = {"bare": "", "python": "python3-venv,python3-pip", "node": "nodejs,npm"}


def packages(folder: pathlib.Path) -> dict[str, pathlib.Path]:
    version = build.workspace_version()
    patterns = {
        "archive": f"planwright-{version}-*.tar.gz",
        "debian": "planwright_*.deb",
        "wheel": "planwright_runtime-*.whl",
        "npm": f"planwright-{version}.tgz",
        "npm-platform": f"planwright-*-{version}.tgz",
        "mcpb": "*.mcpb",
        "registry": "server.json",
        "container": "*.oci.tar",
    }
    return {kind: one for kind, pattern in patterns.items() for one in [next(iter(sorted(folder.glob(pattern))), None)] if one}


def base(stage: pathlib.Path, name: str) -> pathlib.Path:
    path = stage / f"{name}.tar"
    if not path.exists():
        print(f"making a bare Debian: {name} ...", file=sys.stderr)
        include = [f"--include={BASES[name]}"] if BASES[name] else []
        build.run("mmdebstrap", "--quiet", "--variant=minbase", *include, container.SUITE, f"{path}.part.tar")
        os.rename(f"{path}.part.tar", path)
    return path


def uv_wheel(stage: pathlib.Path) -> pathlib.Path:
    wheels = stage / "uv"
    if not list(wheels.glob("uv-*.whl")):
        build.run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", wheels, "uv==0.8.22")
    return next(wheels.glob("uv-*.whl"))


def attempt(stage: pathlib.Path, kind: str, found: dict) -> Result:
    name, act, how = TRIES[kind]
    result = Result(kind, found[kind].name, how)
    began = time.monotonic()
    try:
        if name is None:
            act(stage, found, result)
        else:
            if kind == "wheel":
                found = found | {"uv": uv_wheel(stage)}
            root = Root(stage, base(stage, name), kind)
            root.add_person()
            act(root, found, result)
    except Failed as failed:
        result.problems.append(str(failed))
    if not result.problems:
        remove(stage / kind)
    print(f"{kind}: {'; '.join(result.problems) or 'ok'} ({time.monotonic() - began:.0f} s)", file=sys.stderr)
    return result


def main() -> None:
    if os.geteuid() != 0:
        sys.exit("scripts/test-dist makes root folders of other systems, so it has to be root:  sudo -E make test-dist")
    build.debian_tool("mmdebstrap", "mmdebstrap", "the bare roots of test-dist")
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", build.ROOT / "target")).resolve()
    stage = target / "test-dist"
    stage.mkdir(parents=True, exist_ok=True)
    found = packages(target / "packages")
    wanted = sys.argv[1:] or list(TRIES)
    missing = [kind for kind in wanted if kind not in found]
    if missing:
        sys.exit(f"{target / 'packages'} has no {', '.join(missing)}; `make dist` makes them")
    results = [attempt(stage, kind, found) for kind in wanted]
    versions = {result.version for result in results}
    problems = [problem for result in results for problem in result.problems]
    if len(versions) != 1:
        problems.append(f"the packages are of several versions: {', '.join(sorted(versions))}")
    if problems:
        sys.exit("\n".join(problems))
    if not sys.argv[1:]:
        report.write(results, target / "packages")


if __name__ == "__main__":
    main()
