# SPDX-License-Identifier: Apache-2.0
"""Rows beside the truth of the same flow and time."""

from dataclasses import dataclass, replace

from causes import BOTTLENECK, MIXED, SHORT_TRANSFER, UNDECIDED, is_wrong, root_cause
from verdicts import FLOW, INTERVAL

# Of the usual interval: what is shorter, a first or last one, is not scored.
LEAST_LENGTH = 0.2

# Why a row is not scored.
WITHHELD = "verdict withheld"
NOT_RECORDED = "truth not recorded"
TOO_SHORT = "interval cut short"
TRUTH_MIXED = "truth is mixed"

RIGHT, UNSURE, WRONG = "right", "undecided", "wrong"


@dataclass
class Judged:
    """A row, what was true of the same time, and why it is not scored, if it is not."""

    case: object
    tap: str
    flow: str
    row: dict
    shares: dict
    truth: str
    not_scored: str

    @property
    def kind(self):
        return self.row["record"]

    @property
    def confidence(self):
        return self.row["confidence"]

    @property
    def verdict(self):
        """What the row says; as the truth, if the case allows to say no more than that."""
        said = self.row["root_cause"]
        if self.truth in self.case.acceptable and said in self.case.acceptable:
            return self.truth
        return said

    @property
    def outcome(self):
        return outcome(self.verdict, self.truth)


def outcome(verdict, truth):
    """Naming a bottleneck but not whose is no mistake, but it is no answer either."""
    if verdict == truth:
        return RIGHT
    if verdict in UNDECIDED or verdict == BOTTLENECK and not is_wrong(verdict, truth):
        return UNSURE
    return WRONG


def why_not_scored(row, truth, interval_ms):
    if row["root_cause"] == SHORT_TRANSFER:
        return WITHHELD
    if row["record"] == INTERVAL \
            and row["end_ns"] - row["start_ns"] < LEAST_LENGTH * interval_ms * 1_000_000:
        return TOO_SHORT
    if truth is None:
        return NOT_RECORDED
    if truth == MIXED:
        return TRUTH_MIXED
    return None


def match(case, tap, rows):
    """The rows of the flows that the case knows, in the direction of its data."""
    judged = []
    for row in rows:
        if row["direction"] != case.direction:
            continue
        flow = case.name_of_flow(row["client_ip"], row["client_port"], row["server_ip"],
                                 row["server_port"])
        if flow is None:
            continue
        shares = case.shares(flow, row["start_ns"], row["end_ns"])
        truth = None if shares is None else root_cause(shares)
        judged.append(Judged(case, tap, flow, row, shares, truth,
                             why_not_scored(row, truth, case.interval_ms)))
    return judged


def scored(judged, kind=None, tap=None):
    return [one for one in judged if one.not_scored is None
            and (kind is None or one.kind == kind) and (tap is None or one.tap == tap)]


def intervals(judged, tap=None):
    return scored(judged, INTERVAL, tap)


def flows(judged, tap=None):
    return scored(judged, FLOW, tap)


def held_to(one, shares, truth):
    """The same row beside another truth."""
    return replace(one, shares=shares, truth=truth,
                   not_scored=why_not_scored(one.row, truth, one.case.interval_ms))


def by_case(judged):
    cases = {}
    for one in judged:
        cases.setdefault(one.case.name, []).append(one)
    return cases


def weighted(judged, among=None):
    """(weight, one): the rows of a case share its weight of 1, all of them or those `among` which
    `judged` was picked."""
    sizes = {name: len(of_case) for name, of_case in by_case(among or judged).items()}
    return [(1 / sizes[one.case.name], one) for one in judged]
