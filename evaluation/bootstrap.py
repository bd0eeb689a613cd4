# SPDX-License-Identifier: Apache-2.0
"""95 % confidence intervals by drawing whole cases anew: rows of one case are not independent."""

import numpy

from causes import CAUSES
from matching import by_case
from scores import VERDICTS, confusion, wilson

SEED = 1
ROUNDS = 2000
PERCENTS = (2.5, 97.5)


def resampled(judged):
    """Confusion matrices, one a round; and of each case."""
    tensors = []
    for of_case in by_case(judged).values():
        weights = confusion(of_case)
        tensors.append([[weights.get((truth, verdict), 0.0) for verdict in VERDICTS]
                        for truth in CAUSES])
    cases = numpy.array(tensors)
    draws = numpy.random.default_rng(SEED).multinomial(
        len(cases), numpy.full(len(cases), 1 / len(cases)), size=ROUNDS)
    return numpy.tensordot(draws, cases, axes=1), cases


def bounds(shares, seen, trials):
    """Where no draw differs nothing can be learnt from drawing: Wilson's interval then."""
    known = shares[~numpy.isnan(shares)]
    if len(known) == 0:
        return None
    low, high = numpy.percentile(known, PERCENTS)
    if high - low < 1e-9:
        return wilson(seen, trials)
    return float(low), float(high)


def precision_and_recall(judged):
    """By cause: (precision, its bounds, recall, its bounds, cases in which it was true)."""
    if not judged:
        return {}
    rounds, cases = resampled(judged)
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
