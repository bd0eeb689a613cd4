#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the captures of the end-to-end tests into a folder: one small conversation in every file
format, link layer and state of decay that the probe must cope with.

usage: make_captures.py FOLDER
"""
import gzip
import os
import struct
import sys

START_NS = 1700000000 * 10**9 + 123456789
LOW, HIGH = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
MACS = bytes([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1])
ETHERNET, RAW, NULL, LOOP, SLL, IPV4, SLL2, PPP = 1, 101, 0, 108, 113, 228, 276, 9
SYN_OPTIONS = bytes.fromhex("020405b40402080a000000010000000001030307")


def tcp(direction, flags, seq, ack, payload=b"", options=b"", window=502):
    ports = (40000, 443) if direction == 0 else (443, 40000)
    offset = (20 + len(options)) // 4 << 4
    return struct.pack(">HHIIBBHHH", *ports, seq, ack, offset, flags, window, 0, 0) + options + payload


def ipv4(direction, segment, ident, protocol=6, fragment=0x4000):
    source, destination = (LOW, HIGH) if direction == 0 else (HIGH, LOW)
    return struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(segment), ident, fragment, 64, protocol,
                       0) + source + destination + segment


def conversation():
    """(time offset in ns, IP packet): handshake, request, answer with a lost segment, both FINs."""
    big = b"x" * 1448
    packets = [
        (0, 0, tcp(0, 0x02, 999, 0, options=SYN_OPTIONS, window=64240)),
        (10_000_000, 1, tcp(1, 0x12, 4294966999, 1000, options=SYN_OPTIONS, window=65160)),
        (10_100_000, 0, tcp(0, 0x10, 1000, 4294967000)),
        (10_200_000, 0, tcp(0, 0x18, 1000, 4294967000, b"GET / HTTP/1.0\r\n\r\n")),
        (20_300_000, 1, tcp(1, 0x10, 4294967000, 1018, big)),
        (20_400_000, 1, tcp(1, 0x10, (4294967000 + 2 * 1448) % 2**32, 1018, big)),
        (20_450_000, 0, tcp(0, 0x10, 1018, (4294967000 + 1448) % 2**32, options=b"\1\1\5\n" + struct.pack(
            ">II", (4294967000 + 2 * 1448) % 2**32, (4294967000 + 3 * 1448) % 2**32))),
        (230_000_000, 1, tcp(1, 0x10, (4294967000 + 1448) % 2**32, 1018, big)),
        (999_999_999, 1, tcp(1, 0x11, (4294967000 + 3 * 1448) % 2**32, 1018)),
        (1_000_000_000, 0, tcp(0, 0x11, 1018, (4294967001 + 3 * 1448) % 2**32)),
        (1_010_000_000, 1, tcp(1, 0x10, (4294967001 + 3 * 1448) % 2**32, 1019)),
    ]
    return [(at, ipv4(direction, segment, 100 + i)) for i, (at, direction, segment) in enumerate(packets)]


LINK_HEADER = {
    ETHERNET: MACS + b"\x08\x00",
    RAW: b"", IPV4: b"",
    NULL: struct.pack("<I", 2), LOOP: struct.pack(">I", 2),
    SLL: bytes.fromhex("0000000100060200000000010000") + b"\x08\x00",
    SLL2: b"\x08\x00" + bytes.fromhex("000000000003000100060200000000010000"),
    PPP: b"\xff\x03\x00\x21",
}


# What a tap may see around a packet of IPv4; the id of the tunnel is 5, where there is one.
TYPE_IPV4 = b"\x08\x00"
LABELS = bytes.fromhex("884703e8104005dc5140")
ERSPAN_3 = bytes.fromhex("100022eb000000012007000512345678000000030c00000000000000")


def outer(protocol, inner):
    return MACS + TYPE_IPV4 + ipv4(0, inner, 1, protocol)


def udp(port, inner):
    return outer(17, struct.pack(">HHHH", 50000, port, 8 + len(inner), 0) + inner)


TUNNELS = {
    "mpls": lambda packet: MACS + LABELS + packet,
    "pseudo-wire": lambda packet: MACS + LABELS + bytes(4) + MACS + TYPE_IPV4 + packet,
    "pppoe": lambda packet: MACS + struct.pack(">HHHHH", 0x8864, 0x1100, 7, 2 + len(packet), 0x21) + packet,
    "gre": lambda packet: outer(47, bytes(2) + TYPE_IPV4 + packet),
    "gre-all": lambda packet: outer(47, b"\xb0\0" + TYPE_IPV4 + struct.pack(">HHII", 1, 0, 5, 1) + packet),
    "gre-bridged": lambda packet: outer(47, struct.pack(">HHI", 0x2000, 0x6558, 5) + MACS + TYPE_IPV4 + packet),
    "erspan-1": lambda packet: outer(47, b"\0\0\x88\xbe" + MACS + TYPE_IPV4 + packet),
    "erspan-2": lambda packet: outer(47, struct.pack(">HHIHHI", 0x1000, 0x88BE, 1, 0x1007, 5, 0) + MACS + TYPE_IPV4 + packet),
    "erspan-3": lambda packet: outer(47, ERSPAN_3 + MACS + TYPE_IPV4 + packet),
    "vxlan": lambda packet: udp(4789, struct.pack(">II", 8 << 24, 5 << 8) + MACS + TYPE_IPV4 + packet),
    "vxlan-gpe": lambda packet: udp(4790, struct.pack(">II", 12 << 24 | 1, 5 << 8) + packet),
    "geneve": lambda packet: udp(6081, struct.pack(">HHIII", 0x200, 0x0800, 5 << 8, 0xFF000101, 0) + packet),
    "gtp-u": lambda packet: udp(2152, struct.pack(">BBHIII", 0x34, 255, len(packet) + 8, 5, 0x85, 0x01000000) + packet),
    "4in4": lambda packet: outer(4, packet),
    "4in6": lambda packet: MACS + struct.pack(">HIHBB", 0x86DD, 6 << 28, len(packet), 4, 64) + bytes(32) + packet,
}


def mirrored():
    """The conversation as a switch with a clock of its own sent it in ERSPAN III, each frame after its wait in ms in a
    queue. Before it two frames on ports of their own, a second apart, that have not waited and prove the clock, which wraps
    5 ms after START_NS."""
    other = ipv4(0, struct.pack(">HH", 7, 7) + tcp(0, 0x10, 1, 1)[4:], 1)
    waits = [0, 3, 0, 4, 0, 3, 0, 2, 7, 1, 45, 5, 0.5, 3]
    packets = [(-1_200_000_000, other), (-1_150_000_000, other), (-100_000_000, other)] + conversation()
    arrival_ns, out = 0, []
    for (at, packet), wait in zip(packets, waits):
        ticks = (at - 5_000_000) // 100 % 2**32
        header = ERSPAN_3[:12] + struct.pack(">I", ticks) + ERSPAN_3[16:]
        arrival_ns = max(arrival_ns + 1000, START_NS + at + int(wait * 1e6))
        out.append((arrival_ns, outer(47, header + MACS + TYPE_IPV4 + packet)))
    return out


def frames(link=ETHERNET, packets=None):
    return [(START_NS + at, LINK_HEADER[link] + packet) for at, packet in packets or conversation()]


def pcap(link, packets, order="<", nanoseconds=True, snap=262144):
    magic, divisor = (0xA1B23C4D, 1) if nanoseconds else (0xA1B2C3D4, 1000)
    out = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snap, link)
    for time_ns, frame in packets:
        seconds, rest = divmod(time_ns, 10**9)
        out += struct.pack(order + "IIII", seconds, rest // divisor, min(len(frame), snap), len(frame))
        out += frame[:snap]
    return out


def block(kind, body, order):
    body += b"\0" * (-len(body) % 4)
    length = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + length + body + length


def pcapng(link, packets, exponent, order="<", options=True):
    """exponent: of 10, negative; 128 + n: of 2."""
    ticks = 2 ** (exponent - 128) if exponent >= 128 else 10**exponent
    resolution = struct.pack(order + "HHB3xHH", 9, 1, exponent, 0, 0) if options else b""
    comment = struct.pack(order + "HH", 1, 5) + b"hello\0\0\0" + struct.pack(order + "HH", 0, 0)
    out = block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1) + comment, order)
    out += block(1, struct.pack(order + "HHI", link, 0, 0) + resolution, order)
    for time_ns, frame in packets:
        stamp = time_ns * ticks // 10**9
        out += block(6, struct.pack(order + "IIIII", 0, stamp >> 32, stamp & 0xFFFFFFFF, len(frame),
                                    len(frame)) + frame, order)
    return out


def with_bad_frames():
    """The conversation with frames of every other fate among it: one more of each in this order."""
    good = frames()
    after = good[4][0]
    raw = MACS + b"\x08\x00"
    fates = [
        MACS + b"\x08\x06" + b"\0" * 28,                            # not IP
        raw + ipv4(0, b"\0" * 8, 1, protocol=17),                   # not TCP
        raw + ipv4(0, b"\0" * 40, 1, fragment=0x2001),              # a later fragment
        raw + ipv4(0, tcp(0, 0x10, 1, 1), 1)[:30],                  # truncated: see below
        raw + b"\x41" + ipv4(0, tcp(0, 0x10, 1, 1), 1)[1:],         # header length 4
        raw + ipv4(0, tcp(0, 0x10, 1, 1)[:12] + b"\xf0" + tcp(0, 0x10, 1, 1)[13:], 1),
        outer(47, b"\x20\0" + TYPE_IPV4),                           # a GRE key beyond the packet
        MACS + LABELS[:2] + LABELS[2:6] * 17,                       # labels without end
    ]
    bad = [(after, frame) for number, frame in enumerate(fates) for _ in range(number + 1)]
    # Two on ports of their own, else decodable, stamped in 2106: they are seen, and move nobody's time.
    late = MACS + b"\x08\x00" + ipv4(0, struct.pack(">HH", 7, 7) + tcp(0, 0x10, 1, 1)[4:], 1)
    stamped = [(4294967295 * 10**9, late)] * 2
    return good[:5] + bad + stamped + good[5:]


def snapped(packets, snap):
    return pcap(ETHERNET, packets, snap=snap)


def write(folder, name, content):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(content)


def main():
    folder = sys.argv[1]
    good = frames()
    whole = pcap(ETHERNET, good)
    for name, content in {
            "ethernet.pcap": whole,
            "big-endian.pcap": pcap(ETHERNET, good, ">"),
            "us.pcap": pcap(ETHERNET, good, nanoseconds=False),
            "us-big-endian.pcap": pcap(ETHERNET, good, ">", nanoseconds=False),
            "ns.pcapng": pcapng(ETHERNET, good, 9),
            "ns-big-endian.pcapng": pcapng(ETHERNET, good, 9, ">"),
            "us.pcapng": pcapng(ETHERNET, good, 6),
            "default.pcapng": pcapng(ETHERNET, good, 6, options=False),
            "ms.pcapng": pcapng(ETHERNET, good, 3),
            "power-of-2.pcapng": pcapng(ETHERNET, good, 128 + 30),
            "raw.pcap": pcap(RAW, frames(RAW)),
            "ipv4.pcap": pcap(IPV4, frames(IPV4)),
            "null.pcap": pcap(NULL, frames(NULL)),
            "loop.pcap": pcap(LOOP, frames(LOOP)),
            "sll.pcap": pcap(SLL, frames(SLL)),
            "sll2.pcap": pcap(SLL2, frames(SLL2)),
            "snapped.pcap": snapped(good, 86),
            "ppp.pcap": pcap(PPP, frames(PPP)),
            "bad-frames.pcap": pcap(ETHERNET, with_bad_frames()),
            "mirrored.pcap": pcap(ETHERNET, mirrored()),
            "no-frames.pcap": pcap(ETHERNET, []),
            "empty.pcap": b"",
            "text.pcap": b"This is no capture.\n",
            "three-bytes.pcap": whole[:3],
            "half-header.pcap": whole[:17],
            "cut-off.pcap": whole[:-10],
            "nonsense-inside.pcap": whole[:24 + 2 * (16 + 74)] + b"\xff" * 64,
            "cut-off.pcapng": pcapng(ETHERNET, good, 9)[:-30],
            "year-2300.pcapng": pcapng(ETHERNET, [(time + 330 * 31556952 * 10**9, frame) for time, frame in good], 6),
            "first.pcap": pcap(ETHERNET, good[:5]),
            "second.pcap": pcap(ETHERNET, good[5:]),
            "whole.pcap.gz": gzip.compress(whole, mtime=0),
            "whole.pcap.zst": b"\x28\xb5\x2f\xfd rest",
    }.items():
        write(folder, name, content)
    for name, enclose in TUNNELS.items():
        enclosed = [(START_NS + at, enclose(packet)) for at, packet in conversation()]
        write(folder, f"tunnel-{name}.pcap", pcap(ETHERNET, enclosed))


if __name__ == "__main__":
    main()
