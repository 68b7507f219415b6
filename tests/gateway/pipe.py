"""The program of the upstream server: connects its own pipes with the socket that is its argument."""

import os
import socket
import sys
import threading

connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])


def forward():
    while data := connection.recv(65536):
        os.write(1, data)
    os._exit(0)


threading.Thread(target=forward, daemon=True).start()
while data := os.read(0, 65536):
    connection.sendall(data)
connection.shutdown(socket.SHUT_WR)
