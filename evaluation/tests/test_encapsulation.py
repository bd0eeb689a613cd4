# SPDX-License-Identifier: Apache-2.0
"""A sample in each tag and tunnel that testbed/degrade knows: its rows, by the real programs."""

import random
import sys
import tempfile
import unittest
from pathlib import Path

import verdicts

ROOT = verdicts.CHOKEPOINT.parent
sys.path.insert(0, str(ROOT / "testbed"))
from degradation import degrade  # noqa: E402
from encapsulation import ENCAPSULATIONS, ERSPAN_SESSION, NETWORK, VLAN  # noqa: E402

PLAIN = "plain"
SAMPLES = ("graz-after", "lille-before")
# vlan, tunnel_id; both are null in a plain capture, and with labels or GRE without a key.
PLACES = {"vlan": (VLAN, None), "qinq": (VLAN, None), "vxlan": (None, NETWORK),
          "geneve": (None, NETWORK), "erspan": (None, ERSPAN_SESSION)}
OF_THE_PLACE = ("tap", "vlan", "tunnel_id")


class EncapsulationTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            captures = {}
            for sample in SAMPLES:
                captures[sample, PLAIN] = ROOT / "samples" / f"{sample}.pcap"
                for variant in ENCAPSULATIONS:
                    captures[sample, variant] = Path(folder) / f"{sample}-{variant}.pcap"
                    degrade(variant, str(captures[sample, PLAIN]), str(captures[sample, variant]),
                            random.Random(1))
            cls.rows = verdicts.analyze(captures)

    def test_what_is_around_a_packet_changes_no_verdict(self):
        for (sample, variant), rows in self.rows.items():
            plain, of_variant = ([{name: value for name, value in row.items()
                                   if name not in OF_THE_PLACE} for row in of_one]
                                 for of_one in (self.rows[sample, PLAIN], rows))
            self.assertTrue(plain, sample)
            self.assertEqual(plain, of_variant, f"{sample} in {variant}")

    def test_rows_tell_the_vlan_and_the_tunnel(self):
        for (sample, variant), rows in self.rows.items():
            self.assertEqual({(row["vlan"], row["tunnel_id"]) for row in rows},
                             {PLACES.get(variant, (None, None))}, f"{sample} in {variant}")


if __name__ == "__main__":
    unittest.main()
