# SPDX-License-Identifier: Apache-2.0
"""docs/evaluation.md out of what was measured."""

import page_measures
import page_verdicts
from markdown import code, percent, rate, table, wrapped
from matching import (NOT_RECORDED, RIGHT, TOO_SHORT, TRUTH_MIXED, UNSURE, WITHHELD, WRONG)
from targets import LEAST_OF_CLASS
from truth import ALSO_RIGHT
from verdicts import FLOW, INTERVAL, TAPS

HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Written by evaluation/evaluate: change evaluation/page.py and its parts instead. -->
# Evaluation

How often the verdicts are right, measured against what the kernel, the application and the path
themselves recorded. `make evaluate` measures all this and writes this page; no measured figure is
typed by hand. Keys in brackets are expanded in [REFERENCES.md](../flink-jobs/REFERENCES.md).
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

VALIDITY = """
### What all this does not show

The cases were chosen by those who wrote the rules, and the ranges draw among these cases: they tell
how far a figure hangs on which of them were run, not how other traffic would fare. Real stacks were
measured up to 200 Mbit/s, with three congestion controls of one Linux kernel, on one emulated
bottleneck at a time, for some ten seconds a flow, and without wireless links: a link that sends many
frames at once, as Wi-Fi and LTE do, is taken for a fast one that others fill. What is faster comes
from the simulator, whose senders and whose truth are of the same hands as the analysis.

A run counts only if its scenario came about, so cases in which several causes balance are rarer here
than in life. Truth and verdict share their definitions, the six causes and the rule from shares to a
cause: an operator with other words would count otherwise. How much hangs on the numbers in them is
seen by moving the thresholds.
"""
# Of about.json, and its column.
ABOUT = {"repeated": "repeated", "seed_offset": "seeds +", "recorded": "recorded",
         "kernel": "kernel", "cpus": "CPUs", "commit": "testbed at commit"}
PROOF = """\
The cases of the testbed were run twice. Rules and thresholds were found on the *calibration draw*.
The *proof draw* is the same list of cases with other seeds: other addresses and ports, other losses,
jitter and reordering, another timing of all; it was scored to write this page and nothing was tuned
on it. (It was scored twice: the rules for the time between two full windows and for shorter foreign
packets came after the first score was read, though from cases of the calibration draw.) Rates, round trips and buffers are the same in both, so half of the cases was held out of
tuning, the same half in both draws: the *held-out half of the proof draw* tells of cases whose
parameters nobody tuned on, in a draw that nobody looked at. (The first rules of all were found
while both halves were in view.) Unless they say otherwise the tables are of all cases of the proof draw;
the simulated cases are one draw, in view since the rules were found."""
SPLIT = """\
There is one draw, and half of its cases was for calibration, the other half is held out; the tables
are of that one unless they say otherwise. It is not blind: the first rules were found while all
cases were in view, only the later ones and the last thresholds with the calibration half alone.
`make proof` makes a draw that nobody has looked at."""
NOT_SPLIT = """\
These cases are not split into calibration and held-out ones, so the tables are of all of them:
rules were tuned on what they are measured on."""


def cases_section(study):
    groups = {}
    for case in (*study.draw.cases, *study.simulated_cases):
        name = case.scenario if not case.is_simulated else "simulated"
        groups.setdefault((case.is_simulated, name, case.expected), []).append(case)
    rows = []
    judged_of = {}
    for one in (*study.draw.judged, *study.simulated):
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
    kinds = []
    for label, judged in study.headline_and_simulated:
        for kind, plural in ((INTERVAL, "intervals"), (FLOW, "flows")):
            counts = page_verdicts.scored_counts(judged, kind)
            if counts:
                kinds.append([label, plural, *(f"{counts.get(reason, 0):,}" for reason in (
                    None, TRUTH_MIXED, WITHHELD, TOO_SHORT, NOT_RECORDED))])
    split = PROOF if study.proof else SPLIT if study.is_split else NOT_SPLIT
    return f"""
## What was measured

{len(study.draw.cases)} cases of the testbed and {len(study.simulated_cases)} simulated ones, each
with a tap before and a tap behind the bottleneck. {split}
""" + draws_table(study) + f"""
What each scenario does tells [testbed/README.md](../testbed/README.md); here the cases of the
{study.draw_name}:
""" + table(["scenario", "intended cause", "cases", "held out", "rate", "round trip",
             "congestion control", "scored intervals"], rows, left=2) + f"""
Rows of flows in the direction of their data, both taps ({' and '.join(TAPS)}), and why some are
not scored:
""" + table(["", "rows", "scored", TRUTH_MIXED, WITHHELD, TOO_SHORT, NOT_RECORDED], kinds, left=2)


