"""The OCI image archive: a Debian made by mmdebstrap with git and a shell, and the program in it. No daemon is needed."""

import json
import os
import pathlib

import build

SUITE = "bookworm"
PACKAGES = "ca-certificates,git,passwd,tzdata"
# What Planwright's own user is in the image, also in deploy/Containerfile.
USER_ID = 10717
DATA = "/var/lib/planwright"


def make(made: build.Build) -> list[pathlib.Path]:
    why = "the container image"
    build.debian_tool("mmdebstrap", "mmdebstrap", why)
    build.debian_tool("buildah", "buildah", why)
    folder = made.fresh_stage("container")
    base = folder / "base.tar"
    make_base(base, made.epoch)
    build.write_files(folder / "local", build.shared_files(made.program, made.fresh_stage("container-files")))
    path = made.out / f"planwright-{made.version}-{made.platform.name}.oci.tar"
    path.write_bytes(pack_layout(assemble(made, folder, base), made.epoch))
    return [path]


def make_base(base: pathlib.Path, epoch: int) -> None:
    add_user = f'chroot "$1" useradd --system --uid {USER_ID} --home-dir {DATA} --shell /usr/sbin/nologin planwright'
    add_data = f'chroot "$1" install --directory --owner=planwright --group=planwright --mode=0700 {DATA}'
    build.run(
        "mmdebstrap", "--quiet", "--variant=essential", f"--include={PACKAGES}",
        "--dpkgopt=path-exclude=/usr/share/man/*", "--dpkgopt=path-exclude=/usr/share/locale/*",
        "--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-include=/usr/share/doc/*/copyright",
        f"--customize-hook={add_user}", f"--customize-hook={add_data}",
        SUITE, base, env=os.environ | {"SOURCE_DATE_EPOCH": str(epoch)},
    )


def assemble(made: build.Build, folder: pathlib.Path, base: pathlib.Path) -> pathlib.Path:
    """The layout of the image as a folder, put together by buildah in a store of its own."""
    store = ["--root", folder / "store", "--runroot", folder / "run", "--storage-driver", "vfs"]
    layout = folder / "layout"

    def buildah(command, *arguments) -> None:
        build.run("buildah", *store, command, *arguments)

    buildah("from", "--name", "planwright", "--arch", made.platform.container, "scratch")
    buildah("add", "planwright", base, "/")
    buildah("copy", "--chown", "0:0", "planwright", folder / "local", "/usr/local")
    buildah(
        "config", "--user", "planwright", "--workingdir", DATA, "--volume", DATA, "--port", "7717", "--stop-signal", "SIGTERM",
        "--env", f"PLANWRIGHT_DATA={DATA}", "--env", "PLANWRIGHT_SERVER_LISTEN=0.0.0.0:7717",
        "--env", "PLANWRIGHT_SERVER_LOG_FORMAT=json", "--env", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "--entrypoint", json.dumps(["planwright"]), "--cmd", "serve",
        "--label", f"org.opencontainers.image.version={made.version}", "--label", "org.opencontainers.image.licenses=Apache-2.0",
        "planwright",
    )
    buildah("commit", "--quiet", "--format", "oci", "--disable-compression=false", "--omit-history", "--timestamp", made.epoch, "planwright", f"oci:{layout}:{made.version}")
    buildah("rm", "planwright")
    return layout


def pack_layout(layout: pathlib.Path, epoch: int) -> bytes:
    files = {str(path.relative_to(layout)): (path.read_bytes(), 0o644) for path in layout.rglob("*") if path.is_file()}
    return build.tar(files, epoch)
