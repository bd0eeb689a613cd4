# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest
from dataclasses import replace

import sensitivity
from causes import MIXED, SHARED, TRANSPORT
from matching import TRUTH_MIXED, held_to, scored
from test_scores import judged
from test_truth import BUSY
from timelines import SECOND, write_case
from truth import USUAL, CaseTruth, SlotTruth


def share_of(cause, busy, own=1.0, standing="", **moved):
    with tempfile.TemporaryDirectory() as folder:
        write_case(folder, BUSY, busy, own=own, standing=standing)
        slots = CaseTruth(folder).judged_by(replace(USUAL, **moved))
        return SlotTruth(slots).shares("a", 0, SECOND)[cause]


class MovedTruthTest(unittest.TestCase):
    def test_a_link_is_full_from_another_share_on(self):
        self.assertAlmostEqual(share_of(TRANSPORT, "8" * 100), 1, delta=0.02)
        self.assertAlmostEqual(share_of(TRANSPORT, "8" * 100, busy_link=0.75), 0, delta=0.02)

    def test_a_link_is_shared_below_another_share_of_its_bytes(self):
        self.assertAlmostEqual(share_of(SHARED, "*" * 100, own=0.92), 0, delta=0.02)
        self.assertAlmostEqual(share_of(SHARED, "*" * 100, own=0.92, own_link=0.95), 1, delta=0.02)

    def test_a_queue_stands_above_other_bytes(self):
        self.assertAlmostEqual(share_of(TRANSPORT, "3" * 100, standing="q" * 100), 0, delta=0.02)
        self.assertAlmostEqual(
            share_of(TRANSPORT, "3" * 100, standing="q" * 100, standing_bytes=9000), 1, delta=0.02)


class MovesTest(unittest.TestCase):
    def test_a_share_near_one_is_moved_by_what_it_leaves(self):
        self.assertEqual([move.value for move in sensitivity.moved("", "busy_link", 50, True)],
                         [0.95, 0.85])
        self.assertEqual([move.value for move in sensitivity.moved("", "standing_bytes", 50)],
                         [800, 2400])

    def test_says_how_many_intervals_have_another_truth_and_what_becomes_of_the_verdicts(self):
        before = judged("a", SHARED, SHARED, SHARED, TRANSPORT, SHARED) \
            + judged("b", SHARED, SHARED)
        after = [held_to(one, {}, TRANSPORT if one.verdict == TRANSPORT else one.truth)
                 for one in before]
        found = sensitivity.effect(scored(before), after)
        self.assertAlmostEqual(found.changed, 1 / 8)
        self.assertEqual(found.outcomes["right"], 1)
        self.assertEqual(found.classes, {("precision", SHARED): 1, ("recall", SHARED): 1,
                                         ("precision", TRANSPORT): 1, ("recall", TRANSPORT): 1})

    def test_a_row_whose_truth_becomes_mixed_is_scored_no_more(self):
        one = held_to(judged("a", SHARED, SHARED)[0], {}, MIXED)
        self.assertEqual(one.not_scored, TRUTH_MIXED)


if __name__ == "__main__":
    unittest.main()
