#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the first seeds of the fuzz corpora, from the frames of the end-to-end tests.

usage: make_corpus.py FOLDER     fills FOLDER/decode and FOLDER/path
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../golden"))
sys.argv, folder = [sys.argv[0], os.devnull], sys.argv[1]
import make_captures as captures  # noqa: E402


def write(kind, name, content):
    os.makedirs(os.path.join(folder, kind), exist_ok=True)
    with open(os.path.join(folder, kind, name), "wb") as file:
        file.write(content)


LINKS = {captures.ETHERNET: 0, captures.RAW: 1, captures.SLL: 2, captures.SLL2: 3, captures.NULL: 4}
for link, number in LINKS.items():
    for i in (0, 6):
        write("decode", f"link{number}-{i}", bytes([number, 0]) + captures.frames(link)[i][1])
for i, (_, frame) in enumerate(captures.with_bad_frames()[5:26]):
    write("decode", f"bad-{i}", b"\0\7" + frame)
for name, enclose in captures.TUNNELS.items():
    write("decode", "tunnel-" + name, b"\0\0" + enclose(captures.conversation()[6][1]))
write("decode", "tunnel-outer", b"\x80\0" + captures.TUNNELS["vxlan"](captures.conversation()[6][1]))
TCP = captures.tcp(0, 0x10, 1, 1)
write("decode", "vlan", b"\0\0" + captures.MACS + bytes.fromhex("88a80007810000640800") + captures.ipv4(0, TCP, 1))
IPV6 = bytes.fromhex("60000000") + (len(TCP) + 40).to_bytes(2, "big") + b"\0\x40" + bytes(31) + b"\1" + bytes(31)[:16]
EXTENSIONS = (b"\x3c\0" + bytes(6) + b"\x2b\0" + bytes(6) + b"\x33\0" + bytes(6) + b"\x2c\4" + bytes(22))[:40]
write("decode", "ipv6", b"\1\0" + IPV6[:24] + bytes(15) + b"\2" + EXTENSIONS + b"\6\0\0\1\0\0\0\7" + TCP)


def path(packets):
    return b"".join(bytes([min(len(frame), 255), step]) + frame[:255] for step, frame in packets)


CONVERSATION = [packet for _, packet in captures.conversation()]
write("path", "conversation", path((33, packet) for packet in CONVERSATION))
write("path", "slow", path((0xA3, packet) for packet in CONVERSATION))
write("path", "silent", path((0x80, packet) for packet in CONVERSATION))
write("path", "leaps", path((0xC1 + 32 * (i % 2), packet) for i, packet in enumerate(CONVERSATION * 8)))
write("path", "bulk", path((40, CONVERSATION[6]) for _ in range(600)))
write("path", "syns", path((40, packet[:24] + bytes([i]) + packet[25:])
                           for i, packet in enumerate(CONVERSATION[:1] * 50)))
write("path", "ports", path((90, packet[:20] + bytes([i]) + packet[21:])
                            for i, packet in enumerate(CONVERSATION[2:3] * 50)))
