#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures that are broken in one way each, and what the probe must make of them: exit code, sentence
and the fates of their frames. Whatever it is, the books balance, the stream can be read, and a pipe
gives the same as a file.

usage: broken_captures.py PROBE
"""
import io
import json
import os
import struct
import subprocess
import sys
import tempfile

import make_captures as captures
import read_batches
from make_captures import ETHERNET, block, pcap, pcapng

GOOD = captures.frames()
FRAME = GOOD[2][1]  # 54 bytes: a bare acknowledgment
WHOLE = pcap(ETHERNET, GOOD)
WHOLE_NG = pcapng(ETHERNET, GOOD, 9)
CUT_OFF = (0, "{} is cut off at its end, all whole frames were read")


def header(magic=0xA1B23C4D, version=(2, 4), snap=262144, link=ETHERNET):
    return struct.pack("<IHHiIII", magic, *version, 0, 0, snap, link)


def frame(captured=None, original=None, seconds=1700000000, fraction=0, content=FRAME):
    captured = len(content) if captured is None else captured
    original = captured if original is None else original
    return struct.pack("<IIII", seconds, fraction, captured, original) + content


def section(version=(1, 0), magic=0x1A2B3C4D, order="<", options=b""):
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", magic, *version, -1) + options, order)


def interface(link=ETHERNET, snap=0, options=b"", order="<"):
    return block(1, struct.pack(order + "HHI", link, 0, snap) + options, order)


def option(kind, content, length=None):
    length = len(content) if length is None else length
    return struct.pack("<HH", kind, length) + content + b"\0" * (-len(content) % 4)


def packet(number=0, stamp=1700000000 * 10**6, captured=None, original=None, content=FRAME, order="<"):
    captured = len(content) if captured is None else captured
    original = captured if original is None else original
    body = struct.pack(order + "IIIII", number, stamp >> 32, stamp & 0xFFFFFFFF, captured, original)
    return block(6, body + content, order)


def with_length(made, first=None, last=None):
    """The block, its lengths overwritten."""
    first = made[4:8] if first is None else struct.pack("<I", first)
    last = made[-4:] if last is None else struct.pack("<I", last)
    return made[:4] + first + made[8:-4] + last


NG = section() + interface()

# name: content, (exit code, sentence; {} is the name, and what follows ... is libpcap's own), fates
# by their counters: those not named are 0, but for the packets delivered.
CASES = {
    # --- pcap: the header ---
    "magic-alone": (header()[:4], (1, "{} ends within its header"), None),
    "header-without-last-byte": (header()[:23], (1, "{} ends within its header"), None),
    "version-9": (header(version=(9, 9)) + frame(), (1, "{} cannot be read: ..."), None),
    "snap-length-0": (header(snap=0) + frame(), (0, ""), {"packets_encoded": 1}),
    "snap-length-huge": (header(snap=0xFFFFFFFF) + frame(), (0, ""), {"packets_encoded": 1}),
    "snap-length-too-small": (header(snap=40) + frame(), (0, ""), {"frames_truncated": 1}),
    "link-type-unknown": (header(link=65000) + frame(),
                          (1, "{} has link type unknown (65000), expected Ethernet, raw IP, Linux cooked or loopback"), None),
    "link-type-with-fcs": (header(link=ETHERNET | 0x24000000) + frame(), (0, ""), {"packets_encoded": 1}),
    "link-type-wrong": (header(link=captures.RAW) + frame(), (0, ""), {"frames_malformed_ip": 1}),
    # --- pcap: frames ---
    "frame-of-0-bytes": (header() + frame(content=b"") + frame(), (0, ""), {"packets_encoded": 1, "frames_truncated": 1}),
    "frame-longer-than-original": (header() + frame(original=10), (0, ""), {"packets_encoded": 1}),
    "frame-of-original-0": (header() + frame(original=0), (0, ""), {"packets_encoded": 1}),
    "frame-of-original-4-gib": (header() + frame(original=0xFFFFFFFF), (0, ""), {"packets_encoded": 1}),
    "frame-beyond-any-length": (header() + frame() + frame(captured=0x7FFFFFFF) + frame(),
                                (1, "{} cannot be read to its end: ..."), {"packets_encoded": 1}),
    "frame-beyond-snap-length": (header() + frame() + frame(captured=262145) + frame(),
                                 (1, "{} cannot be read to its end: ..."), {"packets_encoded": 1}),
    "frame-header-cut": (header() + frame() + frame()[:9], CUT_OFF, {"packets_encoded": 1, "captures_cut_off": 1}),
    "frame-header-alone": (header() + frame() + frame()[:16], CUT_OFF, {"packets_encoded": 1, "captures_cut_off": 1}),
    "frame-without-last-byte": (header() + frame() + frame()[:-1], CUT_OFF, {"packets_encoded": 1, "captures_cut_off": 1}),
    "second-capture-behind": (WHOLE + WHOLE, (1, "{} cannot be read to its end: ..."),
                              {"packets_encoded": 11, "frames_truncated": 1}),
    "zeros-behind": (WHOLE + bytes(160), (0, ""), {"packets_encoded": 11, "frames_truncated": 10}),
    "zeros-behind-cut": (WHOLE + bytes(17), CUT_OFF, {"packets_encoded": 11, "frames_truncated": 1, "captures_cut_off": 1}),
    # --- pcap: times ---
    "year-1970": (header() + frame(seconds=0), (0, ""), {"packets_encoded": 1}),
    "year-2106": (header() + frame(seconds=0xFFFFFFFF), (0, ""), {"packets_encoded": 1}),
    "fraction-beyond-a-second": (header() + frame(fraction=0xFFFFFFFF), (0, ""), {"packets_encoded": 1}),
    "microseconds-beyond-a-second": (header(magic=0xA1B2C3D4) + frame(fraction=0xFFFFFFFF), (0, ""), {"packets_encoded": 1}),
    "fraction-beyond-a-second-in-1970": (header() + frame(seconds=0, fraction=0x80000000) + frame(seconds=0, fraction=1), (0, ""),
                                         {"packets_encoded": 2}),
    "times-that-jump": (header() + b"".join(frame(seconds=s) for s in (0xFFFFFFFF, 0, 0x7FFFFFFF, 0x80000000, 5) * 20), (0, ""),
                        {"packets_encoded": 100}),
    # --- pcapng: blocks ---
    "section-alone": (section(), (1, "{} ends within its header"), None),
    "section-cut": (section()[:20], (1, "{} ends within its header"), None),
    "section-without-byte-order": (section(magic=0x11111111) + interface(), (1, "{} cannot be read: ..."), None),
    "section-of-version-2": (section(version=(2, 0)) + interface() + packet(), (1, "{} cannot be read: ..."), None),
    "section-of-length-0": (with_length(section(), 0, 0) + interface(), (1, "{} cannot be read: ..."), None),
    "section-of-huge-length": (with_length(section(), 0xFFFFFFF0) + interface(), (1, "{} cannot be read: ..."), None),
    "section-of-long-comment": (section(options=option(1, b"x" * 5000)) + interface() + packet(), (0, ""), {"packets_encoded": 1}),
    "interface-alone": (NG, (0, ""), {}),
    "interface-cut": (NG[:-6], (1, "{} ends within its header"), None),
    "interface-of-unknown-link": (section() + interface(link=65000) + packet(),
                                  (1, "{} has link type unknown (65000), expected Ethernet, raw IP, Linux cooked or loopback"),
                                  None),
    "interface-missing": (NG + packet() + packet(number=5), (1, "{} cannot be read to its end: ..."), {"packets_encoded": 1}),
    "interface-of-other-link": (NG + packet() + interface(link=captures.RAW) + packet(number=1),
                                (1, "{} cannot be read to its end: ..."), {"packets_encoded": 1}),
    "interfaces-alike": (NG + interface() * 50 + packet(number=50), (0, ""), {"packets_encoded": 1}),
    "interface-behind-packet": (section() + packet() + interface(), (1, "{} cannot be read: ..."), None),
    "block-unknown": (NG + block(0xBAD, b"whatever", "<") + packet(), (0, ""), {"packets_encoded": 1}),
    "block-of-length-0": (NG + packet() + with_length(packet(), 0, 0), (1, "{} cannot be read to its end: ..."),
                          {"packets_encoded": 1}),
    "block-of-odd-length": (NG + packet() + with_length(packet(), 87, 87), (1, "{} cannot be read to its end: ..."),
                            {"packets_encoded": 1}),
    "block-of-huge-length": (NG + packet() + with_length(packet(), 0xFFFFFFF0), (1, "{} cannot be read to its end: ..."),
                             {"packets_encoded": 1}),
    "block-of-two-lengths": (NG + packet() + with_length(packet(), last=92), (1, "{} cannot be read to its end: ..."),
                             {"packets_encoded": 1}),
    "block-cut-in-header": (NG + packet() + packet()[:7], CUT_OFF, {"packets_encoded": 1, "captures_cut_off": 1}),
    "block-cut-in-frame": (NG + packet() + packet()[:50], CUT_OFF, {"packets_encoded": 1, "captures_cut_off": 1}),
    "block-cut-in-last-length": (NG + packet() + packet()[:-1], CUT_OFF, {"packets_encoded": 1, "captures_cut_off": 1}),
    "packet-beyond-block": (NG + packet() + packet(captured=4000), (1, "{} cannot be read to its end: ..."),
                            {"packets_encoded": 1}),
    "packet-of-0-bytes": (NG + packet(content=b""), (0, ""), {"frames_truncated": 1}),
    "packet-of-original-0": (NG + packet(original=0), (0, ""), {"packets_encoded": 1}),
    "packet-without-time": (NG + block(3, struct.pack("<I", len(FRAME)) + FRAME, "<"), (0, ""), {"packets_encoded": 1}),
    "sections-of-both-orders": (NG + packet() + section(order=">") + interface(order=">") + packet(order=">"),
                                (1, "{} cannot be read to its end: ..."), {"packets_encoded": 1}),
    # --- pcapng: times ---
    "time-beyond-2261": (NG + packet(stamp=2**64 - 1), (0, ""), {"frames_time_out_of_range": 1}),
    "time-before-1970": (section() + interface(options=option(14, struct.pack("<q", -2000000000))) + packet(), (0, ""),
                         {"frames_time_out_of_range": 1}),
    "time-unit-of-a-second": (section() + interface(options=option(9, b"\0")) + packet(stamp=1700000000), (0, ""),
                              {"packets_encoded": 1}),
    "time-unit-too-fine": (section() + interface(options=option(9, b"\x7f")) + packet(), (1, "{} cannot be read: ..."), None),
    "option-beyond-block": (section() + interface(options=option(9, b"\6", length=4000)) + packet(),
                            (1, "{} cannot be read: ..."), None),
    "option-of-wrong-length": (section() + interface(options=option(9, b"\6\0\0\0")) + packet(), (1, "{} cannot be read: ..."),
                               None),
}


def run(probe, folder, name, content, is_pipe):
    """@return (exit code, sentence, counters, packets in the stream)"""
    ledger, out = os.path.join(folder, "ledger"), os.path.join(folder, "out")
    for path in (ledger, out):
        if os.path.exists(path):
            os.remove(path)
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(content)
    command = [probe, "--ledger", ledger, "--output", out, "--tap", "tap", "-" if is_pipe else name]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=30, check=False, input=content if is_pipe else None)
    with open(ledger, encoding="utf-8") as file:
        book = json.load(file)
    with open(out, "rb") as file:
        packets = sum(len(read_batches.decode_packets(r)) for _, batch in read_batches.read_stream(io.BytesIO(file.read()))
                      for r in batch["runs"])
    fates = {key: value for key, value in book["counters"].items()
             if value and (key.startswith("frames_") or key in ("packets_encoded", "captures_cut_off"))}
    if not book["balanced"]:
        fates["unbalanced"] = 1
    return done.returncode, done.stderr.decode(), fates, packets


def fault(name, expected, fates, result):
    """@return what is wrong with the result, or None"""
    code, text, seen, packets = result
    expected_code, sentence = expected
    expected_fates = dict(fates or {})
    received = sum(count for fate, count in expected_fates.items() if fate != "captures_cut_off")
    if received:
        expected_fates["frames_received"] = received
    sentence = "chokepoint-probe: " + sentence.format(name) + "\n" if sentence else ""
    is_said = text.startswith(sentence[:-4]) and text.count("\n") == 1 if sentence.endswith("...\n") else text == sentence
    if code != expected_code or not is_said or seen != expected_fates or packets != expected_fates.get("packets_encoded", 0):
        return f"{code} {text!r} {seen} {packets} packets, expected {expected_code} {sentence!r} {expected_fates}"
    return None


def main():
    probe = os.path.abspath(sys.argv[1])
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (content, expected, fates) in CASES.items():
            for is_pipe in (False, True):
                said = "standard input" if is_pipe else name
                wrong = fault(said, expected, fates, run(probe, folder, name, content, is_pipe))
                if wrong:
                    failures += 1
                    print(f"FAILED: {said} ({name}): {wrong}")
    print(f"{len(CASES)} broken captures, {failures} failures")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
