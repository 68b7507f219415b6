#!/usr/bin/env python3
"""Runs a command in another root folder: with processes of its own, terminals of its own, and no network but its own loopback.

    unshare --net --mount --pid --fork --uts --ipc enter.py ROOT COMMAND...
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys

SIOCSIFFLAGS, UP_AND_RUNNING = 0x8914, 0x41


def main() -> None:
    root, command = sys.argv[1], sys.argv[2:]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", UP_AND_RUNNING))
    mount("--make-rprivate", "/")
    mount("-t", "proc", "proc", f"{root}/proc")
    mount("--bind", "/dev", f"{root}/dev")
    mount("-t", "devpts", "-o", "newinstance,ptmxmode=0666,mode=0620", "devpts", f"{root}/dev/pts")
    mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", f"{root}/dev/shm")
    os.chroot(root)
    os.chdir("/")
    os.execvp(command[0], command)


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


if __name__ == "__main__":
    main()