def draws_table(study):
    """Where the testbed's draws come from; older ones do not tell it all."""
    rows = []
    names = {case.name for _, draw in study.draws for case in draw.cases}
    missing = {name: sorted(names - {case.name for case in draw.cases})
               for name, draw in study.draws}
    for name, draw in study.draws:
        rows.append([name, len(draw.cases), draw.num_refused + len(missing[name]),
                     *(draw.about.get(key, "not recorded") for key in ABOUT)])
    text = "\nA run that did not become what its scenario promises, by the books of kernel and " \
        "path, was repeated twice, then refused; no verdict is asked for that.\n" \
        + table(["draw", "cases", "refused", *ABOUT.values()], rows)
    for name, of_draw in missing.items():
        if of_draw:
            text += f"\nMissing in the {name} draw, but in the other: {', '.join(of_draw)}.\n"
    return text


def span(values, text):
    low, high = text(min(values)), text(max(values))
    return low if low == high else f"{low} – {high}"


def targets_section(study, measured):
    words = {True: "met", False: "**not met**", None: "not measured"}
    others = list(measured[0][2])
    return f"""
## Targets

Measured on {study.headline_of}, at commit {study.commit}; in brackets the range of 95 %, unless all
draws of cases say the same. What was measured decides whether a target is met, not the range.
""" + table(["target", "measured", ""], [[target.asked, found.text, words[found.is_met]]
                                         for target, found, _ in measured], left=3) + f"""
The same, counted otherwise; **bold** does not meet the target. Above each case weighs the same,
however many rows it has; *each row the same* lets long and many flows weigh more. Of
{" and ".join(sorted(ALSO_RIGHT))} one flow at one tap cannot show the whole cause, whatever the
rule (a fair queue is a link of its own, a policer drops without a queue): they count above, and are
left out in the column that says so.
""" + table(["target", *others], [[target.asked, *(by_name[name] for name in others)]
                                  for target, _, by_name in measured], left=1 + len(others))


def sensitivity_section(study):
    if not study.sensitivity:
        return ""
    usual = study.sensitivity[None]
    rows = [["as it is", "", "", *effect_cells(usual)]]
    for move, effect in study.sensitivity.items():
        if move:
            rows.append([move.what, f"{move.value:g}", f"{move.percent:+d} %",
                         *effect_cells(effect)])
    least = min(effect.outcomes[RIGHT] for effect in study.sensitivity.values())
    most = max(effect.outcomes[RIGHT] for effect in study.sensitivity.values())
    return f"""
### What hangs on the truth's own thresholds

The books say how busy a link was; from where on that is *full* is a choice. Each threshold of
`evaluation/truth.py` was moved alone, one that is a share near 1 by what it leaves to 1, and the
same rows set beside the truth of then ({study.headline_name}, intervals). *Another truth* is the
share of scored intervals whose cause changes or becomes mixed. Right are {percent(least)} to
{percent(most)} of the intervals, {percent(usual.outcomes[RIGHT])} as it is.
""" + table(["threshold", "moved to", "by", "another truth", "right", "undecided", "wrong",
             "classes ≥ 0.95", "least"], rows, left=3)


def effect_cells(effect):
    value, (what, cause) = min((value, key) for key, value in effect.classes.items())
    met = sum(value >= LEAST_OF_CLASS for value in effect.classes.values())
    return [percent(effect.changed, 2),
            *(percent(effect.outcomes[name]) for name in (RIGHT, UNSURE, WRONG)),
            f"{met} of {len(effect.classes)}", f"{value:.3f}, {what} of {cause}"]


def write(study, measured):
    """The whole page, with the targets measured; draws its figures, too."""
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
    return wrapped("".join([HEAD, targets_section(study, measured), cases_section(study), TRUTH,
                            sensitivity_section(study), VALIDITY, *body]))
