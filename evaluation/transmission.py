# SPDX-License-Identifier: Apache-2.0
"""Retransmissions, reordering and round trips beside the kernel's and the emulator's own books."""

import bisect
import statistics

from causes import UNDECIDED
from matching import RIGHT
from truth import NANOS_PER_SECOND, read_csv
from verdicts import FLOW, INTERVAL

SENT_AGAIN = ("retransmitted_fast_bytes", "retransmitted_timeout_bytes",
              "retransmitted_tail_probe_bytes", "retransmitted_spurious_bytes",
              "retransmitted_other_bytes")
LEAST_SAMPLES = 5


def called_again_bytes(row):
    return sum(row[column] or 0 for column in SENT_AGAIN)


class Resent:
    """A flow at a tap: bytes sent again as the tap, the sender and the path know it."""

    def __init__(self, one, drops):
        last = one.case.samples[one.flow][-1]
        self.one = one
        self.called_bytes = called_again_bytes(one.row)
        self.sender_bytes = last["bytes_retrans"]
        self.sent_bytes = last["bytes_sent"]
        self.dropped_bytes = sum(drop.payload_bytes for drop in drops)
        # A copy that is dropped on its way to the tap passes unseen.
        self.passed_bytes = self.sender_bytes - sum(
            drop.payload_bytes for drop in drops if drop.is_copy and drop.is_before(one.tap))
        self.path = one.case.flows[one.flow].get("path", {})

    @property
    def false_share(self):
        """Bytes that the tap calls sent again beyond what was, of all that were sent."""
        return max(0, self.called_bytes - self.sender_bytes) / self.sent_bytes

    @property
    def is_only_reordered(self):
        return self.path.get("reordered_frames", 0) > 0 and not any(
            frames for name, frames in self.path.items()
            if name.endswith("_frames") and ("drops" in name or "losses" in name))


def resent(judged):
    """Of flows that are seen whole."""
    books = {}
    found = []
    for one in judged:
        if one.kind == FLOW and one.case.samples.get(one.flow) \
                and one.row["data_bytes"] is not None:
            if one.case.name not in books:
                books[one.case.name] = read_drops(one.case)
            found.append(Resent(one, books[one.case.name].get(one.flow, ())))
    return found


class Drop:
    """Payload that the path lost, and whether its first copy had been lost before."""

    def __init__(self, row, section, is_copy):
        self.payload_bytes = int(row["payload_bytes"])
        self.section = section if row["where"] == "random" else "link"
        self.is_copy = is_copy

    def is_before(self, tap):
        return self.section in (("sender",) if tap == "before" else ("sender", "middle", "link"))


def read_drops(case):
    """By flow, out of the emulator's book; empty if there is none."""
    file = case.folder / "drops.csv"
    drops, seen = {}, set()
    for row in read_csv(file) if file.exists() else ():
        key = (row["flow"], row["sequence_number"])
        drops.setdefault(row["flow"], []).append(
            Drop(row, case.parameters.get("loss_at") or "middle", key in seen))
        seen.add(key)
    return drops


def kernel_round_trip(case, flow, start_ns, end_ns):
    """Median of the sender's estimates in [start, end) in seconds, or None."""
    samples = case.samples.get(flow, [])
    first = bisect.bisect_left(samples, start_ns, key=lambda sample: sample["unix_ns"])
    last = bisect.bisect_left(samples, end_ns, key=lambda sample: sample["unix_ns"])
    if last - first < LEAST_SAMPLES:
        return None
    return statistics.median(sample["rtt_us"] for sample in samples[first:last]) / 1e6


def round_trips(judged):
    """(one, relative error of the median round trip) of intervals."""
    errors = []
    for one in judged:
        measured = one.row["rtt_p50_seconds"]
        if one.kind != INTERVAL or measured is None:
            continue
        kernel = kernel_round_trip(one.case, one.flow, one.row["start_ns"], one.row["end_ns"])
        if kernel:
            errors.append((one, measured / kernel - 1))
    return errors


def names_a_cause(one):
    return one.row["root_cause"] not in UNDECIDED


def is_right(one):
    return one.not_scored is None and one.outcome == RIGHT


def first_verdicts(judged, counts=is_right, least_seconds=3, least_packets=300):
    """(flow's row, seconds until the end of its first interval that counts, or None) of bulk
    flows."""
    by_flow = {}
    for one in judged:
        by_flow.setdefault((one.case.name, one.tap, one.flow), []).append(one)
    seconds = []
    for of_flow in by_flow.values():
        whole = [one for one in of_flow if one.kind == FLOW and one.not_scored is None]
        if not whole:
            continue
        row = whole[0].row
        if row["end_ns"] - row["start_ns"] < least_seconds * NANOS_PER_SECOND \
                or (row["data_packets"] or 0) < least_packets:
            continue
        ends = [one.row["end_ns"] for one in of_flow if one.kind == INTERVAL and counts(one)]
        seconds.append((whole[0], (min(ends) - row["start_ns"]) / NANOS_PER_SECOND
                        if ends else None))
    return seconds
