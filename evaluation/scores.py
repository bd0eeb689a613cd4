# SPDX-License-Identifier: Apache-2.0
"""Precision, recall and calibration, each case weighing the same."""

import bisect
import math

from causes import BOTTLENECK, CAUSES, MIXED, UNKNOWN
from matching import RIGHT, UNSURE, WRONG, by_case, weighted

VERDICTS = (*CAUSES, BOTTLENECK, MIXED, UNKNOWN)
# Of a normal distribution: 95 % lie within.
Z = 1.959964


def confusion(judged):
    """{(truth, verdict): weight}; the weights of a case sum to 1."""
    weights = {}
    for weight, one in weighted(judged):
        key = (one.truth, one.verdict)
        weights[key] = weights.get(key, 0.0) + weight
    return weights


def recall(weights, cause):
    """Of the time that was the cause's, what was called so; None if there was none."""
    total = sum(weight for (truth, _), weight in weights.items() if truth == cause)
    return weights.get((cause, cause), 0.0) / total if total else None


def precision(weights, cause):
    """Of what was called the cause, what was so; None if nothing was called so."""
    total = sum(weight for (_, verdict), weight in weights.items() if verdict == cause)
    return weights.get((cause, cause), 0.0) / total if total else None


def wilson(share, trials):
    """The 95 % interval of a share that was seen in so many trials."""
    if not trials:
        return 0.0, 1.0
    middle = share + Z * Z / (2 * trials)
    half = Z * math.sqrt(share * (1 - share) / trials + Z * Z / (4 * trials * trials))
    scale = 1 + Z * Z / trials
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def outcomes(judged):
    """Share of each outcome; None without rows."""
    sums = dict.fromkeys((RIGHT, UNSURE, WRONG), 0.0)
    for weight, one in weighted(judged):
        sums[one.outcome] += weight
    total = sum(sums.values())
    return {name: value / total if total else None for name, value in sums.items()}


def share(judged, holds, among=None):
    """Of the cases' rows, those of which `holds` is true; None without rows."""
    pairs = weighted(judged, among)
    total = sum(weight for weight, _ in pairs)
    return sum(weight for weight, one in pairs if holds(one)) / total if total else None


def mean(judged, value, among=None):
    """Mean of `value`, each case weighing the same; None without rows."""
    pairs = weighted(judged, among)
    total = sum(weight for weight, _ in pairs)
    return sum(weight * value(one) for weight, one in pairs) / total if total else None


def is_wrong_and_sure(one, least=0.8):
    return one.outcome == WRONG and one.confidence is not None and one.confidence >= least


def reliability(judged, edges):
    """By bins of confidence: (mean confidence, share right, weight, number). Verdicts that name no
    cause promise nothing and are left out; `bottleneck` is right of both kinds."""
    named = [one for one in judged if names_cause(one)]
    bins = [[] for _ in edges[1:]]
    for weight, one in weighted(named):
        place = min(bisect.bisect_right(edges, one.confidence), len(bins)) - 1
        bins[place].append((weight, one))
    table = []
    for members in bins:
        total = sum(weight for weight, _ in members)
        table.append((
            sum(weight * one.confidence for weight, one in members) / total,
            sum(weight for weight, one in members if one.outcome != WRONG) / total,
            total, len(members)) if members else (None, None, 0.0, 0))
    return table


def names_cause(one):
    return one.confidence is not None and one.row["root_cause"] in (*CAUSES, BOTTLENECK)


def expected_calibration_error(table):
    total = sum(weight for _, _, weight, _ in table)
    return sum(weight * abs(promised - kept) for promised, kept, weight, _ in table
               if weight) / total if total else None


def quantile(values, share_below):
    """Of values; linear between them."""
    ranked = sorted(values)
    place = share_below * (len(ranked) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ranked) - 1)
    return ranked[low] + (place - low) * (ranked[high] - ranked[low])


def weighted_quantile(pairs, share_below):
    """Of (weight, value): the least value up to which so much of the weight lies."""
    ranked = sorted(pairs, key=lambda pair: pair[1])
    needed = share_below * sum(weight for weight, _ in ranked) - 1e-12
    so_far = 0.0
    for weight, value in ranked:
        so_far += weight
        if so_far >= needed:
            return value
    return None


def balanced_accuracy(positive, negative, threshold):
    """Mean of the shares of both classes on their side: `positive` at or below the threshold. Both
    are lists of (weight, value)."""
    def below(pairs):
        return sum(weight for weight, value in pairs if value <= threshold) \
            / sum(weight for weight, _ in pairs)
    return (below(positive) + 1 - below(negative)) / 2


def num_cases(judged):
    return len(by_case(judged))
