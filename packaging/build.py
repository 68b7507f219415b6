"""What every package is made from: the program, its version and commit, its platform, and the files that go with it."""

import gzip
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Platform:
    """What a platform is called by those who install packages on it."""

    rust: str
    name: str
    debian: str
    wheel: str
    node_os: str
    node_cpu: str
    container: str

    @property
    def npm(self) -> str:
        return f"planwright-{self.node_os}-{self.node_cpu}"


# Only the first was ever built.
PLATFORMS = [
    Platform("x86_64-unknown-linux-gnu", "x86_64-linux", "amd64", "manylinux2014_x86_64.manylinux_2_17_x86_64", "linux", "x64", "amd64"),
    Platform("aarch64-unknown-linux-gnu", "aarch64-linux", "arm64", "manylinux2014_aarch64.manylinux_2_17_aarch64", "linux", "arm64", "arm64"),
]


def platform(rust: str) -> Platform:
    for known in PLATFORMS:
        if known.rust == rust:
            return known
    sys.exit(f"there are no packages for {rust}; known are {', '.join(known.rust for known in PLATFORMS)}")


@dataclass(frozen=True)
class Build:
    program: pathlib.Path
    platform: Platform
    version: str
    # Seconds since 1970 of the commit: the time of every file in every package.
    epoch: int
    # Where tools are installed and packages are put together.
    target: pathlib.Path
    out: pathlib.Path

    @property
    def stage(self) -> pathlib.Path:
        return self.target / "packages-stage"

    def fresh_stage(self, name: str) -> pathlib.Path:
        folder = self.stage / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder


def workspace_version() -> str:
    manifest = (ROOT / "Cargo.toml").read_text()
    return re.search(r'^version = "(.*)"$', manifest, re.MULTILINE).group(1)


def commit_epoch() -> int:
    return int(capture("git", "-C", ROOT, "log", "-1", "--format=%ct"))


def run(*command, **options) -> None:
    """Runs a program. What it prints goes to stderr: the answer of these scripts is the list of packages."""
    done = subprocess.run([str(part) for part in command], stdout=sys.stderr, **options)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed with exit code {done.returncode}")


def capture(*command, **options) -> str:
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed with exit code {done.returncode}")
    return done.stdout.strip()


def python_tool(name: str, version: str) -> pathlib.Path:
    return pathlib.Path(capture(ROOT / "scripts/ensure-python-tool", name, version))


def cargo_tool(name: str, version: str) -> pathlib.Path:
    return pathlib.Path(capture(ROOT / "scripts/ensure-cargo-tool", name, version))


def node_environment() -> dict:
    node = capture(ROOT / "scripts/ensure-node")
    return os.environ | {"PATH": f"{node}:{os.environ['PATH']}"}


def debian_tool(program: str, package: str, why: str) -> None:
    """Installs a package of Debian where its program is missing and that can be done without asking."""
    if shutil.which(program):
        return
    as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    can = shutil.which("apt-get") and (not as_root or subprocess.run([*as_root, "true"], stderr=subprocess.DEVNULL).returncode == 0)
    if can:
        print(f"installing {package} ...", file=sys.stderr)
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        run(*as_root, "apt-get", "update", "-qq", env=environment)
        run(*as_root, "apt-get", "install", "-y", "-qq", "--no-install-recommends", package, env=environment)
    if not shutil.which(program):
        sys.exit(f"{program} is needed for {why}; on Debian:  sudo apt-get install {package}")


def shared_files(program: pathlib.Path, folder: pathlib.Path) -> dict[str, tuple[bytes, int]]:
    """The files below `usr`, `usr/local` or `~/.local` with their modes: the program, what completes it in shells, and its manual."""
    def printed(*arguments) -> bytes:
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PLANWRIGHT_DATA": str(folder / "data")}
        return subprocess.run([str(program), *arguments], stdout=subprocess.PIPE, env=environment, check=True).stdout

    pages = folder / "man"
    printed("man", str(pages))
    files = {
        "bin/planwright": (program.read_bytes(), 0o755),
        "share/bash-completion/completions/planwright": (printed("completions", "bash"), 0o644),
        "share/zsh/site-functions/_planwright": (printed("completions", "zsh"), 0o644),
        "share/fish/vendor_completions.d/planwright.fish": (printed("completions", "fish"), 0o644),
        "share/planwright/planwright.ps1": (printed("completions", "powershell"), 0o644),
        "share/doc/planwright/LICENSE": ((ROOT / "LICENSE").read_bytes(), 0o644),
        "share/doc/planwright/CHANGELOG.md": ((ROOT / "CHANGELOG.md").read_bytes(), 0o644),
        "share/doc/planwright/planwright.service": ((ROOT / "deploy/planwright.service").read_bytes(), 0o644),
    }
    for page in sorted(pages.iterdir()):
        files[f"share/man/man1/{page.name}"] = (page.read_bytes(), 0o644)
    return files


def write_files(folder: pathlib.Path, files: dict[str, tuple[bytes, int]]) -> None:
    for path, (content, mode) in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        target.chmod(mode)


def tar(files: dict[str, tuple[bytes, int]], epoch: int) -> bytes:
    """A tar archive: sorted, of nobody's, and all of one time."""
    folders = {str(parent) for path in files for parent in pathlib.PurePosixPath(path).parents} - {"."}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(folders | set(files)):
            entry = tarfile.TarInfo(path)
            entry.mtime = epoch
            if path in folders:
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(entry)
            else:
                content, entry.mode = files[path]
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def gzipped(content: bytes) -> bytes:
    return gzip.compress(content, compresslevel=9, mtime=0)
