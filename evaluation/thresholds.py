# SPDX-License-Identifier: Apache-2.0
"""Where a threshold on one score would part two classes best."""

import math

from causes import RECEIVER_WINDOW, SHARED, TRANSPORT, UNSHARED
from matching import by_case
from scores import balanced_accuracy

STEPS = 100


class Question:
    """Which cause of two, by a score: `low` at or below the threshold, `high` above."""

    def __init__(self, name, column, low, high, least, most, is_logarithmic, published, used):
        self.name, self.column, self.low, self.high = name, column, low, high
        self.least, self.most, self.is_logarithmic = least, most, is_logarithmic
        self.published, self.used = published, used

    def thresholds(self):
        if self.is_logarithmic:
            first, last = math.log(self.least), math.log(self.most)
            return [math.exp(first + (last - first) * i / STEPS) for i in range(STEPS + 1)]
        return [self.least + (self.most - self.least) * i / STEPS for i in range(STEPS + 1)]

    def pairs(self, judged, causes):
        """(weight, score) of intervals with such a truth and with the score."""
        known = [one for one in judged if one.truth in causes and one.row[self.column] is not None]
        return [(1 / len(of_case), one.row[self.column]) for of_case in by_case(known).values()
                for one in of_case]

    def accuracy(self, judged):
        """{threshold: balanced accuracy}; empty without both classes."""
        low, high = self.pairs(judged, self.low), self.pairs(judged, self.high)
        if not low or not high:
            return {}
        marks = [mark for mark in (self.published, *self.used) if mark is not None]
        return {threshold: balanced_accuracy(low, high, threshold)
                for threshold in sorted({*self.thresholds(), *marks})}


# th1 to th3 of the published tree [BAU21 Fig. 3]; used are the clear borders of docs/analysis.md.
QUESTIONS = (
    Question("unshared (low) or shared", "dispersion_score", (UNSHARED,), (SHARED,), 0, 0.6, False,
             0.2, (0.05, 0.15)),
    Question("transport, receiver window (low) or shared", "retransmission_score",
             (TRANSPORT, RECEIVER_WINDOW), (SHARED,), 1e-4, 0.2, True, 0.01, ()),
    Question("transport, shared (low) or receiver window", "receiver_window_score",
             (TRANSPORT, SHARED), (RECEIVER_WINDOW,), 0, 1, False, 0.5, ()),
)
