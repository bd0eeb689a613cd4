# SPDX-License-Identifier: Apache-2.0
"""Of docs/evaluation.md: how often verdicts are right, how soon, and how sure they may be."""

import math
import textwrap

import bootstrap
import figures
import known_limits
import thresholds
import transmission
from causes import CAUSES, SHARED, UNSHARED
from markdown import code, figure, percent, share, share_with_bounds, table
from matching import (RIGHT, UNSURE, WRONG, by_case, flows, intervals, scored,
                      weighted)
from page_measures import weights_of
from scores import (confusion, expected_calibration_error, is_wrong_and_sure, mean, num_cases,
                    outcomes, precision, recall, reliability, share as share_of)
from targets import FIRST_VERDICT_S, SURE
from verdicts import FLOW, INTERVAL, TAPS

LISTED_BELOW = 0.9
LEAST_CAUSE_SHARE = 0.1
LEAST_OF_MISSES = 0.2
NUM_WORST = 4
KINDS = ((FLOW, "flows"), (INTERVAL, "intervals"))
PLACES = tuple((kind, tap) for kind, _ in KINDS for tap in TAPS)
EDGES = [i / 10 for i in range(11)]
SCORES = (("dispersion_score", "dispersion", (-0.1, 1), (0.2,)),
          ("retransmission_score", "retransmission", (0, 0.1), (0.01,)),
          ("receiver_window_score", "receiver window", (0, 1), (0.5,)),
          ("burstiness_score", "burstiness", (-3, 1), (0,)))


def precision_table(judged):
    rows = []
    for cause, (precise, precise_in, recalled, recalled_in, num) in \
            bootstrap.precision_and_recall(judged).items():
        rows.append([code(cause), num, share_with_bounds(precise, precise_in),
                     share_with_bounds(recalled, recalled_in)])
    return table(["cause", "cases", "precision", "recall"], rows)


def headline_section(study):
    judged = study.headline
    text = f"\n## Precision and recall, {study.headline_name}\n"
    for kind, plural in ((INTERVAL, "intervals"), (FLOW, "flows")):
        of_kind = scored(judged, kind)
        text += f"\nBy {plural}, both taps: {count(of_kind, plural)}.\n" \
            + precision_table(of_kind) + outcome_sentence(of_kind)
    panels = [(f"{plural}, tap {tap} the bottleneck", confusion(scored(judged, kind, tap)))
              for kind, plural in ((INTERVAL, "intervals"), (FLOW, "flows")) for tap in TAPS]
    figures.confusion_panels(study.figure("confusion"), panels)
    text += figure("confusion", "Confusion matrices of intervals and flows, by tap")
    for tap in TAPS:
        text += f"\nIntervals, tap {tap} the bottleneck:\n" \
            + precision_table(intervals(judged, tap))
    text += by_congestion_control(judged)
    for name, compared in study.compared:
        of_kind = intervals(compared)
        text += f"\nFor comparison the {name}, by intervals: " \
            f"{count(of_kind, 'intervals')}.\n" + precision_table(of_kind) \
            + outcome_sentence(of_kind)
    simulated = intervals(study.simulated)
    if simulated:
        text += f"\nThe simulated cases, by intervals: {count(simulated, 'intervals')}.\n" \
            + precision_table(simulated) + outcome_sentence(simulated)
    return text


def outcome_sentence(judged):
    found = outcomes(judged)
    return f"\nIn all: {percent(found[RIGHT])} right, {percent(found[UNSURE])} undecided, " \
        f"{percent(found[WRONG])} wrong.\n"


def count(judged, plural):
    return f"{len(judged):,} {plural} of {num_cases(judged)} cases"


def by_congestion_control(judged):
    controls = sorted({one.case.parameters["cc"] for one in judged})
    head = ["recall / precision", *(control for control in controls)]
    text = ""
    for tap in TAPS:
        of_tap = intervals(judged, tap)
        matrices = [confusion([one for one in of_tap if one.case.parameters["cc"] == control])
                    for control in controls]
        rows = [[code(cause), *(f"{share(recall(weights, cause))} / "
                                f"{share(precision(weights, cause))}" for weights in matrices)]
                for cause in CAUSES]
        text += f"\nBy congestion control, intervals, tap {tap} the bottleneck:\n" \
            + table(head, rows)
    return text


