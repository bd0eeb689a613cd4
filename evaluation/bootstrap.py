# SPDX-License-Identifier: Apache-2.0
"""95 % confidence intervals by drawing whole cases anew: rows of one case are not independent."""

import numpy

from causes import CAUSES
from matching import by_case
from scores import VERDICTS, confusion, wilson

SEED = 1
ROUNDS = 2000
PERCENTS = (2.5, 97.5)


def draws(num_cases):
    """How often each case was drawn, one line a round."""
    return numpy.random.default_rng(SEED).multinomial(
        num_cases, numpy.full(num_cases, 1 / num_cases), size=ROUNDS)


def resampled(judged, by_row=False):
    """Confusion matrices, one a round; and of each case."""
    tensors = []
    for of_case in by_case(judged).values():
        weights = confusion(of_case)
        scale = len(of_case) if by_row else 1
        tensors.append([[scale * weights.get((truth, verdict), 0.0) for verdict in VERDICTS]
                        for truth in CAUSES])
    cases = numpy.array(tensors)
    return numpy.tensordot(draws(len(cases)), cases, axes=1), cases


def bounds(shares, seen, trials):
    """Where no draw differs nothing can be learnt from drawing: Wilson's interval then."""
    known = shares[~numpy.isnan(shares)]
    if len(known) == 0:
        return None
    low, high = numpy.percentile(known, PERCENTS)
    if high - low < 1e-9:
        return wilson(seen, trials)
    return float(low), float(high)


def precision_and_recall(judged, by_row=False):
    """By cause: (precision, its bounds, recall, its bounds, cases in which it was true). Each case
    weighs the same, or each row."""
    if not judged:
        return {}
    rounds, cases = resampled(judged, by_row)
    whole = cases.sum(axis=0)
    table = {}
    with numpy.errstate(invalid="ignore"):
        for i, cause in enumerate(CAUSES):
            hits = rounds[:, i, i]
            true, said = whole[i].sum(), whole[:, i].sum()
            num_true = int((cases[:, i].sum(axis=1) > 0).sum())
            num_said = int((cases[:, :, i].sum(axis=1) > 0).sum())
            recalled = whole[i, i] / true if true else None
            precise = whole[i, i] / said if said else None
            table[cause] = (
                precise,
                bounds(hits / rounds[:, :, i].sum(axis=1), precise, num_said) if said else None,
                recalled,
                bounds(hits / rounds[:, i].sum(axis=1), recalled, num_true) if true else None,
                num_true)
    return table


def ratio(parts, is_share):
    """Of [(numerator, denominator)], one a case: the ratio of the sums, and its bounds; Wilson's
    hold for shares alone, else there may be none."""
    sums = numpy.array(parts, dtype=float)
    value = sums[:, 0].sum() / sums[:, 1].sum()
    rounds = draws(len(sums)) @ sums
    with numpy.errstate(invalid="ignore"):
        shares = rounds[:, 0] / rounds[:, 1]
    if not is_share and numpy.ptp(shares) < 1e-9:
        return float(value), None
    return float(value), bounds(shares, value, len(sums))


def median_bounds(observations):
    """Of the weighted median of [(case, weight, value)]."""
    ranked = sorted(observations, key=lambda entry: entry[2])
    names = {name: number for number, name in enumerate(sorted({entry[0] for entry in ranked}))}
    owners = numpy.array([names[entry[0]] for entry in ranked])
    weights = numpy.array([entry[1] for entry in ranked])
    values = numpy.array([entry[2] for entry in ranked])
    medians = []
    for draw in draws(len(names)):
        sums = numpy.cumsum(draw[owners] * weights)
        medians.append(values[numpy.searchsorted(sums, sums[-1] / 2 - 1e-12)])
    return tuple(float(bound) for bound in numpy.percentile(medians, PERCENTS))
