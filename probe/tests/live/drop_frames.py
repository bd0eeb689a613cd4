#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes an interface whose kernel drops frames, as one does whose ring has overflowed: a tun device takes packets of
IP alone, and counts the others as dropped.

usage: drop_frames.py INTERFACE        each number that comes on standard input is that many dropped frames, answered by "dropped"
"""
import fcntl
import os
import struct
import subprocess
import sys

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000

tun = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", sys.argv[1].encode(), IFF_TUN | IFF_NO_PI))
subprocess.run(["ip", "link", "set", sys.argv[1], "up"], check=True)
print("up", flush=True)
for line in sys.stdin:
    for _ in range(int(line)):
        try:
            os.write(tun, bytes(40))
        except OSError:
            pass  # how it says so
    print("dropped", flush=True)
