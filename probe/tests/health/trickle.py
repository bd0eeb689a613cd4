#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds connections to an HTTP server and sends a byte of a request on each, now and then, for
ever. One that has been ended is opened again.

usage: trickle.py PORT CONNECTIONS
"""

import socket
import sys
import time

REQUEST = b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 100000


def connect(port):
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setblocking(False)
    return connection


def main():
    port, count = int(sys.argv[1]), int(sys.argv[2])
    connections = [connect(port) for _ in range(count)]
    print("open", flush=True)
    for byte in REQUEST:
        for i, connection in enumerate(connections):
            try:
                connection.send(bytes([byte]))
            except OSError:
                connection.close()
                connections[i] = connect(port)
        time.sleep(0.2)


if __name__ == "__main__":
    main()
