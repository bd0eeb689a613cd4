# SPDX-License-Identifier: Apache-2.0
"""Who shares a bottleneck: the groups of the command line beside the links of the testbed.

Cases of one rate are put behind one tap, each shifted in time: links that do not know of each other
and of equal capacity, the hardest neighbours. A pair of flows is right in a group if both filled
one link in that window, wrong if they were on different links.
"""

import itertools
import json
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from truth import Link
from verdicts import CHOKEPOINT, unix_ns

SEED = 1
SCENARIOS = ("shared", "unshared", "hidden-bulk", "paced", "window")
CASES_OF_BUNDLE = 4
WINDOW_NS = 10 * 10**9
# Where the shifted captures begin: a multiple of the window.
BASE_NS = 1_800_000_000 * 10**9
# Of a window in which both flows sent: below it nothing is asked; above the second it is a whole
# window.
LEAST_SECONDS, WHOLE_SECONDS = 2.5, 8
BUSY, STANDING, STANDING_BYTES = 0.9, 0.5, 1600


@dataclass
class Case:
    """A case, how far its captures are shifted, and what its link carried when."""

    folder: Path
    truth: dict
    shift_ns: int = 0
    sending: dict = field(default_factory=dict)

    @property
    def name(self):
        return self.folder.name

    def read_link(self):
        self.link = Link(self.folder, self.truth)
        self.standing = self.link.standing(STANDING_BYTES)
        for flow, series in self.link.of_flow.items():
            self.sending[flow] = sorted({ns // 10**8 for ns in series.times_ns})

    def common(self, one, other, start_ns, end_ns):
        """Tenths of seconds of [start, end), shifted, in which both flows sent."""
        first, last = (start_ns - self.shift_ns) // 10**8, (end_ns - self.shift_ns) // 10**8
        both = set(self.sending.get(one, ())) & set(self.sending.get(other, ()))
        return sorted(tenth for tenth in both if first <= tenth < last)

    def is_full(self, tenths):
        """Whether the link was full and had a queue from the first to the last of them."""
        span = tenths[0] * 10**8, (tenths[-1] + 1) * 10**8
        return (self.link.busy_share(*span) >= BUSY and self.standing.mean(*span) >= STANDING)


def read_cases(directory, half, scenarios=SCENARIOS):
    cases = []
    for file in sorted(directory.glob("*/truth.json")):
        truth = json.loads(file.read_text())
        if truth["valid"] and truth["scenario"] in scenarios and half in (None, truth["half"]):
            cases.append(Case(file.parent, truth))
    return cases


def bundles(cases, chance):
    """Cases of one rate, some at a time; neighbours differ from seed to seed, starts too."""
    by_rate = defaultdict(list)
    for case in cases:
        by_rate[case.truth["parameters"]["rate_mbit"]].append(case)
    for _, of_rate in sorted(by_rate.items()):
        chance.shuffle(of_rate)
        for first in range(0, len(of_rate), CASES_OF_BUNDLE):
            yield of_rate[first:first + CASES_OF_BUNDLE]


def shift(case, tap, offset_ns, target, testbed):
    """Writes the capture of a tap as if it had begun `offset_ns` after the base."""
    sys.path.insert(0, str(testbed))
    from degradation import Capture, write_pcap  # of the testbed, which is found only now
    capture = Capture(case.folder / case.truth["files"][tap])
    case.shift_ns = BASE_NS + offset_ns - case.truth["truth"]["epoch_unix_ns"]
    write_pcap(target, ((stamp + case.shift_ns, captured, length)
                        for stamp, captured, length in capture), capture.snap_bytes)


def analyze(files, chokepoint=CHOKEPOINT):
    done = subprocess.run([str(chokepoint), "analyze", "--format", "json", "--tap", "one",
                           *map(str, files)], stdout=subprocess.PIPE, check=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def name_flows(bundle, rows):
    """(case, flow) by flow id."""
    ends = {(flow["client_ip"], flow["client_port"], flow["server_ip"], flow["server_port"]):
            (case, flow["name"]) for case in bundle for flow in case.truth["truth"]["flows"]}
    return {row["flow_id"]: ends[key] for row in rows if row["record"] == "flow" for key in
            [(row["client_ip"], row["client_port"], row["server_ip"], row["server_port"])]
            if key in ends}


def score(bundle, rows):
    """Counts by (kind of window, outcome), and the outcomes of each case's own pairs."""
    names = name_flows(bundle, rows)
    found = defaultdict(set)
    for row in rows:
        if row["record"] == "bottleneck_group":
            members = sorted(names[one][0].name + "/" + names[one][1]
                             for one in row["member_flow_ids"] if one in names)
            found[unix_ns(row["window_start"])] |= set(itertools.combinations(members, 2))
    elephants = defaultdict(set)
    for row in rows:
        if row["record"] == "limitation_interval" and row["flow_id"] in names:
            case, flow = names[row["flow_id"]]
            if row["direction"] == case.truth["expected"]["direction"]:
                window = unix_ns(row["interval_start"]) // WINDOW_NS * WINDOW_NS
                elephants[window].add((case.name, flow))
    by_name = {case.name: case for case in bundle}
    counts, by_case = Counter(), defaultdict(Counter)
    for window, flows in sorted(elephants.items()):
        for (case, flow), (other_case, other_flow) in itertools.combinations(sorted(flows), 2):
            said = (f"{case}/{flow}", f"{other_case}/{other_flow}") in found[window]
            if case != other_case:
                counts["apart", "wrong" if said else "right"] += 1
                if said:
                    by_case[case]["wrong"] += 1
                continue
            tenths = by_name[case].common(flow, other_flow, window, window + WINDOW_NS)
            if len(tenths) < LEAST_SECONDS * 10 or not by_name[case].is_full(tenths):
                counts["not asked", "said" if said else "unsaid"] += 1
                continue
            kind = "whole" if len(tenths) >= WHOLE_SECONDS * 10 else "part"
            counts[kind, "right" if said else "missed"] += 1
            by_case[case][kind, "right" if said else "missed"] += 1
    return counts, by_case


def ratio(part, whole):
    return f"{part / whole:.3f} ({part}/{whole})" if whole else "-"
