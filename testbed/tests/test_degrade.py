#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each variant of testbed/degrade on a small capture made by hand.

    python3 -B tests/test_degrade.py
"""

import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from itertools import pairwise
from pathlib import Path

TESTBED = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTBED))

import degradation  # noqa: E402
from degradation import VARIANTS, Capture, read_tcp  # noqa: E402
from encapsulation import ENCAPSULATIONS, ipv4_checksum  # noqa: E402

START_NS = 1_700_000_000 * 10**9
MICRO, MILLI = 1000, 1_000_000
SNAP_BYTES, HEADER_BYTES, MSS = 128, 66, 1448
SYN, PSH, ACK = 0x02, 0x08, 0x10
MAC = {"a": bytes.fromhex("020000000001"), "b": bytes.fromhex("020000000002")}
IPV4 = {"a": bytes((10, 0, 0, 1)), "b": bytes((10, 0, 0, 2))}
IPV6 = {end: bytes.fromhex("fd") + bytes(14) + mac[-1:] for end, mac in MAC.items()}
PORT = {"a": 40000, "b": 7310}
OTHER = {"a": "b", "b": "a"}


def frame(source, sequence, acknowledgment, payload_bytes, flags=ACK, stamp_value=1, is_ipv6=False):
    """(captured, original_bytes) of a TCP segment with the timestamps option."""
    options = struct.pack("!BBBBII", 1, 1, 8, 10, stamp_value, 0)
    tcp = struct.pack("!HHIIBBHHH", PORT[source], PORT[OTHER[source]], sequence, acknowledgment,
                      8 << 4, flags, 500, 0, 0) + options
    ip_payload_bytes = len(tcp) + payload_bytes
    if is_ipv6:
        ip = struct.pack("!IHBB16s16s", 6 << 28, ip_payload_bytes, 6, 64, IPV6[source],
                         IPV6[OTHER[source]])
    else:
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + ip_payload_bytes, 1, 0x4000, 64, 6, 0,
                         IPV4[source], IPV4[OTHER[source]])
        ip = ip[:10] + ipv4_checksum(ip).to_bytes(2, "big") + ip[12:]
    ether = MAC[OTHER[source]] + MAC[source] + (b"\x86\xdd" if is_ipv6 else b"\x08\x00")
    whole = ether + ip + tcp + bytes(payload_bytes)
    return whole[:SNAP_BYTES], len(whole)


def at(nanos, *arguments, **options):
    return START_NS + nanos, *frame(*arguments, **options)


def upload(num_segments, gap_ns, is_ipv6=False):
    """A handshake, then full segments from a at equal gaps, each acknowledged 500 us later."""
    frames = [at(0, "a", 0, 0, 0, SYN, is_ipv6=is_ipv6),
              at(200 * MICRO, "b", 0, 1, 0, SYN | ACK, is_ipv6=is_ipv6)]
    for number in range(num_segments):
        sent_ns = MILLI + number * gap_ns
        frames.append(at(sent_ns, "a", 1 + number * MSS, 1, MSS, is_ipv6=is_ipv6))
        frames.append(at(sent_ns + 500 * MICRO, "b", 1, 1 + (number + 1) * MSS, 0,
                         is_ipv6=is_ipv6))
    return sorted(frames, key=lambda record: record[0])


def stamps(frames):
    return [stamp_ns for stamp_ns, _, _ in frames]


def payloads(frames):
    return [read_tcp(captured)[2] for _, captured, _ in frames]


def read_pcapng(raw):
    """The frames of a little-endian pcapng, and the blocks' types."""
    position, kinds, frames = 0, [], []
    while position < len(raw):
        kind, block_bytes = struct.unpack_from("<II", raw, position)
        assert struct.unpack_from("<I", raw, position + block_bytes - 4) == (block_bytes,)
        kinds.append(kind)
        if kind == 6:
            _, high, low, captured_bytes, original_bytes = \
                struct.unpack_from("<IIIII", raw, position + 8)
            start = position + 28
            frames.append((high << 32 | low, raw[start:start + captured_bytes], original_bytes))
        position += block_bytes
    return frames, kinds


