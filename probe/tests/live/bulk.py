#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real TCP: a server that throws away what it gets, or clients that send to it at a rate for some time.

usage: bulk.py serve PORT
       bulk.py send ADDRESS PORT CONNECTIONS MEGABITS_PER_SECOND SECONDS
"""
import socket
import sys
import threading
import time

SO_MAX_PACING_RATE = 47  # bytes a second; Python has no name for it


def swallow(connection):
    room = bytearray(1 << 20)
    while connection.recv_into(room):
        pass
    connection.close()


def serve(port):
    with socket.create_server(("", port)) as listener:
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=swallow, args=(connection,), daemon=True).start()


def send(address, port, bytes_per_second, seconds):
    data = memoryview(bytes(1 << 16))
    end = time.monotonic() + seconds
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, bytes_per_second)
        connection.connect((address, port))
        while time.monotonic() < end:
            connection.send(data)


if sys.argv[1] == "serve":
    serve(int(sys.argv[2]))
else:
    count, rate, duration = int(sys.argv[4]), float(sys.argv[5]) * 1e6 / 8, float(sys.argv[6])
    threads = [
        threading.Thread(target=send, args=(sys.argv[2], int(sys.argv[3]), int(rate / count), duration)) for _ in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
