#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a killed probe had sent, and the balance that the next one has published for it, must tell of every packet.

usage: check_balance.py FRAMES BATCHES...

Each BATCHES is a batch stream, or what kcat writes with the format '%p %R%s'. The oldest session in them is the killed
one, of which FRAMES at least had been received when it was; the next one need not have had any. Prints "LOST MISSING": its frames that were in no batch, and
the packets of its batches that never came.
"""
import collections
import io
import struct
import sys

sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/golden")
sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/kafka")
from read_batches import TornBatch, read_stream  # noqa: E402


def stream_of(data):
    """A batch stream, from either form."""
    if not data[:3].split(b" ")[0].isdigit():
        return data
    stream, at = b"", 0
    while at < len(data):
        at = data.index(b" ", at) + 1
        (length,) = struct.unpack_from(">I", data, at)
        stream += struct.pack("<I", length) + data[at + 4:at + 4 + length]
        at += 4 + length
    return stream


def batches_of(path):
    with open(path, "rb") as file:
        stream = stream_of(file.read())
    batches = []
    try:
        for _, batch in read_stream(io.BytesIO(stream)):
            batches.append(batch)
    except TornBatch:
        pass  # by the kill
    return batches


def packets_before(batch):
    return batch["packets_before"] + batch["summarised_packets_before"]


def main():
    batches = [batch for path in sys.argv[2:] for batch in batches_of(path)]
    sessions = sorted({batch["session"] for batch in batches})
    assert 1 <= len(sessions) <= 2, f"sessions {sessions}"
    killed = collections.defaultdict(dict)
    for batch in batches:
        if batch["session"] == sessions[0]:
            place = batch["worker"], batch["partition"]
            assert batch["sequence"] not in killed[place], f"{place} has batch {batch['sequence']} twice"
            killed[place][batch["sequence"]] = batch
    received = encoded = lost = missing = 0
    counters = {}
    for place, numbered in killed.items():
        last = max(numbered)
        balance = numbered[last]
        came = sum(batch["packets"] + batch["summarised_packets"] for batch in numbered.values())
        assert not balance["runs"] and not balance["summaries"], f"{place}: the last batch is no balance"
        for number, batch in numbered.items():
            before = [b["packets"] + b["summarised_packets"] for n, b in numbered.items() if n < number]
            assert packets_before(batch) >= sum(before), f"{place}: batch {number} knows less packets than came"
        missing += packets_before(balance) - came
        encoded += packets_before(balance)
        mine = {counter["name"]: counter["value"] for counter in balance["counters"]}
        if mine["batches_encoded"] >= counters.get(place[0], {}).get("batches_encoded", 0):
            counters[place[0]] = mine
    for mine in counters.values():
        fates = sum(value for name, value in mine.items()
                    if name.startswith("frames_") and name != "frames_received" and "_missed_" not in name)
        assert mine["frames_received"] == fates + mine["packets_encoded"], mine
        ended = sum(value for name, value in mine.items() if name.startswith("flows_ended_"))
        assert mine["flows_started"] == ended, mine
        received += mine["frames_received"]
        encoded -= mine["packets_encoded"]
        lost += mine.get("frames_lost_when_killed", 0)
    assert encoded == 0, f"packets_encoded and the packets before differ by {encoded}"
    assert received >= int(sys.argv[1]), f"the balance tells of {received} frames, {sys.argv[1]} had been received"
    print(lost, missing)


main()
