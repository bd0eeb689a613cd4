#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What must never leave the probe: payloads, and all else that frames carry beside the fields that
schemas/README.md names.

Captures are filled with random canaries wherever there is room for bytes that are nobody's
business. No batch stream may hold one, as bytes or as a number. And two captures that differ in
their canaries alone must give the same bytes, so that no encoding could hide a single bit of them.

usage: check_privacy.py PROBE
"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

import make_captures as made
import read_batches

WINDOW_BYTES = 5  # of a canary; less would be found by chance
KEY = bytes(range(32))
OPTIONS = {"plain": [], "outer": ["--tunnels", "outer"], "anonymised": ["--anonymise", "KEY"]}
IPV6 = [bytes.fromhex("20010db8") + bytes(11) + bytes([last]) for last in (1, 2)]
ADDRESSES = [made.LOW, made.HIGH, *IPV6]


class Canaries:
    """Random bytes that remember themselves."""

    def __init__(self, seed):
        self.random, self.all = random.Random(seed), []

    def bytes(self, count):
        canary = self.random.randbytes(count)
        self.all.append(canary)
        return canary


def option(kind, content):
    return bytes([kind, 2 + len(content)]) + content


def padded(options, with_what=b"\0"):
    return options + with_what * (-len(options) % 4)


def segments(canaries):
    """(time offset, direction, TCP segment): all kinds that may carry more than a header."""
    canary = canaries.bytes
    fast_open = padded(bytes.fromhex("020405b40402") + option(34, canary(16)), b"\1")
    after_end = b"\1\0" + canary(10)
    too_long = b"\x08\x2a" + canary(10)   # timestamps of 42 bytes
    no_length = b"\x03\0" + canary(10)    # a window scale of 0 bytes
    wrong_size = option(5, canary(11)) + b"\1\1\1"  # SACK blocks of 11 bytes
    experiment = padded(option(254, canary(16)) + option(30, canary(12)), b"\1")
    timestamps = b"\1\1\x08\x0a" + struct.pack(">II", 1, 2)
    rows = [
        (0, 0x02, 999, fast_open, canary(16)),
        (1, 0x12, 4999, made.SYN_OPTIONS, canary(16)),
        (0, 0x10, 1016, timestamps, canary(1448)),
        (1, 0x18, 5016, experiment, canary(16)),
        (0, 0x30, 2464, after_end, canary(16)),  # urgent
        (1, 0x10, 5032, too_long, canary(16)),
        (0, 0x10, 2480, no_length, canary(16)),
        (1, 0x10, 5048, wrong_size, canary(16)),
        (0, 0x11, 2496, b"", canary(16)),
        (1, 0x14, 5064, b"", canary(16)),  # a reset that says why: RFC 9293 §3.5.2
    ]
    for i, (direction, flags, seq, options, payload) in enumerate(rows):
        ack = 5000 if direction == 0 else 1000
        yield 1_000_000 * i, direction, made.tcp(direction, flags, seq, ack, payload, options)


def ipv4_with_options(canaries, direction, segment):
    packet = made.ipv4(direction, segment, 7)
    options = option(0x94, canaries.bytes(14))
    words, total = 5 + len(options) // 4, len(packet) + len(options)
    return struct.pack(">BBH", 0x40 + words, 0, total) + packet[4:20] + options + packet[20:]


def ipv6(canaries, direction, segment):
    hop_by_hop = bytes([6, 1, 1, 12]) + canaries.bytes(12)
    fields = struct.pack(">IHBB", 6 << 28, len(hop_by_hop) + len(segment), 0, 64)
    return fields + IPV6[direction] + IPV6[1 - direction] + hop_by_hop + segment


def in_frame(canaries, ether_type, packet):
    addresses, trailer = canaries.bytes(12), canaries.bytes(16)
    return addresses + struct.pack(">H", ether_type) + packet + trailer


def not_for_us(canaries):
    """Frames that give no packet."""
    canary = canaries.bytes
    segment = made.tcp(0, 0x10, 1, 1, canary(16))
    good = made.ipv4(0, segment, 1)
    yield in_frame(canaries, 0x0806, canary(28))
    yield in_frame(canaries, 0x0800, made.ipv4(0, canary(32), 1, protocol=17))
    yield in_frame(canaries, 0x0800, made.ipv4(0, canary(32), 1, protocol=1))
    yield in_frame(canaries, 0x0800, made.ipv4(0, canary(32), 1, fragment=0x2001))
    yield in_frame(canaries, 0x0800, b"\x41" + good[1:])
    yield in_frame(canaries, 0x0800, made.ipv4(0, segment[:12] + b"\xf0" + segment[13:], 1))
    yield canary(12) + b"\x08\0" + good[:30]
    yield in_frame(canaries, 0x0800, made.ipv4(0, b"\x20\0\x08\0", 1, protocol=47))
    yield canary(9)


