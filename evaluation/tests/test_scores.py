# SPDX-License-Identifier: Apache-2.0
import unittest

import matching
import scores
from causes import APPLICATION, BOTTLENECK, SHARED, TRANSPORT, UNSHARED
from matching import RIGHT, UNSURE, WRONG, match
from timelines import MILLI, flow_row, row
from truth import Slot, SlotTruth

try:
    import bootstrap
except ImportError:
    bootstrap = None


class Case(SlotTruth):
    """One flow with one cause at a time: (cause, until ms), in order."""

    direction, interval_ms = "client_to_server", 1000

    def __init__(self, name, *phases, acceptable=()):
        self.name, self.acceptable = name, acceptable
        slots, start_ns = [], 0
        for cause, until_ms in phases:
            slots.append(Slot(start_ns, until_ms * MILLI, {cause: 1.0}))
            start_ns = until_ms * MILLI
        super().__init__({"a": slots})

    def name_of_flow(self, *ends):
        return "a" if ends == ("10.0.0.1", 1, "10.0.0.2", 2) else None


def judged(name, truth, *verdicts, confidence=0.9, acceptable=()):
    """One interval a verdict, all of the same truth."""
    case = Case(name, (truth, 1000 * len(verdicts)), acceptable=acceptable)
    return match(case, "before", [row(verdict, 1000 * i, 1000 * (i + 1), confidence=confidence)
                                  for i, verdict in enumerate(verdicts)])


class MatchingTest(unittest.TestCase):
    def test_rows_of_other_flows_and_of_acks_are_left_out(self):
        case = Case("c", (TRANSPORT, 1000))
        self.assertEqual(match(case, "before", [row(TRANSPORT, direction="server_to_client"),
                                                row(TRANSPORT, client_port=9)]), [])

    def test_says_why_a_row_is_not_scored(self):
        case = Case("c", (TRANSPORT, 1000), (APPLICATION, 2000))
        found = match(case, "before", [
            row(TRANSPORT), row("short_transfer"), row(TRANSPORT, 0, 199),
            row(TRANSPORT, 500, 1500), row(TRANSPORT, 1900, 2900),
            flow_row(TRANSPORT, start_ms=0, end_ms=100)])
        self.assertEqual([one.not_scored for one in found],
                         [None, matching.WITHHELD, matching.TOO_SHORT, matching.TRUTH_MIXED,
                          matching.NOT_RECORDED, None])

    def test_naming_a_bottleneck_but_not_whose_is_undecided(self):
        self.assertEqual([matching.outcome(verdict, SHARED) for verdict in (
            SHARED, BOTTLENECK, "mixed", "unknown", UNSHARED, TRANSPORT)],
            [RIGHT, UNSURE, UNSURE, UNSURE, WRONG, WRONG])

    def test_a_case_may_accept_the_weaker_answer(self):
        found = judged("c", SHARED, BOTTLENECK, UNSHARED, acceptable=(SHARED, BOTTLENECK))
        self.assertEqual([one.outcome for one in found], [RIGHT, WRONG])


class WeightsTest(unittest.TestCase):
    def test_each_case_weighs_the_same(self):
        found = judged("long", SHARED, *[SHARED] * 9, TRANSPORT) \
            + judged("short", SHARED, TRANSPORT)
        weights = scores.confusion(found)
        self.assertAlmostEqual(weights[SHARED, SHARED], 0.9)
        self.assertAlmostEqual(weights[SHARED, TRANSPORT], 1.1)
        self.assertAlmostEqual(scores.recall(weights, SHARED), 0.45)

    def test_precision_counts_what_was_called_so(self):
        weights = scores.confusion(judged("a", SHARED, SHARED) + judged("b", TRANSPORT, SHARED)
                                   + judged("c", TRANSPORT, TRANSPORT))
        self.assertAlmostEqual(scores.precision(weights, SHARED), 0.5)
        self.assertAlmostEqual(scores.precision(weights, TRANSPORT), 1)
        self.assertIsNone(scores.precision(weights, UNSHARED))
        self.assertIsNone(scores.recall(weights, UNSHARED))

    def test_a_part_keeps_the_weight_it_has_in_the_whole(self):
        found = judged("a", SHARED, SHARED, SHARED, SHARED, TRANSPORT) + judged("b", SHARED, SHARED)
        wrong = [one for one in found if one.outcome == WRONG]
        self.assertEqual([weight for weight, _ in matching.weighted(wrong, found)], [0.25])

    def test_quantile_of_weights(self):
        pairs = [(1, 10), (1, 30), (2, 20)]
        self.assertEqual([scores.weighted_quantile(pairs, part) for part in (0.25, 0.5, 0.76)],
                         [10, 20, 30])