def shares_section(study):
    judged = [one for one in study.headline if one.kind == INTERVAL and one.shares is not None
              and one.row["share_unknown"] is not None]
    groups = {code(cause): (cause,) for cause in CAUSES}
    groups["both bottlenecks together"] = (UNSHARED, SHARED)
    rows = []
    for name, causes in groups.items():
        def error(one, causes=causes):
            return abs(sum(one.row[f"share_{cause}"] - one.shares[cause] for cause in causes))
        errors = [mean([one for one in judged if one.tap == tap], error) for tap in TAPS]
        rows.append([name, *("–" if value is None else f"{value:.4f}" for value in errors)])
    return f"""
## Shares of time

Mean of |share of the row − share of the truth| over {len(judged):,} intervals, those of mixed
truth too. The truth of `receiver_window` and `send_buffer` is the kernel's chronograph
(`rwnd_limited`, `sndbuf_limited`). Verdicts that leave time `unknown` count in full.
""" + table(["share", *(f"tap {tap}" for tap in TAPS)], rows)


def first_verdict_section(study):
    seconds = transmission.first_verdicts(study.headline)
    if not seconds:
        return "\n## The first verdict\n\nNot measured: no bulk flow.\n"
    rows = []
    for cause in CAUSES:
        members = [(one, value) for one, value in seconds if one.truth == cause]
        if members:
            rows.append([code(cause), *first_cells(members)])
    rows.append(["**all**", *first_cells(seconds)])
    return f"""
## The first verdict

From a flow's first packet to the end of its first interval with a right verdict, of
{len(seconds):,} bulk flows (3 s and 300 data packets at least). Intervals are 1 s long on
multiples of the second, so the first one is cut short, and a verdict needs 130 data packets; what
a pipeline adds until the row can be read is not in it.
""" + table(["truth of the flow", "flows", "median", "95 % within", f"within {FIRST_VERDICT_S} s",
             "never"], rows)


def soon_share(seconds):
    by_name = {}
    for one, value in seconds:
        by_name.setdefault(one.case.name, []).append(value is not None and value <= FIRST_VERDICT_S)
    return sum(sum(values) / len(values) for values in by_name.values()) / len(by_name)


def first_cells(members):
    values = sorted(float("inf") if value is None else value for _, value in members)
    later = values[math.ceil(0.95 * len(values)) - 1]
    return [len(values), f"{values[len(values) // 2]:.2f} s",
            "never" if later == float("inf") else f"{later:.2f} s", percent(soon_share(members)),
            sum(value is None for _, value in members)]


def scores_section(study):
    judged = intervals(study.headline)
    panels = []
    for column, title, limits, marks in SCORES:
        series = []
        for cause in CAUSES:
            known = [one for one in judged if one.truth == cause and one.row[column] is not None]
            series.append((figures.name_of(cause),
                           weights_of(known, lambda one, column=column: one.row[column], judged),
                           figures.of_cause(cause)))
        panels.append((title, "score", series, limits, "linear", marks))
    figures.distributions(study.figure("scores"), panels, "share of intervals")
    curves, rows = [], []
    for question in thresholds.QUESTIONS:
        series = []
        for tap in TAPS:
            accuracy = question.accuracy([one for one in judged if one.tap == tap])
            if not accuracy:
                continue
            series.append((f"tap {tap}", list(accuracy), list(accuracy.values())))
            best = max(accuracy, key=accuracy.get)
            used = ", ".join(f"{mark:g}: {accuracy[mark]:.3f}" for mark in question.used)
            rows.append([question.name, tap, f"{question.published:g}",
                         share(accuracy[question.published]), used or "–",
                         f"{best:.3g}", share(accuracy[best])])
        marks = {"published": question.published}
        marks.update({f"used, {name}": mark for name, mark in zip(("low", "high"), question.used)})
        curves.append((question.name, question.column.replace("_", " "), series, marks,
                       "log" if question.is_logarithmic else "linear"))
    figures.curves(study.figure("thresholds"), curves)
    return """
## The four scores

Distributions over intervals by what was true, each case weighing the same (compare [BAU20 Fig.
6]; dotted: the thresholds of the published tree, that of the burstiness score in its corrected
unit). Scores that need a capacity are there only where one was proven.
""" + figure("scores", "Distributions of the four scores by true cause") + """
What a single threshold on one score could do between two classes (balanced accuracy: the mean of
both classes' recall):
""" + table(["classes", "tap", "published", "accuracy", "used: accuracy", "best here", "accuracy"],
            rows, left=2) \
        + figure("thresholds", "Balanced accuracy by threshold") + published_tree(judged)