def frames(canaries):
    links = [
        lambda packet: in_frame(canaries, 0x0800, packet),
        *made.TUNNELS.values(),
    ]
    at = made.START_NS
    for link in links:
        for offset, direction, segment in segments(canaries):
            yield at + offset, link(made.ipv4(direction, segment, 7))
        at += 10**9
    for offset, direction, segment in segments(canaries):
        packet = ipv4_with_options(canaries, direction, segment)
        yield at + offset, in_frame(canaries, 0x0800, packet)
        yield at + offset, in_frame(canaries, 0x86DD, ipv6(canaries, direction, segment))
    for number, frame in enumerate(not_for_us(canaries)):
        yield at + 10**7 + number, frame


def pcapng(canaries, packets):
    """With comments and names of their own: of the section, the interface and a frame."""
    def described(code, text):
        return struct.pack("<HH", code, len(text)) + text + bytes(-len(text) % 4)

    comment = described(1, canaries.bytes(16)) + bytes(4)
    interface = described(9, b"\x09") + described(2, canaries.bytes(16)) + bytes(4)
    out = made.block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1) + comment, "<")
    out += made.block(1, struct.pack("<HHI", made.ETHERNET, 0, 0) + interface, "<")
    for time_ns, frame in packets:
        head = struct.pack("<IIIII", 0, time_ns >> 32, time_ns & 0xFFFFFFFF, len(frame), len(frame))
        comment = described(1, canaries.bytes(16)) + bytes(4)
        out += made.block(6, head + frame + bytes(-len(frame) % 4) + comment, "<")
    return out


def windows(canaries, count):
    return {canary[at:at + count] for canary in canaries for at in range(len(canary) - count + 1)}


def numbers(value):
    """All integers in a value of a batch."""
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, int):
        yield value
    elif not isinstance(value, (bytes, str)) and value is not None:
        for part in value:
            yield from numbers(part)


def find_bytes(content, canaries):
    return windows(canaries, WINDOW_BYTES) & windows([content], WINDOW_BYTES)


def find_numbers(stream_path, canaries):
    """Numbers of a batch stream that are four bytes of a canary, in either order."""
    wanted = {int.from_bytes(four, order)
              for four in windows(canaries, 4) for order in ("big", "little")}
    with open(stream_path, "rb") as file:
        for _, batch in read_batches.read_stream(file):
            packets = [read_batches.decode_packets(run) for run in batch["runs"]]
            yield from (number for number in numbers([batch, packets]) if number % 2**32 in wanted)


def play(probe, capture, name, key_file, options):
    stream = f"{capture}.{name}"
    options = [key_file if word == "KEY" else word for word in options]
    subprocess.run([probe, "--tap", "t", "--session", "1", "--ledger", stream + ".ledger",
                    "--output", stream, *options, capture], check=True)
    return stream


def check(probe, folder):
    """Returns what is not as expected."""
    failures = []
    key_file = os.path.join(folder, "privacy.key")
    with open(os.open(key_file, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
        file.write(KEY)

    def expect(is_so, sentence):
        if not is_so:
            failures.append(sentence)

    outputs = {}
    for seed in (1, 2):
        canaries = Canaries(seed)
        packets = list(frames(canaries))
        captures = {
            "pcap": made.pcap(made.ETHERNET, packets),
            "pcapng": pcapng(canaries, packets),
            "snapped": made.pcap(made.ETHERNET, packets, snap=128),
        }
        for kind, content in captures.items():
            capture = os.path.join(folder, f"canaries-{seed}.{kind}")
            with open(capture, "wb") as file:
                file.write(content)
            for name, options in OPTIONS.items():
                stream = play(probe, capture, name, key_file, options)
                with open(stream, "rb") as file, open(stream + ".ledger", "rb") as ledger:
                    outputs[seed, kind, name] = file.read(), ledger.read()
                found = find_bytes(b"".join(outputs[seed, kind, name]), canaries.all)
                found |= set(find_numbers(stream, canaries.all))
                expect(not found, f"{stream} holds {found}")
                real = [address for address in ADDRESSES if address in outputs[seed, kind, name][0]]
                expect(not real or name != "anonymised", f"{stream} holds the addresses {real}")
        # Both searches find what is there.
        content, ledger = outputs[seed, "pcap", "plain"]
        expect(json.loads(ledger)["counters"]["packets_delivered"] == 180, "all packets are read")
        expect(find_bytes(content + canaries.all[0][4:9], canaries.all), "the search finds bytes")
        expect(999 in find_numbers(stream, [struct.pack(">I", 999)]), "the search finds numbers")
        expect(all(address in content for address in ADDRESSES), "the search finds addresses")
    for seed, kind, name in outputs:
        expect(outputs[seed, kind, name] == outputs[1, kind, name],
               f"{kind}, {name}: the bytes depend on payloads")

    return failures


def main():
    with tempfile.TemporaryDirectory() as folder:
        failures = check(os.path.realpath(sys.argv[1]), folder)
    print("\n".join(f"FAILED: {failure}" for failure in failures) or "all is as expected")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
