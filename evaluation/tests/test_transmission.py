# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest
from pathlib import Path

import transmission
from causes import TRANSPORT
from matching import match
from test_scores import Case
from timelines import flow_row, row, write_case
from truth import CaseTruth

DROPS = """\
unix_ns,flow,sequence_number,payload_bytes,where
1,a,1000,100,queue
2,a,2000,100,random
3,a,1000,100,queue
4,b,1000,100,queue
"""


class DropsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def drops(self, **parameters):
        write_case(self.folder.name, "0 busy=0\n20 busy=20", "99", **parameters)
        Path(self.folder.name, "drops.csv").write_text(DROPS)
        return transmission.read_drops(CaseTruth(self.folder.name))

    def test_the_second_drop_of_a_number_is_one_of_its_copies(self):
        drops = self.drops()
        self.assertEqual([drop.is_copy for drop in drops["a"]], [False, False, True])
        self.assertEqual([drop.is_copy for drop in drops["b"]], [False])

    def test_where_it_is_dropped_tells_which_tap_has_seen_it(self):
        for section, before_first, before_second in (
                ("sender", True, True), ("middle", False, True), ("receiver", False, False)):
            lost = self.drops(loss_at=section)["a"][1]
            self.assertEqual((lost.is_before("before"), lost.is_before("after")),
                             (before_first, before_second), section)
        queued = self.drops()["a"][0]
        self.assertEqual((queued.is_before("before"), queued.is_before("after")), (False, True))


class FirstVerdictTest(unittest.TestCase):
    def first(self, *verdicts):
        case = Case("c", (TRANSPORT, 5000))
        rows = [row(verdict, 1000 * i, 1000 * (i + 1)) for i, verdict in enumerate(verdicts)]
        whole = flow_row(TRANSPORT, start_ms=500, end_ms=5000, data_packets=1000)
        return transmission.first_verdicts(match(case, "before", [*rows, whole]))[0][1]

    def test_is_the_end_of_the_first_interval_that_was_right(self):
        self.assertEqual(self.first("mixed", TRANSPORT, TRANSPORT), 1.5)

    def test_may_never_come(self):
        self.assertIsNone(self.first("mixed", "unshared_bottleneck"))


if __name__ == "__main__":
    unittest.main()
