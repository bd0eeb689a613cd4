# SPDX-License-Identifier: Apache-2.0
"""What is asked of the verdicts, and what was measured of it, counted in more ways than one."""

from dataclasses import dataclass

import bootstrap
import capacity
import transmission
from causes import APPLICATION
from markdown import percent, share_with_bounds
from matching import intervals, scored, weighted
from scores import is_wrong_and_sure, weighted_quantile
from truth import ALSO_RIGHT
from verdicts import FLOW, INTERVAL, TAPS

LEAST_OF_CLASS = 0.95
FIRST_VERDICT_S = 2
FIRST_VERDICT_SHARE = 0.95
CAPACITY = ((0.03, 0.90), (0.05, 0.97), (0.10, 0.99))
MOST_IDLE_ERROR = 0.03
LEAST_FOUND = 0.99
MOST_REORDERED = 0.001
MOST_ROUND_TRIP_ERROR = 0.02
SURE = 0.8
MOST_WRONG_AND_SURE = 0.02


@dataclass
class Observation:
    """A value of a row, and what it weighs if each case weighs the same."""

    one: object
    weight: float
    value: float = 0.0


@dataclass
class Measured:
    """`is_met` is None if there was nothing to measure it on."""

    text: str
    is_met: bool

    def __post_init__(self):
        if self.is_met is not None:
            self.is_met = bool(self.is_met)  # that of a comparison of NumPy is never False itself

    def __str__(self):
        return f"**{self.text}**" if self.is_met is False else self.text


NOTHING = Measured("nothing to measure", None)


@dataclass
class Target:
    """`observe(rows)` gives observations, `measure(observations, by_row)` what to say of them.
    Bytes weigh what they are, whatever the case."""

    asked: str
    observe: object
    measure: object
    is_of_bytes: bool = False

    def of(self, observations, by_row=False):
        if not observations:
            return NOTHING
        if by_row:
            if self.is_of_bytes:
                return Measured("–", None)
            observations = [Observation(one.one, 1.0, one.value) for one in observations]
        return self.measure(observations, by_row)


def sums_by_case(observations):
    """[(Σ weight · value, Σ weight)]."""
    sums = {}
    for one in observations:
        total, weight = sums.get(one.one.case.name, (0.0, 0.0))
        sums[one.one.case.name] = total + one.weight * one.value, weight + one.weight
    return list(sums.values())


def mean_measure(text, holds, is_share=True):
    """A Measured from the mean of the values; `text` makes words of a value and its bounds."""
    def measure(observations, _by_row):
        value, bounds = bootstrap.ratio(sums_by_case(observations), is_share)
        return Measured(text(value, bounds), holds(value))
    return measure


def percents(digits):
    def text(value, bounds):
        said = percent(value, digits)
        return f"{said} ({100 * bounds[0]:.{digits}f}–{100 * bounds[1]:.{digits}f})" if bounds \
            else said
    return text


def plain(value, bounds):
    return f"{value:.4f} ({bounds[0]:.4f}–{bounds[1]:.4f})" if bounds else f"{value:.4f}"


def of_rows(rows, value, among=None):
    return [Observation(one, weight, float(value(one))) for weight, one in weighted(rows, among)]


def class_target(kind, plural):
    """Precision and recall of each class that was there."""
    def observe(judged):
        return of_rows(scored(judged, kind), lambda one: 0)

    def measure(observations, by_row):
        found = bootstrap.precision_and_recall([one.one for one in observations], by_row)
        classes = [(value or 0, bounds, f"{what} of {cause}")
                   for cause, entry in found.items() if entry[2] is not None
                   for value, bounds, what in ((*entry[:2], "precision"), (*entry[2:4], "recall"))]
        num_met = sum(value >= LEAST_OF_CLASS for value, *_ in classes)
        value, bounds, what = min(classes, key=lambda entry: entry[0])
        return Measured(f"{num_met} of {len(classes)}; least: {share_with_bounds(value, bounds)}, "
                        f"{what}", num_met == len(classes))
    return Target(f"precision and recall of each class at least {LEAST_OF_CLASS}, by {plural}",
                  observe, measure)


def capacity_target(bound, least):
    return Target(
        f"proven capacity within {percent(bound, 0)} for {percent(least, 0)} of estimates",
        lambda judged: of_rows(capacity.estimates(judged),
                               lambda one: abs(capacity.error(one)) <= bound),
        mean_measure(percents(1), lambda value: value >= least))


