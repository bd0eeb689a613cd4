# SPDX-License-Identifier: Apache-2.0
"""Where along its path a flow is limited: the rows of several taps beside what limited it.

The testbed's path has four places for taps and three sections between them. Whoever looks from two,
three or four of these places has the limit before, between or behind his taps.
"""

import bisect
import csv
import itertools
import json
import subprocess
from dataclasses import dataclass

from causes import (APPLICATION, MIXED, RECEIVER_WINDOW, SEND_BUFFER, SHARED, TRANSPORT, UNSHARED,
                    root_cause)
from verdicts import unix_ns

PATH_ROW = "flow_path_interval"
CASES_AT_ONCE = 20
TAPS = ("sender", "before", "after", "receiver")
SECTION_OF_LINK = 2  # of those between the host and the first tap, the taps, and behind the last
SECTIONS = {"sender": 1, "middle": 2, "receiver": 3}
VIEWS = [view for size in range(2, len(TAPS) + 1) for view in itertools.combinations(TAPS, size)]

# Places that are no segment.
SENDER, RECEIVER, NONE, UNKNOWN = "sender", "receiver", "none", "unknown"
HOSTS = {APPLICATION: SENDER, SEND_BUFFER: SENDER, RECEIVER_WINDOW: RECEIVER}


def place(view, section):
    """The segment of a view in which a section lies: the tap it begins and the tap it ends at."""
    known = [TAPS.index(tap) for tap in view]
    before = [tap for tap in known if tap < section]
    behind = [tap for tap in known if tap >= section]
    return (TAPS[before[-1]] if before else "", TAPS[behind[0]] if behind else "")


@dataclass
class Located:
    """A row of a view, where the limit was, and what the row says."""

    case: object
    view: tuple
    truth_cause: str
    truth: object   # a host, NONE, or a segment
    said_cause: str
    said: object
    confidence: float

    @property
    def is_right(self):
        return self.said == self.truth

    @property
    def is_in_path(self):
        return isinstance(self.truth, tuple)

    @property
    def side(self):
        """Of the truth: before, between or behind the taps."""
        start, end = self.truth
        return "between taps" if start and end else "before the first" if end else "behind the last"


class Losses:
    """Of each flow of a case: when and in which section frames were lost."""

    def __init__(self, case):
        self.times, self.sections = {}, {}
        where = SECTIONS[case.parameters.get("loss_at") or "middle"]
        with open(case.folder / "drops.csv", newline="") as file:
            rows = sorted((int(row["unix_ns"]), row["flow"], row) for row in csv.DictReader(file))
        for time_ns, flow, row in rows:
            self.times.setdefault(flow, []).append(time_ns)
            section = where if row["where"] == "random" else SECTION_OF_LINK
            self.sections.setdefault(flow, []).append(section)

    def over(self, flow, start_ns, end_ns):
        times = self.times.get(flow, [])
        return self.sections.get(flow, [])[bisect.bisect_left(times, start_ns):
                                           bisect.bisect_left(times, end_ns)]


def truth_of(case, losses, flow, cause, view, start_ns, end_ns):
    """Where the limit was; None if that is not clear."""
    if cause in HOSTS:
        return HOSTS[cause]
    if cause in (UNSHARED, SHARED):
        return place(view, SECTION_OF_LINK)
    if cause != TRANSPORT:
        return None
    # A loss is seen when it is repaired, a round trip or two later.
    trip = case.round_trip_ns
    sure = set(losses.over(flow, start_ns, end_ns - 2 * trip))
    possible = set(losses.over(flow, start_ns - 2 * trip, end_ns))
    if not possible:
        return NONE
    return place(view, possible.pop()) if sure == possible and len(sure) == 1 else None


def said_by(row):
    segment = row["limit_segment"]
    if segment in (SENDER, RECEIVER, NONE, UNKNOWN):
        return segment
    return tuple("" if not name else name.split(".")[1]
                 for name in (row["limit_from"], row["limit_to"]))


def rows_of_view(cases, view, chokepoint):
    """Path rows of the cases that were captured at all taps of the view, each with its case."""
    cases = [case for case in cases if all(tap in case.truth["files"] for tap in view)]
    for first in range(0, len(cases), CASES_AT_ONCE):
        yield from rows_of(cases[first:first + CASES_AT_ONCE], view, chokepoint)


def rows_of(cases, view, chokepoint):
    command = [str(chokepoint), "analyze", "--format", "json"]
    for number, case in enumerate(cases):
        for tap in view:
            command += ["--tap", f"{number}.{tap}", str(case.folder / case.truth["files"][tap])]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(f"`{' '.join(command[:6])} …` ended with {done.returncode}: "
                           f"{done.stderr.strip()[-500:]}")
    for line in done.stdout.splitlines():
        row = json.loads(line)
        if row["record"] == PATH_ROW:
            yield cases[int(row["taps"][0].split(".")[0])], row


def locate(cases, chokepoint):
    """Rows of all views whose truth names a place."""
    located = []
    losses = {case: Losses(case) for case in cases}
    for view in VIEWS:
        for case, row in rows_of_view(cases, view, chokepoint):
            flow = case.name_of_flow(row["client_ip"], row["client_port"], row["server_ip"],
                                     row["server_port"])
            if row["direction"] != case.direction or flow is None or len(row["taps"]) < len(view):
                continue
            start_ns, end_ns = unix_ns(row["interval_start"]), unix_ns(row["interval_end"])
            shares = case.shares(flow, start_ns, end_ns)
            cause = MIXED if shares is None else root_cause(shares)
            truth = truth_of(case, losses[case], flow, cause, view, start_ns, end_ns)
            if truth is not None:
                located.append(Located(case, view, cause, truth, row["root_cause"], said_by(row),
                                       row["confidence"]))
    return located
