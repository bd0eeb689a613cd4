# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest

from causes import (APPLICATION, MIXED, RECEIVER_WINDOW, SEND_BUFFER, SHARED, TRANSPORT, UNSHARED,
                    is_wrong, root_cause)
from timelines import MILLI, SECOND, write_case
from truth import CaseTruth, EmulatedClock, Slot, SlotTruth

BUSY = "".join(f"{at} busy={at}\n" for at in range(0, 1001, 20))
# The way a link looks that nobody fills.
QUIET = "3" * 100
FULL = "*" * 100


def shares_of(tcp_info, busy=QUIET, **case):
    with tempfile.TemporaryDirectory() as folder:
        write_case(folder, tcp_info, busy, **case)
        return CaseTruth(folder).shares("a", 0, SECOND)


class SlotsTest(unittest.TestCase):
    def assert_shares(self, found, **expected):
        for cause, share in found.items():
            self.assertAlmostEqual(share, expected.get(cause, 0), delta=0.015,
                                   msg=f"{cause} of {found}")

    def test_a_full_window_on_a_quiet_link_is_transport(self):
        self.assert_shares(shares_of(BUSY), transport=1)

    def test_a_full_link_of_one_flow_is_unshared(self):
        self.assert_shares(shares_of(BUSY, FULL), unshared_bottleneck=1)

    def test_a_full_link_of_two_flows_is_shared(self):
        self.assert_shares(shares_of(BUSY, FULL, own=0.5), shared_bottleneck=1)

    def test_a_full_link_is_nobody_elses_fault_even_if_the_sender_is_starved(self):
        starved = "0 flight=5 unsent=0\n" + BUSY
        self.assert_shares(shares_of(starved, FULL), unshared_bottleneck=1)

    def test_a_standing_queue_fills_a_link_that_pauses(self):
        self.assert_shares(shares_of(BUSY, QUIET, standing="q" * 100, own=0.5), shared_bottleneck=1)

    def test_a_queue_for_half_of_the_time_is_half_of_the_cause(self):
        self.assert_shares(shares_of(BUSY, QUIET, standing="q" * 50, own=0.5),
                           shared_bottleneck=0.5, transport=0.5)

    def test_the_kernels_stop_watch_tells_the_window(self):
        limited = "".join(f"{at} busy={at} rwnd={0.75 * at}\n" for at in range(0, 1001, 20))
        self.assert_shares(shares_of(limited), receiver_window=0.75, transport=0.25)

    def test_the_kernels_stop_watch_tells_the_send_buffer(self):
        limited = "".join(f"{at} busy={at} sndbuf={0.5 * at}\n" for at in range(0, 1001, 20))
        self.assert_shares(shares_of(limited), send_buffer=0.5, transport=0.5)

    def test_a_pacing_sender_with_a_full_window_is_the_windows(self):
        self.assert_shares(shares_of("0 flight=99 cwnd=200 wnd=100\n" + BUSY), receiver_window=1)

    def test_time_that_is_not_busy_is_the_applications(self):
        pauses = "0 busy=0\n" + "".join(f"{at} busy={at // 2}\n" for at in range(20, 1001, 20))
        self.assert_shares(shares_of(pauses, application="0 rests"), application=0.5, transport=0.5)

    def test_a_starved_sender_whose_application_rests_is_the_applications(self):
        starved = "0 flight=5 unsent=0\n" + BUSY
        self.assert_shares(shares_of(starved, application="0 rests"), application=1)

    def test_a_starved_sender_whose_application_wants_to_write_is_the_buffers(self):
        starved = "0 flight=5 unsent=0\n" + BUSY
        self.assert_shares(shares_of(starved, application="0 wants"), send_buffer=1)

    def test_nagle_keeping_back_less_than_a_segment_is_starved(self):
        kept = "0 flight=5 unsent=0.9\n" + BUSY
        self.assert_shares(shares_of(kept, application="0 rests"), application=1)

    def test_a_slot_that_starts_starved_and_ends_otherwise_is_so_for_half(self):
        turns = "".join(f"{at} busy={at} " + ("flight=5 unsent=0\n" if at % 40
                                              else "flight=10 unsent=50\n")
                        for at in range(0, 1001, 20))
        self.assert_shares(shares_of(turns, application="0 rests"), application=0.5, transport=0.5)

    def test_a_policed_line_is_full_at_the_policers_rate(self):
        self.assert_shares(shares_of(BUSY, "1" * 100, policer_burst_kb=30), unshared_bottleneck=1)

    def test_a_narrow_link_elsewhere_makes_this_one_full_below_its_rate(self):
        self.assert_shares(shares_of(BUSY, "5" * 100, upstream_mbit=4), unshared_bottleneck=1)

    def test_time_that_was_not_recorded_has_no_truth(self):
        truth = SlotTruth({"a": [Slot(0, 400, {TRANSPORT: 1.0})]})
        self.assertIsNone(truth.shares("a", 0, 1000))
        self.assertEqual(truth.shares("a", 0, 800)[TRANSPORT], 1)
        self.assertIsNone(truth.shares("b", 0, 100))

    def test_slots_count_by_the_part_that_overlaps(self):
        truth = SlotTruth({"a": [Slot(0, 100, {TRANSPORT: 1.0}),
                                 Slot(100, 200, {APPLICATION: 1.0})]})
        self.assertAlmostEqual(truth.shares("a", 50, 200)[APPLICATION], 2 / 3)


class EmulatedClockTest(unittest.TestCase):
    def test_each_stall_sets_it_back(self):
        clock = EmulatedClock(1000 * MILLI, [
            {"emulated_ns": 100 * MILLI, "duration_ns": 10 * MILLI},
            {"emulated_ns": 300 * MILLI, "duration_ns": 5 * MILLI}])
        for host_ms, emulated_ms in ((1000, 1000), (1099, 1099), (1110, 1100), (1309, 1299),
                                     (1315, 1300), (1400, 1385)):
            self.assertEqual(clock.of(host_ms * MILLI), emulated_ms * MILLI, host_ms)


class RootCauseTest(unittest.TestCase):
    def test_needs_half_of_the_time_and_a_lead(self):
        for shares, expected in (
                ({TRANSPORT: 0.5, APPLICATION: 0.4}, TRANSPORT),
                ({TRANSPORT: 0.49, APPLICATION: 0.2}, MIXED),
                ({TRANSPORT: 0.53, APPLICATION: 0.45}, MIXED),
                ({UNSHARED: 0.3, SHARED: 0.25, APPLICATION: 0.4}, UNSHARED),
                ({UNSHARED: 0.25, SHARED: 0.3, SEND_BUFFER: 0.4}, SHARED),
                ({RECEIVER_WINDOW: 1.0}, RECEIVER_WINDOW)):
            self.assertEqual(root_cause(shares), expected, shares)

    def test_what_names_no_cause_is_not_wrong(self):
        self.assertFalse(is_wrong(MIXED, TRANSPORT))
        self.assertFalse(is_wrong("bottleneck", SHARED))
        self.assertTrue(is_wrong("bottleneck", TRANSPORT))
        self.assertTrue(is_wrong(UNSHARED, SHARED))


if __name__ == "__main__":
    unittest.main()