def published_tree(judged):
    rows = []
    for cause in CAUSES:
        members = [one for one in judged if one.truth == cause]
        if not members:
            continue
        answered = [one for one in members if one.row["rca_cause"] is not None]

        def part(holds, of=members):
            return percent(share_of(of, holds, judged))
        rows.append([
            code(cause), len(members), part(lambda one: one.verdict == one.truth),
            part(lambda one: one.outcome == WRONG),
            part(lambda one: one.row["rca_cause"] is not None),
            part(lambda one: one.row["rca_cause"] == one.truth),
            part(lambda one: one.row["rca_cause"] == one.truth, answered),
            part(lambda one: one.row["rca_cause"] not in (None, "mixed", one.truth))])
    return """
The published decision tree [BAU21 Fig. 3] on the same scores (`rca_cause`), beside `root_cause`,
over the same intervals. The tree was made for bulk transfers and has no leaf for the application
or the send buffer.
""" + table(["truth", "intervals", "root_cause right", "wrong", "tree answers", "tree right",
             "right of its answers", "tree wrong"], rows)


def confidence_section(study):
    series, rows = [], []
    for kind, plural in ((INTERVAL, "intervals"), (FLOW, "flows")):
        judged = scored(study.headline, kind)
        found = reliability(judged, EDGES)
        series.append((plural, found))
        for low, high, (promised, kept, weight, number) in zip(EDGES, EDGES[1:], found):
            if number:
                rows.append([plural, f"{low:.1f}–{high:.1f}", number, share(promised),
                             share(kept)])
    figures.reliability_diagram(study.figure("reliability"), series)
    judged = intervals(study.headline)
    errors = [expected_calibration_error(found) for _, found in series]
    lines = [[tap, percent(share_of(intervals(judged, tap), is_wrong_and_sure), 2),
              percent(share_of(flows(study.headline, tap), is_wrong_and_sure), 2)] for tap in TAPS]
    return f"""
## What the confidence is worth

Of verdicts that name a cause: the confidence they promised and the share that was right
(`bottleneck` is right of both kinds). Expected calibration error: {share(errors[0])} by
intervals, {share(errors[1])} by flows.
""" + table(["", "confidence", "rows", "mean confidence", "right"], rows, left=2) \
        + figure("reliability", "Reliability diagram, bins of ten rows at least") + f"""
Wrong with confidence ≥ {SURE}, of all scored:
""" + table(["tap", "intervals", "flows"], lines)


def degraded_section(study):
    if not study.degraded:
        return "\n## Worse taps\n\nNot measured: this run had no captures degraded.\n"
    bars, rows = [], []
    names = {case.name for case in study.degraded_cases}
    plain = [one for one in study.draw.judged if one.case.name in names]
    for name, judged in {"as captured": plain, **study.degraded}.items():
        of_kind = intervals(judged)
        found = outcomes(of_kind)
        if of_kind:
            bars.append((name, found))
        of_flows = outcomes(flows(judged))
        rows.append([name, study.variants.get(name, ""), len(of_kind),
                     *(percent(found[outcome]) for outcome in (RIGHT, UNSURE, WRONG)),
                     percent(share_of(of_kind, is_wrong_and_sure), 2),
                     percent(of_flows[RIGHT]), percent(of_flows[WRONG])])
    figures.stacked_bars(study.figure("worse-taps"), bars)
    return f"""
## Worse taps

The same flows as worse taps would have seen them (`testbed/degrade`): {len(study.degraded_cases)}
cases of the {study.headline_name} drawn at random, of its held-out half if there is one, as many of
each cause as can be, at both taps. What a tap misses should make a verdict undecided, not wrong: the
two columns of wrong ones tell how far that is reached. Where no interval was scored none was judged.
""" + table(["variant", "what the tap does", "intervals", "right", "undecided", "wrong",
             f"wrong, ≥ {SURE}", "flows right", "flows wrong"], rows, left=2) \
        + figure("worse-taps", "Outcomes by variant")


