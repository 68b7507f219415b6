"""The program of the upstream server: connects its own pipes with a pair of named ones in the folder that is its argument. These are
files, so it needs neither a network nor a socket, and runs in the sandbox like any other server."""

import os
import sys
import threading

folder = sys.argv[1]


def claimed():
    """A pair that no other program has."""
    while True:
        for name in sorted(name for name in os.listdir(folder) if name.endswith(".free")):
            pair = name.removesuffix(".free")
            try:
                os.rename(f"{folder}/{name}", f"{folder}/{pair}.taken")
                return pair
            except FileNotFoundError:
                pass


pair = claimed()
with open(f"{folder}/announce", "w") as announce:
    announce.write(f"{pair}\n")
to_server = os.open(f"{folder}/{pair}.in", os.O_WRONLY)
from_server = os.open(f"{folder}/{pair}.out", os.O_RDONLY)


def write(file, data):
    while data:
        data = data[os.write(file, data) :]


def forward():
    while data := os.read(from_server, 65536):
        write(1, data)
    os._exit(0)


threading.Thread(target=forward, daemon=True).start()
while data := os.read(0, 65536):
    write(to_server, data)
