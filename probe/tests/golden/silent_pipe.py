#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A pipe that falls silent, as a live capture does: what has come goes out, and nothing is changed by that.

usage: silent_pipe.py PROBE CAPTURE      a little-endian pcap
"""
import collections
import io
import os
import signal
import struct
import subprocess
import sys

from read_batches import decode_packets, endpoint, read_stream

FRAMES_BEFORE = 7
SECONDS_MAX = 60  # of a test that hangs


def cut(capture):
    """The capture in two, in the middle of the frame after the first FRAMES_BEFORE."""
    at = 24
    for _ in range(FRAMES_BEFORE):
        at += 16 + struct.unpack_from("<I", capture, at + 8)[0]
    return capture[:at + 20], capture[at + 20:]


def start(probe):
    return subprocess.Popen([probe, "--session", "1", "--tap", "t", "--ledger", os.devnull, "-"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def packets_by_flow(batches):
    """All packets of each flow, whatever runs they came in, and its end."""
    flows = collections.defaultdict(list)
    for _, batch in batches:
        for run in batch["runs"]:
            packets = flows[endpoint(run, "low"), endpoint(run, "high"), run["flow_start_ns"]]
            assert run["packets_before"] == len(packets), "a run does not go on where the last one stopped"
            packets += decode_packets(run)
            if run["end_reason"] != "NONE":
                packets.append((run["end_reason"], run["observed_until_ns"]))
    return flows


def check_what_comes_out(probe, capture):
    before, after = cut(capture)
    whole, _ = start(probe).communicate(capture)
    expected = packets_by_flow(read_stream(io.BytesIO(whole)))

    process = start(probe)
    process.stdin.write(before)
    process.stdin.flush()
    stream = read_stream(process.stdout)
    batches = []
    while sum(batch["packets"] for _, batch in batches) < FRAMES_BEFORE:
        batches.append(next(stream))
    process.stdin.write(after)
    process.stdin.close()
    batches += stream
    assert process.wait() == 0, process.stderr.read()
    assert packets_by_flow(batches) == expected, "silence changed what was written"


def check_that_it_ends_without_a_reader(probe, capture):
    process = start(probe)
    process.stdout.close()
    process.stdin.write(cut(capture)[0])
    process.stdin.flush()
    assert process.wait() == 1
    said = process.stderr.read().decode()
    assert said == "chokepoint-probe: standard output: the reader has ended before the capture\n", said


def main():
    signal.alarm(SECONDS_MAX)
    with open(sys.argv[2], "rb") as file:
        capture = file.read()
    check_what_comes_out(sys.argv[1], capture)
    check_that_it_ends_without_a_reader(sys.argv[1], capture)


main()
