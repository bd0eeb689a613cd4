# SPDX-License-Identifier: Apache-2.0
import re
import unittest
from pathlib import Path

import known_limits
from causes import SHARED, TRANSPORT, UNKNOWN, UNSHARED

SCENARIOS = Path(__file__).resolve().parents[2] / "testbed/scenarios.py"


class ReasonsTest(unittest.TestCase):
    def test_the_first_that_applies_counts(self):
        self.assertIn("queue of its own",
                      known_limits.reason("fair-queueing", SHARED, TRANSPORT, "before"))
        self.assertEqual(known_limits.reason("window", UNSHARED, SHARED, "before"), "")

    def test_a_reason_may_be_of_one_tap(self):
        self.assertIn("tick", known_limits.reason("two", SHARED, TRANSPORT, "after"))
        self.assertEqual(known_limits.reason("two", SHARED, TRANSPORT, "before"), "")

    def test_one_may_be_of_any_scenario(self):
        self.assertIn("timestamps", known_limits.reason("window", UNSHARED, UNKNOWN, "after"))

    def test_a_scenario_of_the_testbed_is_written_as_there(self):
        known = set(re.findall(r'"([a-z]+(?:-[a-z]+)*)"', SCENARIOS.read_text()))
        simulated = {*known_limits.FAST, "competitor", "fair", "clock"}
        named = {name for scenarios, *_ in known_limits.REASONS for name in scenarios}
        self.assertEqual(named - simulated - known, set())


if __name__ == "__main__":
    unittest.main()
