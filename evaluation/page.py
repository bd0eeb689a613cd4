# SPDX-License-Identifier: Apache-2.0
"""docs/evaluation.md out of what was measured."""

import page_measures
import page_verdicts
from markdown import code, rate, table, wrapped
from matching import NOT_RECORDED, TOO_SHORT, TRUTH_MIXED, WITHHELD
from verdicts import FLOW, INTERVAL, TAPS

HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Written by evaluation/evaluate: change evaluation/page.py and its parts instead. -->
# Evaluation

How often the verdicts are right, measured against what the kernel, the application and the path
themselves recorded. `make evaluate` measures all this and writes this page; no figure is typed by
hand. Keys in brackets are expanded in [REFERENCES.md](../flink-jobs/REFERENCES.md).
"""

TRUTH = """
## Truth

Real Linux senders and receivers talk over an emulated path ([testbed](../testbed/README.md)).
What limited a flow is not what the scenario wanted, but what was recorded, slot by slot of 20 ms:
the sender's TCP_INFO (`rwnd_limited`, `sndbuf_limited`, `busy_time`), the application's log of
when it had something to send, and the books of the bottleneck: how busy it was, with whose bytes,
and whether a queue stood. The shares of an interval are the sums of its slots, and its cause
follows from them by the rule of the verdict ([analysis.md](analysis.md)). Nothing of it is seen
by the analysis, which gets the captures alone. The simulated cases have the simulator's own books
instead.

A row counts if its truth names a cause. Each case weighs the same, however many rows it has.
`bottleneck` (the path is full, by whom cannot be told), `mixed` and `unknown` are undecided: not
wrong, but not found either, so they cost recall. Only where the path leaves no difference to see
(fair queueing, a policer) does the case itself accept the weaker answer. Ranges in brackets are
95 % confidence intervals, drawn over whole cases (bootstrap, 2,000 rounds); where no draw
differs, Wilson's.
"""


SPLIT = """\
Half of the cases was for calibration, the other half is held out; the tables are of that one unless
they say otherwise. It is not blind: the first rules were found while all cases were in view, only the
later ones and the last thresholds with the calibration half alone."""
NOT_SPLIT = """\
These cases are not split into calibration and held-out ones, so the tables are of all of them:
rules were tuned on what they are measured on."""


def cases_section(study):
    groups = {}
    for case in (*study.cases, *study.simulated_cases):
        name = case.scenario if not case.is_simulated else "simulated"
        groups.setdefault((case.is_simulated, name, case.expected), []).append(case)
    rows = []
    judged_of = {}
    for one in (*study.judged, *study.simulated):
        judged_of.setdefault(one.case, []).append(one)
    for (_, name, expected), cases in sorted(groups.items()):
        rates = [case.parameters["rate_mbit"] for case in cases]
        trips = [case.parameters["rtt_ms"] for case in cases]
        rows.append([name, code(expected), len(cases),
                     sum(case.half == "held_out" for case in cases),
                     span(rates, rate), span(trips, lambda value: f"{value:g} ms"),
                     ", ".join(sorted({case.parameters["cc"] for case in cases})),
                     sum(one.kind == INTERVAL and one.not_scored is None
                         for case in cases for one in judged_of.get(case, ()))])
    split = SPLIT if study.is_split else NOT_SPLIT
    kinds = []
    for label, judged in study.headline_and_simulated:
        for kind, plural in ((INTERVAL, "intervals"), (FLOW, "flows")):
            counts = page_verdicts.scored_counts(judged, kind)
            if counts:
                kinds.append([label, plural, *(f"{counts.get(reason, 0):,}" for reason in (
                    None, TRUTH_MIXED, WITHHELD, TOO_SHORT, NOT_RECORDED))])
    refused = f" {study.num_refused} cases did not become what their scenario promises and are " \
        "left out." if study.num_refused else ""
    return f"""
## What was measured

{len(study.cases)} cases of the testbed and {len(study.simulated_cases)} simulated ones, each with
a tap before and a tap behind the bottleneck.{refused} {split}
""" + table(["scenario", "intended cause", "cases", "held out", "rate", "round trip",
             "congestion control", "scored intervals"], rows, left=2) + f"""
Rows of flows in the direction of their data, both taps ({' and '.join(TAPS)}), and why some are
not scored:
""" + table(["", "rows", "scored", TRUTH_MIXED, WITHHELD, TOO_SHORT, NOT_RECORDED], kinds, left=2)


def span(values, text):
    low, high = text(min(values)), text(max(values))
    return low if low == high else f"{low} – {high}"


def targets_section(study):
    words = {True: "met", False: "**not met**", None: "not measured"}
    return f"""
## Targets

Measured on {study.headline_of}, at commit {study.commit}.
""" + table(["target", "measured", ""], [[target.asked, target.measured, words[target.is_met]]
                                         for target in study.targets], left=3)


def write(study):
    """The whole page; draws its figures, too."""
    body = [
        page_verdicts.headline_section(study),
        page_measures.capacity_section(study),
        page_verdicts.shares_section(study),
        page_measures.idle_section(study),
        page_verdicts.first_verdict_section(study),
        page_verdicts.scores_section(study),
        page_measures.retransmission_section(study),
        page_measures.round_trip_section(study),
        page_verdicts.confidence_section(study),
        page_verdicts.degraded_section(study),
        page_measures.cost_section(study),
        page_verdicts.misses_section(study),
    ]
    return wrapped("".join([HEAD, targets_section(study), cases_section(study), TRUTH, *body]))
