# SPDX-License-Identifier: Apache-2.0
"""The cases that are kept in the repository: captures cut to headers, truth in steps of time.

subset/cases.tsv has a line per case; subset/CASE/ has before.pcap.gz, after.pcap.gz and truth.tsv.
"""

import csv
import gzip
import struct
from pathlib import Path

from causes import CAUSES
from truth import NANOS_PER_MILLI, Slot, SlotTruth
from verdicts import TAPS

SUBSET = Path(__file__).resolve().parent / "subset"
CASE_COLUMNS = ("case", "scenario", "expected", "acceptable", "direction", "interval_ms")
TRUTH_COLUMNS = ("flow", "client_ip", "client_port", "server_ip", "server_port", "start_ns",
                 "end_ns", *CAUSES)
STEP_NS = 100 * NANOS_PER_MILLI
SNAP_BYTES = 96
FILE_HEADER, RECORD_HEADER = struct.Struct("<IHHiIII"), struct.Struct("<IIII")


class KeptCase(SlotTruth):
    """A case of the subset; the same to matching.py as one of the dataset."""

    def __init__(self, line):
        self.name, self.scenario, self.expected = line["case"], line["scenario"], line["expected"]
        self.acceptable = tuple(line["acceptable"].split(","))
        self.direction, self.interval_ms = line["direction"], int(line["interval_ms"])
        self.names, slots = {}, {}
        for row in read_tsv(SUBSET / self.name / "truth.tsv"):
            key = (row["client_ip"], int(row["client_port"]), row["server_ip"],
                   int(row["server_port"]))
            self.names[key] = row["flow"]
            slots.setdefault(row["flow"], []).append(
                Slot(int(row["start_ns"]), int(row["end_ns"]),
                     {cause: float(row[cause] or 0) for cause in CAUSES}))
        super().__init__(slots)

    def name_of_flow(self, *ends):
        return self.names.get(ends)

    def capture(self, tap):
        return SUBSET / self.name / f"{tap}.pcap.gz"


def read_tsv(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def write_tsv(path, columns, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def load():
    return [KeptCase(line) for line in read_tsv(SUBSET / "cases.tsv")]


def cut(source, target):
    """Copies a pcap, of each frame the first SNAP_BYTES, compressed to the same bytes each time."""
    raw = source.read_bytes()
    header = list(FILE_HEADER.unpack_from(raw))
    header[5] = SNAP_BYTES
    parts = [FILE_HEADER.pack(*header)]
    at = FILE_HEADER.size
    while at < len(raw):
        seconds, nanos, captured, original = RECORD_HEADER.unpack_from(raw, at)
        at += RECORD_HEADER.size
        kept = min(captured, SNAP_BYTES)
        parts += [RECORD_HEADER.pack(seconds, nanos, kept, original), raw[at:at + kept]]
        at += captured
    target.write_bytes(gzip.compress(b"".join(parts), compresslevel=9, mtime=0))


def truth_rows(case):
    """The truth of a case's flows in steps, as lines of truth.tsv."""
    for name, slots in case.slots.items():
        flow = case.flows[name]
        if flow.get("hidden") or not slots:
            continue
        start_ns, last_ns = slots[0].start_ns, slots[-1].end_ns
        while start_ns < last_ns:
            end_ns = min(start_ns + STEP_NS, last_ns)
            shares = case.shares(name, start_ns, end_ns)
            if shares is not None:
                yield (name, flow["client_ip"], flow["client_port"], flow["server_ip"],
                       flow["server_port"], start_ns, end_ns,
                       *(f"{shares[cause]:.3g}" if shares[cause] else "" for cause in CAUSES))
            start_ns = end_ns


def keep(case):
    """Writes a case of the dataset into the subset; returns its bytes."""
    folder = SUBSET / case.name
    folder.mkdir(parents=True, exist_ok=True)
    for tap in TAPS:
        cut(case.folder / case.truth["files"][tap], folder / f"{tap}.pcap.gz")
    write_tsv(folder / "truth.tsv", TRUTH_COLUMNS, truth_rows(case))
    return sum(file.stat().st_size for file in folder.iterdir())