def misses_section(study):
    notes = {}
    parts = []
    for title, judged in study.headline_and_simulated:
        rows = misses(judged, notes)
        if rows:
            parts.append(f"\n### {title.capitalize()}\n" + table(
                ["scenario", "truth", "cases", *(f"{plural}, {tap}" for _, plural in KINDS
                                                 for tap in TAPS),
                 "called instead, of intervals", "worst cases", "reason"], rows, left=2))
    if not parts:
        return "\n## Where it fails\n\n" \
            f"No scenario has a recall below {LISTED_BELOW} of any cause.\n"
    reasons = "".join("\n" + textwrap.fill(f"{number}. {text}", 120, subsequent_indent="   ")
                      for text, number in notes.items())
    return f"""
## Where it fails

Every scenario and cause with a recall below {LISTED_BELOW}, by intervals or by flows, at one tap at
least, if that cause has a tenth of the scenario's rows; in it the cases with the least recall. All
else was found. Simulated cases go by the first word of their names. Numbers name the reason, below, of
what a fifth of the misses or more are called instead. The reasons were found by reading rows and
captures of the calibration draw; `?` stands where none was found.
""" + "".join(parts) + (f"\nReasons:\n{reasons}\n" if notes else "")


def group_of(case):
    return case.scenario.split("-")[0] if case.is_simulated else case.scenario


class Cell:
    """Of a kind of row, at a tap, in a scenario: how much of a true cause was found."""

    def __init__(self, members, true, weights):
        self.true = true
        self.total = sum(weights[id(one)] for one in true)
        whole = sum(weights[id(one)] for one in members)
        right = sum(weights[id(one)] for one in true if one.outcome == RIGHT)
        self.counts = bool(true) and self.total >= LEAST_CAUSE_SHARE * whole
        self.recall = right / self.total if self.counts else None
        self.instead = {}
        for one in true:
            if one.outcome != RIGHT:
                self.instead[one.verdict] = self.instead.get(one.verdict, 0) \
                    + weights[id(one)] / self.total

    @property
    def is_missed(self):
        return self.counts and self.recall < LISTED_BELOW


def misses(judged, notes):
    """Rows of the table; reasons that apply get their numbers in `notes`."""
    groups = {}
    for kind, _ in KINDS:
        of_kind = scored(judged, kind)
        weights = {id(one): weight for weight, one in weighted(of_kind)}
        for one in of_kind:
            groups.setdefault(group_of(one.case), {}).setdefault((kind, one.tap), []).append(one)
        for by_place in groups.values():
            for tap in TAPS:
                members = by_place.get((kind, tap), [])
                by_place[kind, tap] = {
                    cause: Cell(members, [one for one in members if one.truth == cause], weights)
                    for cause in CAUSES}
    rows = []
    for group, by_place in sorted(groups.items()):
        for cause in CAUSES:
            cells = {place: by_place[place][cause] for place in PLACES}
            if any(cell.is_missed for cell in cells.values()):
                rows.append(miss_row(group, cause, cells, notes))
    return rows


def miss_row(group, cause, cells, notes):
    numbers, unknown = set(), False
    for (_, tap), cell in cells.items():
        misses_in_all = sum(cell.instead.values())
        for called, part in cell.instead.items():
            if cell.is_missed and part >= LEAST_OF_MISSES * misses_in_all:
                text = known_limits.reason(group, cause, called, tap)
                if text:
                    numbers.add(notes.setdefault(text, len(notes) + 1))
                unknown = unknown or not text
    instead = {}
    of_intervals = [cells[INTERVAL, tap] for tap in TAPS]
    total = sum(cell.total for cell in of_intervals) or 1
    for cell in of_intervals:
        for called, part in cell.instead.items():
            instead[called] = instead.get(called, 0) + part * cell.total / total
    true = [one for cell in of_intervals for one in cell.true]
    return [group, code(cause), num_cases([one for cell in cells.values() for one in cell.true]),
            *(share(cell.recall) for cell in cells.values()),
            ", ".join(f"{called} {percent(part, 0)}" for called, part in
                      sorted(instead.items(), key=lambda item: -item[1]) if part >= 0.005),
            worst_cases(true),
            ", ".join([*map(str, sorted(numbers)), *(["?"] if unknown else [])])]


def worst_cases(true):
    found = sorted((sum(one.outcome == RIGHT for one in ones) / len(ones), name)
                   for name, ones in by_case(true).items())
    return ", ".join(f"{name} {value:.2f}" for value, name in found[:NUM_WORST]
                     if value < LISTED_BELOW)


def scored_counts(judged, kind):
    """By reason, the number of rows that are not scored; and how many are."""
    counts = {}
    for one in judged:
        if one.kind == kind:
            counts[one.not_scored] = counts.get(one.not_scored, 0) + 1
    return counts


