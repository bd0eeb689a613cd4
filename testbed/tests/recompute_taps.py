#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recomputes the tap behind the bottleneck from the tap before it: every departure and every drop.

    tests/recompute_taps.py DIR...     each written by testbed/run

Not for paths that lose or reorder between the taps.
"""

import json
import struct
import sys
from collections import deque
from pathlib import Path

NANOS_PER_MILLI = 1_000_000
BIT_NANOS_PER_BYTE_SECOND = 8e9
FILE_HEADER_BYTES, RECORD_HEADER_BYTES = 24, 16
FULL_FRAME_BYTES = 1000


def read_frames(file_name):
    """(arrival_ns, frame_bytes, captured) of every record."""
    raw, at, frames = Path(file_name).read_bytes(), FILE_HEADER_BYTES, []
    while at < len(raw):
        seconds, nanos, captured, frame_bytes = struct.unpack_from("=IIII", raw, at)
        at += RECORD_HEADER_BYTES
        frames.append((seconds * 10**9 + nanos, frame_bytes, raw[at:at + captured]))
        at += captured
    return frames


def only_data(frames):
    sender = next(captured[6:12] for _, frame_bytes, captured in frames
                  if frame_bytes > FULL_FRAME_BYTES)
    return [frame for frame in frames if frame[2][6:12] == sender]


def depart(frames, bits_per_second, delay_ns, limit_bytes):
    """The frames as they must leave the bottleneck."""
    free_ns, queue_bytes, queue = 0, 0, deque()
    for arrival_ns, frame_bytes, captured in frames:
        at_link_ns = arrival_ns + delay_ns
        while queue and queue[0][0] <= at_link_ns:
            queue_bytes -= queue.popleft()[1]
        if queue_bytes + frame_bytes > limit_bytes:
            continue
        free_ns = max(free_ns, at_link_ns) + \
            round(frame_bytes * BIT_NANOS_PER_BYTE_SECOND / bits_per_second)
        queue.append((free_ns, frame_bytes))
        queue_bytes += frame_bytes
        yield free_ns, frame_bytes, captured


def check(directory):
    truth = json.loads((directory / "truth.json").read_text())
    taps = {tap: read_frames(directory / truth["files"][tap]) for tap in ("before", "after")}
    for tap, frames in taps.items():
        if frames != sorted(frames, key=lambda frame: frame[0]):
            return f"the tap {tap} is not sorted by time"
    parameters = truth["parameters"]
    expected = list(depart(only_data(taps["before"]), parameters["rate_mbit"] * 1e6,
                           round(truth["delay_ms"][1] * NANOS_PER_MILLI),
                           parameters["queue_kb"] * 1000))
    seen = only_data(taps["after"])
    wrong = sum(a != b for a, b in zip(expected, seen)) + abs(len(expected) - len(seen))
    return f"{wrong} of {len(seen)} frames differ" if wrong else None


def main():
    failed = 0
    for directory in map(Path, sys.argv[1:]):
        complaint = check(directory)
        print(f"{directory}: {complaint or 'exact'}")
        failed += complaint is not None
    return 1 if failed or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
