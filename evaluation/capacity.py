# SPDX-License-Identifier: Apache-2.0
"""How near the proven capacities come to the rate of the link."""

from scores import share
from verdicts import INTERVAL

BOUNDS = (0.03, 0.05, 0.10, 0.50)
PROVEN = "proven"
DEFAULT_MBIT = 10

# [BAU20 Table I]: share of estimates within the error, of data, of ACKs, and of both within 50 %.
PUBLISHED = {
    "CUBIC only": ((32, 96, 99), (28, 98, 100), 100),
    "congestion control": ((66, 97, 97), (73, 90, 93), 100),
    "packet loss": ((48, 73, 78), (47, 71, 77), 78),
    "concurrent flows": ((37, 95, 98), (36, 95, 98), 98),
    "capacity": ((48, 59, 70), (47, 68, 81), 90),
}


def is_alone(case):
    return case.scenario == "unshared" and case.parameters["flows"] == 1


def is_cubic(case):
    return case.parameters["cc"] == "cubic"


# The test cases of the table, out of the cases here.
TEST_CASES = {
    "CUBIC only": lambda case: is_alone(case) and is_cubic(case)
    and case.parameters["rate_mbit"] == DEFAULT_MBIT,
    "congestion control": lambda case: is_alone(case)
    and case.parameters["rate_mbit"] == DEFAULT_MBIT,
    "packet loss": lambda case: bool(case.parameters.get("loss")),
    "concurrent flows": lambda case: case.parameters["flows"] > 1,
    "capacity": lambda case: is_alone(case) and 5 <= case.parameters["rate_mbit"] <= 100,
    "all cases": lambda case: True,
}


def has_rate(case):
    """What a policer lets by is the rate of no link."""
    return not (case.parameters.get("policer_burst_kb") or case.parameters.get("policer_mbit"))


def rows(judged, tap=None):
    """Intervals with a row, whatever their truth."""
    return [one for one in judged if one.kind == INTERVAL and has_rate(one.case)
            and (tap is None or one.tap == tap)]


def estimates(judged, tap=None):
    return [one for one in rows(judged, tap) if one.row["capacity_kind"] == PROVEN]


def error(one):
    """Relative, with its sign."""
    return one.row["capacity_bits_per_second"] / one.case.bits_per_second - 1


def visible_error(one):
    """On a logarithmic axis none is left out."""
    return max(1e-5, abs(error(one)))


def within(judged, bound):
    return share(judged, lambda one: abs(error(one)) <= bound)


def share_with_estimate(judged):
    return share(judged, lambda one: one.row["capacity_kind"] == PROVEN)
