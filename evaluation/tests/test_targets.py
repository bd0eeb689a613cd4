# SPDX-License-Identifier: Apache-2.0
import unittest
from pathlib import Path

from causes import SHARED, TRANSPORT
from matching import match
from test_scores import Case
from timelines import row

try:
    import bootstrap
    import targets
except ImportError:
    targets = None

SECONDS = 20


def shared_case(name, num_right, num_rows, scenario="shared", confidence=0.9, half="held_out"):
    """A case of one truth, of whose intervals so many are called so."""
    case = Case(name, (SHARED, 1000 * SECONDS))
    case.scenario, case.half, case.parameters = scenario, half, {}
    return match(case, "before", [
        row(SHARED if i < num_right else TRANSPORT, 1000 * i, 1000 * (i + 1), confidence=confidence,
            share_application=None, capacity_kind=None, data_bytes=None, rtt_p50_seconds=None)
        for i in range(num_rows)])


def target(start):
    return next(one for one in targets.TARGETS if one.asked.startswith(start))


@unittest.skipUnless(targets, "numpy is missing")
class TargetsTest(unittest.TestCase):
    def test_a_case_weighs_the_same_or_a_row_does(self):
        asked = target("intervals wrong")
        seen = asked.observe(shared_case("long", 18, 20) + shared_case("short", 1, 2))
        self.assertEqual(asked.of(seen).text.split(" (")[0], "30.00 %")
        self.assertEqual(asked.of(seen, by_row=True).text.split(" (")[0], "13.64 %")
        self.assertIs(asked.of(seen).is_met, False)

    def test_what_is_not_met_is_bold(self):
        asked = target("precision and recall")
        self.assertRegex(str(asked.of(asked.observe(shared_case("half", 10, 20)))), r"^\*\*.*\*\*$")

    def test_precision_and_recall_too(self):
        asked = target("precision and recall")
        seen = asked.observe(shared_case("long", 18, 20) + shared_case("short", 1, 2))
        self.assertIn("1 of 2; least: 0.700", asked.of(seen).text)
        self.assertIn("1 of 2; least: 0.864", asked.of(seen, by_row=True).text)

    def test_without_observations_a_target_is_not_measured(self):
        self.assertIsNone(target("round trip").of([]).is_met)

    def test_the_range_draws_cases_and_holds_what_was_seen(self):
        value, (low, high) = bootstrap.ratio([(9, 10)] * 10 + [(1, 10)] * 2, True)
        self.assertAlmostEqual(value, 92 / 120)
        self.assertTrue(0.4 < low < value < high <= 0.9, (low, high))

    def test_bytes_of_which_no_draw_differs_have_no_range(self):
        self.assertEqual(bootstrap.ratio([(0, 10)] * 5, False), (0, None))
        self.assertIsNotNone(bootstrap.ratio([(0, 10)] * 5, True)[1])

    def test_the_range_of_a_median_draws_cases(self):
        entries = [(f"c{i}", 1 / 3, i / 10) for i in range(20) for _ in range(3)]
        low, high = bootstrap.median_bounds(entries)
        self.assertTrue(0.4 <= low < 0.95 < high <= 1.5, (low, high))


@unittest.skipUnless(targets, "numpy is missing")
class DrawsTest(unittest.TestCase):
    """The headline is of the proof; all else stands beside it."""

    def study(self, proof):
        from study import Draw, Study

        def draw(right_of_tuned, right_of_held_out):
            judged = shared_case("tuned", right_of_tuned, 10, half="calibration") \
                + shared_case("held", right_of_held_out, 10) \
                + shared_case("fair", 0, 10, scenario="fair-queueing", half="calibration")
            return Draw(list({one.case for one in judged}), 0, judged, {})

        return Study(draw(10, 10), draw(9, 8) if proof else None, [], [], {}, [], {}, {},
                     Path("."), "", "")

    def figures(self, proof):
        measured = targets.measure(self.study(proof))
        return next((found.text.split(" (")[0], {name: other.text.split(" (")[0]
                                                 for name, other in others.items()})
                    for one, found, others in measured if one.asked.startswith("intervals wrong"))

    def test_the_proof_is_the_headline_if_there_is_one(self):
        headline, others = self.figures(proof=True)
        self.assertEqual(headline, "43.33 %")
        self.assertEqual(others["without fair-queueing and policer"], "15.00 %")
        self.assertEqual(others["held-out half of the proof draw"], "20.00 %")
        self.assertEqual(others["calibration draw"], "33.33 %")

    def test_with_one_draw_it_is_the_half_that_was_held_out(self):
        headline, others = self.figures(proof=False)
        self.assertEqual(headline, "0.00 %")
        self.assertEqual(others["calibration half"], "50.00 %")


if __name__ == "__main__":
    unittest.main()
