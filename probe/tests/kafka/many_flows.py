#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a capture of many flows: the conversation of the end-to-end tests, N times, 2 ms apart.

usage: many_flows.py N > CAPTURE
"""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../golden"))
import make_captures as captures  # noqa: E402

packets = []
for flow in range(int(sys.argv[1])):
    port = struct.pack(">H", 10000 + flow)
    for at, packet in captures.conversation():
        side = 20 if packet[12:16] == captures.LOW else 22
        packets.append((at + flow * 2_000_000, packet[:side] + port + packet[side + 2:]))
packets.sort(key=lambda packet: packet[0])
sys.stdout.buffer.write(captures.pcap(captures.ETHERNET, captures.frames(packets=packets), snap=90))