def idle_error(one):
    return abs(one.row["share_application"] - one.shares[APPLICATION])


def with_idle_share(judged):
    return [one for one in intervals(judged) if one.row["share_application"] is not None]


def observe_idle(judged):
    return of_rows(with_idle_share(judged), idle_error)


def observe_idle_of_application(judged):
    known = with_idle_share(judged)
    return of_rows([one for one in known if one.truth == APPLICATION], idle_error, known)


def observe_first_verdicts(counts):
    def observe(judged):
        seconds = transmission.first_verdicts(judged, counts)
        lookup = {id(one): value for one, value in seconds}
        return of_rows([one for one, _ in seconds], lambda one: lookup[id(one)] is not None
                       and lookup[id(one)] <= FIRST_VERDICT_S)
    return observe


def observe_resent(tap):
    return lambda judged: [
        Observation(one.one, one.passed_bytes,
                    min(one.called_bytes, one.passed_bytes) / one.passed_bytes)
        for one in transmission.resent(judged) if one.one.tap == tap and one.passed_bytes]


def observe_reordered(judged):
    return [Observation(one.one, one.sent_bytes, one.false_share)
            for one in transmission.resent(judged) if one.is_only_reordered]


def observe_round_trips(judged):
    errors = transmission.round_trips(judged)
    lookup = {id(one): abs(error) for one, error in errors}
    return of_rows([one for one, _ in errors], lambda one: lookup[id(one)])


def measure_round_trips(observations, _by_row):
    median = weighted_quantile([(one.weight, one.value) for one in observations], 0.5)
    bounds = bootstrap.median_bounds([(one.one.case.name, one.weight, one.value)
                                      for one in observations])
    return Measured(percents(2)(median, bounds), median <= MOST_ROUND_TRIP_ERROR)


TARGETS = (
    class_target(INTERVAL, "intervals"),
    class_target(FLOW, "flows"),
    *(capacity_target(bound, least) for bound, least in CAPACITY),
    *(Target(f"application's idle share: mean error at most {MOST_IDLE_ERROR}, {among}", observe,
             mean_measure(plain, lambda value: value <= MOST_IDLE_ERROR, is_share=False))
      for among, observe in (("all intervals", observe_idle),
                             ("those it limits", observe_idle_of_application))),
    *(Target(f"first {word}verdict within {FIRST_VERDICT_S} s of a bulk flow's start, for "
             f"{percent(FIRST_VERDICT_SHARE, 0)}", observe_first_verdicts(counts),
             mean_measure(percents(1), lambda value: value >= FIRST_VERDICT_SHARE))
      for word, counts in (("", transmission.names_a_cause),
                           ("right ", transmission.is_right))),
    *(Target(f"retransmissions: {percent(LEAST_FOUND, 0)} of the bytes that passed found, tap "
             f"{tap}", observe_resent(tap),
             mean_measure(percents(2), lambda value: value >= LEAST_FOUND, is_share=False),
             is_of_bytes=True) for tap in TAPS),
    Target(f"reordering without loss: less than {percent(MOST_REORDERED)} called retransmission",
           observe_reordered, mean_measure(percents(3), lambda value: value < MOST_REORDERED,
                                           is_share=False), is_of_bytes=True),
    Target(f"round trip: median error at most {percent(MOST_ROUND_TRIP_ERROR, 0)}",
           observe_round_trips, measure_round_trips),
    Target(f"intervals wrong with confidence ≥ {SURE}: less than {percent(MOST_WRONG_AND_SURE, 0)}",
           lambda judged: of_rows(intervals(judged), is_wrong_and_sure),
           mean_measure(percents(2), lambda value: value < MOST_WRONG_AND_SURE)),
)


def is_decidable(case):
    """Whether one flow at one tap can show its cause at all."""
    return case.scenario not in ALSO_RIGHT


def measure(study):
    """(target, its Measured of the headline, the others by the name of what is counted)."""
    found = []
    for target in TARGETS:
        headline = target.observe(study.headline)
        others = {"each row the same": target.of(headline, by_row=True),
                  "without " + " and ".join(sorted(ALSO_RIGHT)): target.of(
                      [one for one in headline if is_decidable(one.one.case)])}
        for name, judged in study.compared:
            others[name] = target.of(target.observe(judged))
        found.append((target, target.of(headline), others))
    return found