class BoundsTest(unittest.TestCase):
    def test_wilson_of_all_right(self):
        low, high = scores.wilson(1.0, 10)
        self.assertAlmostEqual(low, 0.7225, places=3)
        self.assertAlmostEqual(high, 1.0)

    def test_wilson_of_the_half(self):
        low, high = scores.wilson(0.5, 100)
        self.assertAlmostEqual(low, 0.4038, places=3)
        self.assertAlmostEqual(high, 0.5962, places=3)

    @unittest.skipUnless(bootstrap, "numpy is missing")
    def test_bootstrap_draws_cases_and_gives_the_same_each_time(self):
        found = [one for i in range(30)
                 for one in judged(f"c{i}", SHARED, *[SHARED if i % 5 else TRANSPORT] * 10)]
        _, _, recalled, (low, high), num = bootstrap.precision_and_recall(found)[SHARED]
        self.assertAlmostEqual(recalled, 0.8)
        self.assertEqual(num, 30)
        # Were the 300 intervals independent, the range would be a third as wide.
        self.assertAlmostEqual(low, 0.65, delta=0.05)
        self.assertAlmostEqual(high, 0.93, delta=0.05)
        self.assertEqual(bootstrap.precision_and_recall(found)[SHARED][3], (low, high))

    @unittest.skipUnless(bootstrap, "numpy is missing")
    def test_nothing_to_draw_falls_back_on_wilson(self):
        found = [one for i in range(10) for one in judged(f"c{i}", SHARED, SHARED)]
        self.assertEqual(bootstrap.precision_and_recall(found)[SHARED][3], scores.wilson(1.0, 10))


class CalibrationTest(unittest.TestCase):
    def test_promise_and_what_was_kept(self):
        found = judged("a", SHARED, SHARED, TRANSPORT, confidence=0.95) \
            + judged("b", SHARED, BOTTLENECK, confidence=0.65) + judged("c", SHARED, "mixed")
        table = scores.reliability(found, [0, 0.5, 0.9, 1])
        self.assertEqual([number for *_, number in table], [0, 1, 2])
        self.assertEqual(table[1][:2], (0.65, 1))
        self.assertAlmostEqual(table[2][1], 0.5)
        self.assertAlmostEqual(scores.expected_calibration_error(table), (0.35 + 0.45) / 2)

    def test_the_surest_belongs_to_the_last_bin(self):
        table = scores.reliability(judged("a", SHARED, SHARED, confidence=1.0), [0, 0.5, 1])
        self.assertEqual([number for *_, number in table], [0, 1])

    def test_wrong_and_sure(self):
        found = judged("a", SHARED, SHARED, TRANSPORT, "mixed", BOTTLENECK, confidence=0.8) \
            + judged("b", SHARED, TRANSPORT, confidence=0.79)
        self.assertAlmostEqual(scores.share(found, scores.is_wrong_and_sure), 0.125)

    def test_balanced_accuracy_does_not_care_for_sizes(self):
        low, high = [(1, 0.1)], [(1, 0.5)] * 99 + [(1, 0.05)]
        self.assertAlmostEqual(scores.balanced_accuracy(low, high, 0.2), 0.995)


if __name__ == "__main__":
    unittest.main()
