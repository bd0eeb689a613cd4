#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the first seeds of the fuzz corpora, from the frames of the end-to-end tests.

usage: make_corpus.py FOLDER     fills a folder of each target there
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../golden"))
sys.argv, folder = [sys.argv[0], os.devnull], sys.argv[1]
import broken_captures  # noqa: E402
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

write("tcp_options", "syn", b"\5\0" + captures.SYN_OPTIONS)
write("tcp_options", "cut", b"\5\3" + captures.SYN_OPTIONS)
write("tcp_options", "sack", b"\x0a\0\1\1\5\x22" + bytes(range(32)) + b"\0\0")
write("tcp_options", "sack-timestamps", b"\x0a\0\1\1\x08\x0a" + bytes(8) + b"\1\1\5\x1a" + bytes(range(24)))
write("tcp_options", "bad", b"\2\0\2\3\0\0\1\3\1\0")

GOOD = captures.frames()
CAPTURES = {
    "pcap": captures.pcap(captures.ETHERNET, GOOD),
    "us-big-endian": captures.pcap(captures.ETHERNET, GOOD, ">", nanoseconds=False),
    "pcapng": captures.pcapng(captures.ETHERNET, GOOD, 9),
    "pcapng-big-endian": captures.pcapng(captures.ETHERNET, GOOD, 128 + 30, ">"),
    **{name: case[0] for name, case in broken_captures.CASES.items()},
}
for link in LINKS:
    CAPTURES[f"link-{link}"] = captures.pcap(link, captures.frames(link)[:4])
for name, content in CAPTURES.items():
    write("capture", name, b"\0\0\0" + content[:6000 if name == "section-of-long-comment" else 2000])
write("capture", "filter", b"\1\0\0" + CAPTURES["pcap"][:1000])
for name in ("pcap", "pcapng"):
    part = CAPTURES[name][:600]
    write("capture", "two-" + name, b"\2" + len(part).to_bytes(2, "big") + part + CAPTURES["pcapng"][:600])

for name, arguments in {
        "files": ["a.pcap", "--", "--tap", "-"],
        "numbers": ["--partitions", "4", "--hash-seed=0xffffffffffffffff", "--batch-bytes", "1 KiB", "--batch-delay=250ms", "-"],
        "limits": ["--max-flows", "4000000000", "--run-memory=64GiB", "--idle-timeout", "60min", "x"],
        "beyond": ["--batch-bytes=18446744073709551615GiB"],
        "list": ["--port", "net_pcap0"] * 17,
        "list-long": ["--kafka-option=a=b"] * 40,
        "choice": ["--tunnels=outer", "--no-seccomp", "--help"],
        "value-missing": ["x", "--tap"],
        "flag-with-value": ["--help=yes"],
        "unknown": ["--frobnicate", "-x"],
        "texts": ["--output=x", "--kafka", "h:1", "--filter=tcp", "--metrics", "127.0.0.1:1"],
}.items():
    write("options", name, b"".join(argument.encode() + b"\0" for argument in arguments))

write("options", "config", b"a.pcap\0--tap\0x\0\0# by hand\ntap = y\nno-seccomp = yes\npartitions=4\nkafka-option = a=b\n")
write("options", "config-wrong", b"-\0\0batch-bytes = 1KiB\nbatch-bytes = 2KiB\n")

write("settings", "good", b"# of the broker\n! too\n\n a.b_c = d e \r\nname=\n")
write("settings", "unknown", b"a=b\nunknown=c\n")
write("settings", "refused", b"a=refused")
write("settings", "no-name", b"=a\n")
write("settings", "zero", b"a=b\0c\n\0\n")

# Steps of fuzz_round_trip: a packet is flow and direction, what differs, and that.
HANDSHAKE = b"\x10\x10\2\x18\x10\x12\x10\x10\x10"
DATA = b"\x50\3\x21" + (1448).to_bytes(4, "big") + b"\x58\x0a\0\0\5\xa8\x10"
OPTIONS = b"\0\x40\x1f" + bytes(8) + b"\5\xb4\7\3" + bytes(range(32))
SECONDS, EDGES, BACK = b"\0\1\x9f", b"\0\1\xc1\0\1\xc0\0\1\xc1", b"\0\1\x68\0\1\xb0\0\1\xa2"
for name, steps in {
        "conversation": HANDSHAKE + DATA * 5 + b"\0\x10\x11\x08\x10\x11" + SECONDS,
        "cut-at-256": b"\x80\xff\x81\xff\x91\x80",
        "many-flows": HANDSHAKE + b"\xa0\xff\xb0\xff",
        "options": OPTIONS + b"\x80\x10" + OPTIONS.replace(b"\x1f", b"\x11", 1),
        "time": DATA + EDGES + DATA + BACK + DATA + SECONDS + b"\xc4\x9f\xc4\x9f\0\0" + EDGES,
        "silence": DATA + b"\xc1" + DATA + b"\xc2\xc1",
        "wrap": b"\0\x82\xff\xff\xff\xff\xff\xff\xff\xf0\x10\4\x7f\x10\4\x7f\x18\x88\0\0\0\0\xff\xff\xff\xff",
        "reset": HANDSHAKE + b"\0\x10\4" + SECONDS + HANDSHAKE,
}.items():
    for settings in (0x01, 0x06, 0xd8, 0xe2):
        write("round_trip", f"{name}-{settings:02x}", bytes([settings]) + steps)