class Degrade(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def capture(self, frames):
        path = self.directory / "in.pcap"
        degradation.write_pcap(path, frames, SNAP_BYTES)
        return path

    def run_tool(self, variant, frames, seed=1):
        """Through the command line; the bytes of the file that it wrote."""
        out = self.directory / f"{variant}.out"
        subprocess.run([TESTBED / "degrade", variant, self.capture(frames), out,
                        "--seed", str(seed)], check=True)
        return out.read_bytes()

    def degraded(self, variant, frames, seed=1):
        capture = Capture(self.capture(frames))
        return list(VARIANTS[variant](capture, random.Random(seed)))

    # --- The tool

    def test_is_repeated_by_its_seed(self):
        frames = upload(300, MILLI)
        for variant in VARIANTS:
            with self.subTest(variant):
                self.assertEqual(self.degraded(variant, frames, 7),
                                 self.degraded(variant, frames, 7))
        first, again, other = (self.run_tool("clock-noisy", frames, seed) for seed in (7, 7, 8))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_refuses_what_it_cannot_read(self):
        cut = self.directory / "cut.pcap"
        cut.write_bytes(self.capture(upload(2, MILLI)).read_bytes()[:-1])
        micros = self.directory / "micros.pcap"
        degradation.write_pcap_micros(micros, upload(2, MILLI), SNAP_BYTES)
        for path in (cut, micros, self.directory / "missing.pcap"):
            with self.subTest(path.name):
                done = subprocess.run([TESTBED / "degrade", "vlan", path, self.directory / "out"],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stderr.count("\n"), 1)

    def test_takes_ipv6(self):
        for variant in VARIANTS:
            with self.subTest(variant):
                self.assertTrue(self.degraded(variant, upload(2000, MILLI, is_ipv6=True)))

    def test_lets_frames_that_are_not_tcp_through(self):
        arp = (START_NS + 300 * MICRO, b"\xff" * 6 + MAC["a"] + b"\x08\x06" + bytes(28), 42)
        frames = upload(2, MILLI)
        frames.insert(2, arp)
        for variant in ("clock-us", "duplicates", "gro", "gso", "vxlan", "reordered-merge"):
            with self.subTest(variant):
                self.assertTrue(any(captured.endswith(arp[1])
                                    for _, captured, _ in self.degraded(variant, frames)))

    # --- The clock

    def test_microseconds(self):
        raw = self.run_tool("clock-us", [at(1999, "a", 1, 1, 0)])
        self.assertEqual(struct.unpack_from("<I", raw), (0xa1b2c3d4,))
        self.assertEqual(struct.unpack_from("<IIII", raw, 24), (1_700_000_000, 1, 66, 66))

    def test_noise_is_late_and_keeps_the_order(self):
        frames = upload(2000, MILLI)
        noisy = self.degraded("clock-noisy", frames)
        late = [after - before for before, after in zip(stamps(frames), stamps(noisy))]
        self.assertEqual([captured for _, captured, _ in noisy],
                         [captured for _, captured, _ in frames])
        self.assertGreaterEqual(min(late), 0)
        self.assertAlmostEqual(sum(late) / len(late), 5000, delta=300)
        dense = self.degraded("clock-noisy", upload(2000, MICRO))
        self.assertEqual(stamps(dense), sorted(stamps(dense)))

    def test_a_poll_gives_one_stamp(self):
        frames = [at(number * 100, "a", number, 1, 0) for number in range(2200)]
        polled = self.degraded("clock-burst", frames)
        late = [after - before for before, after in zip(stamps(frames), stamps(polled))]
        self.assertLessEqual(len(set(stamps(polled))), 101)  # of 100 polls and the phase
        self.assertEqual(stamps(polled), sorted(stamps(polled)))
        self.assertGreaterEqual(min(late), 1000)
        self.assertLessEqual(max(late), 2200 + 3000)

    def test_moderation_stamps_the_end_of_its_window(self):
        frames = [at(number * MICRO, "a", number, 1, 0) for number in range(1000)]
        moderated = self.degraded("clock-coalesced", frames)
        ends = sorted(set(stamps(moderated)))
        self.assertIn(len(ends), (10, 11))
        self.assertEqual({later - earlier for earlier, later in pairwise(ends)}, {100 * MICRO})
        self.assertTrue(all(0 < after - before <= 100 * MICRO
                            for before, after in zip(stamps(frames), stamps(moderated))))

    # --- What the tap misses

    def test_begins_after_the_handshake(self):
        frames = [at(0, "a", 0, 0, 0, SYN), at(1499 * MILLI, "a", 1, 1, 9),
                  at(1500 * MILLI, "a", 10, 1, 9)]
        self.assertEqual(self.degraded("no-syn", frames), frames[2:])

    def test_loses_one_percent(self):
        frames = upload(20_000, 10 * MICRO)
        left = self.degraded("capture-loss", frames)
        self.assertAlmostEqual(1 - len(left) / len(frames), 0.01, delta=0.002)

    def test_loses_one_percent_in_bursts(self):
        frames = [(START_NS + number, b"", number) for number in range(200_000)]
        seen = [number for _, _, number in self.degraded("capture-loss-burst", frames)]
        gaps = [later - earlier - 1 for earlier, later in pairwise(seen) if later > earlier + 1]
        self.assertAlmostEqual(sum(gaps) / len(frames), 0.01, delta=0.001)
        self.assertGreaterEqual(min(gaps), 20)
        self.assertLessEqual(max(gaps), 120)  # two bursts may touch

    def test_splits_the_directions(self):
        frames = upload(50, MILLI)
        data = self.degraded("one-direction-data", frames)
        acks = self.degraded("one-direction-acks", frames)
        self.assertEqual({captured[6:12] for _, captured, _ in data}, {MAC["a"]})
        self.assertEqual({captured[6:12] for _, captured, _ in acks}, {MAC["b"]})
        self.assertEqual(len(data) + len(acks), len(frames))

    def test_cuts_options(self):
        for stamp_ns, captured, original_bytes in self.degraded("snap-54", upload(5, MILLI)):
            self.assertEqual(len(captured), 54)
            self.assertGreaterEqual(original_bytes, HEADER_BYTES)

    # --- What the tap sees otherwise

    def test_copies_come_one_hop_later(self):
        for is_ipv6, ttl_at in ((False, 22), (True, 21)):
            first = at(0, "a", 1, 1, MSS, is_ipv6=is_ipv6)
            original, copy = self.degraded("duplicates", [first])
            self.assertEqual(original, first)
            self.assertTrue(1 * MICRO <= copy[0] - first[0] <= 20 * MICRO)
            self.assertEqual((original[1][ttl_at], copy[1][ttl_at]), (64, 63))
            self.assertEqual(copy[2], first[2])
            if not is_ipv6:
                self.assertEqual(ipv4_checksum(copy[1][14:34]), 0)

    def test_copies_keep_the_order_of_time(self):
        frames = upload(5000, 10 * MICRO)
        for variant, share in (("duplicates", 1), ("duplicates-partial", 0.1)):
            doubled = self.degraded(variant, frames)
            self.assertAlmostEqual(len(doubled) / len(frames), 1 + share, delta=0.02)
            self.assertEqual(stamps(doubled), sorted(stamps(doubled)))

    def test_receive_offload_merges_within_3_ms(self):
        frames = [at(number * MILLI, "a", 1 + number * MSS, 1, MSS, stamp_value=number)
                  for number in range(8)]
        merged = self.degraded("gro", frames)
        self.assertEqual(payloads(merged), [4 * MSS, 4 * MSS])
        self.assertEqual(stamps(merged), [START_NS + 3 * MILLI, START_NS + 7 * MILLI])
        for _, captured, original_bytes in merged:
            self.assertEqual(original_bytes, HEADER_BYTES + 4 * MSS)
            self.assertEqual(len(captured), SNAP_BYTES)
            self.assertEqual(ipv4_checksum(captured[14:34]), 0)
        self.assertEqual(merged[1][1][38:42], (1 + 4 * MSS).to_bytes(4, "big"))

    def test_send_offload_restores_what_was_written_at_once(self):
        def segment(number, flags=ACK, stamp_value=1, payload_bytes=MSS):
            return at(number * 12 * MICRO, "a", 1 + number * MSS, 1, payload_bytes, flags,
                      stamp_value)
        frames = [segment(0), segment(1, ACK | PSH), segment(2), segment(3),
                  segment(4, stamp_value=2), segment(5, ACK | PSH, 2, 100)]
        merged = self.degraded("gso", frames)
        self.assertEqual(payloads(merged), [2 * MSS, 2 * MSS, MSS + 100])
        self.assertEqual(stamps(merged), [frames[number][0] for number in (0, 2, 4)])
        self.assertEqual([bool(captured[47] & PSH) for _, captured, _ in merged],
                         [True, False, True])

    def test_offload_keeps_what_is_not_in_order(self):
        first, second, third = (at(number * 12 * MICRO, "a", 1 + number * MSS, 1, MSS)
                                for number in range(3))
        swapped = [first, (second[0], *third[1:]), (third[0], *second[1:])]
        short = [at(0, "a", 1, 1, 100), at(MICRO, "a", 101, 1, MSS)]
        for variant in ("gro", "gso"):
            self.assertEqual(self.degraded(variant, swapped), swapped)
            self.assertEqual(self.degraded(variant, short), short)

    def test_offload_keeps_the_payload_and_the_length_field(self):
        frames = upload(1000, 20 * MICRO)
        for variant in ("gro", "gso"):
            merged = self.degraded(variant, frames)
            self.assertEqual(sum(payloads(merged)), 1000 * MSS)
            self.assertEqual(max(payloads(merged)), 44 * MSS)
            self.assertEqual(stamps(merged), sorted(stamps(merged)))

    def test_offload_ends_at_64_kib(self):
        jumbo_bytes = 8948
        frames = [at(number * MICRO, "a", 1 + number * jumbo_bytes, 1, jumbo_bytes)
                  for number in range(14)]
        for variant in ("gro", "gso"):
            merged = self.degraded(variant, frames)
            self.assertEqual(payloads(merged), [7 * jumbo_bytes] * 2)

    def test_queues_are_drained_late_but_stamped_in_time(self):
        frames = upload(2000, 150 * MICRO)
        merged = self.degraded("reordered-merge", frames)
        self.assertEqual(sorted(merged), sorted(frames))
        self.assertNotEqual(stamps(merged), stamps(frames))
        newest_ns = 0
        for stamp_ns, _, _ in merged:
            self.assertLess(newest_ns - stamp_ns, 200 * MICRO)
            newest_ns = max(newest_ns, stamp_ns)
        for mac in MAC.values():
            self.assertEqual([record for record in merged if record[1][6:12] == mac],
                             [record for record in frames if record[1][6:12] == mac])

    def test_pcapng_holds_the_same_frames(self):
        frames = upload(20, MILLI)
        raw = self.run_tool("nanosecond-pcapng", frames)
        read, kinds = read_pcapng(raw)
        self.assertEqual(read, frames)
        self.assertEqual(kinds, [0x0a0d0d0a, 1] + [6] * len(frames))

    # --- Encapsulation

    def test_encapsulation_keeps_what_was_captured(self):
        frames = upload(5, MILLI)
        for variant in ENCAPSULATIONS:
            ethernet_is_gone = variant in ("mpls", "gre")
            for before, after in zip(frames, self.degraded(variant, frames)):
                with self.subTest(variant):
                    inner = before[1][14 if ethernet_is_gone or variant in ("vlan", "qinq") else 0:]
                    self.assertTrue(after[1].endswith(inner))
                    self.assertEqual(after[0], before[0])
                    self.assertEqual(after[2] - before[2], len(after[1]) - len(before[1]))
                    self.assertLessEqual(len(after[1]), SNAP_BYTES + 64)

    def test_tunnels_have_right_lengths_and_checksums(self):
        for variant in ("gre", "vxlan", "geneve", "erspan"):
            for _, captured, original_bytes in self.degraded(variant, upload(5, MILLI)):
                with self.subTest(variant):
                    self.assertEqual(ipv4_checksum(captured[14:34]), 0)
                    self.assertEqual(int.from_bytes(captured[16:18], "big"), original_bytes - 14)
                    if captured[23] == 17:
                        self.assertEqual(int.from_bytes(captured[38:40], "big"),
                                         original_bytes - 34)

    @unittest.skipUnless(shutil.which("tshark"), "tshark is not installed")
    def test_tshark_finds_the_segments(self):
        stack = {"vlan": "eth:ethertype:vlan:ethertype:IP:tcp",
                 "qinq": "eth:ethertype:ieee8021ad:ethertype:vlan:ethertype:IP:tcp",
                 "mpls": "eth:ethertype:mpls:IP:tcp",
                 "gre": "eth:ethertype:ip:gre:IP:tcp",
                 "vxlan": "eth:ethertype:ip:udp:vxlan:eth:ethertype:IP:tcp",
                 "geneve": "eth:ethertype:ip:udp:geneve:eth:ethertype:IP:tcp",
                 "erspan": "eth:ethertype:ip:gre:erspan:eth:ethertype:IP:tcp",
                 "nanosecond-pcapng": "eth:ethertype:IP:tcp", "clock-us": "eth:ethertype:IP:tcp"}
        for variant, expected in stack.items():
            for is_ipv6 in (False, True):
                with self.subTest(variant, is_ipv6=is_ipv6):
                    self.run_tool(variant, upload(3, MILLI, is_ipv6))
                    done = subprocess.run(
                        ["tshark", "-r", self.directory / f"{variant}.out", "-T", "fields",
                         "-e", "frame.protocols", "-e", "tcp.len", "-e",
                         "tcp.options.timestamp.tsval"],
                        check=True, capture_output=True, text=True)
                    protocols, lengths, values = zip(
                        *(line.split("\t") for line in done.stdout.splitlines()))
                    wanted = expected.replace("IP", "ipv6" if is_ipv6 else "ip")
                    self.assertEqual({seen.removesuffix(":data") for seen in protocols}, {wanted})
                    self.assertEqual(sum(map(int, lengths)), 3 * MSS)
                    self.assertEqual(set(values), {"1"})


if __name__ == "__main__":
    unittest.main()
