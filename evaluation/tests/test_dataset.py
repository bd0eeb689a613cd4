# SPDX-License-Identifier: Apache-2.0
import json
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

import dataset


def case(name, seed, epoch_ns=1_700_000_000_000_000_000):
    return SimpleNamespace(name=name, parameters={"seed": seed},
                           truth={"truth": {"epoch_unix_ns": epoch_ns}})


class DrawTest(unittest.TestCase):
    def test_a_draw_with_the_same_seeds_is_no_other(self):
        self.assertEqual(dataset.same_seeds([case("a", 1), case("b", 2)],
                                            [case("a", 8), case("b", 2), case("c", 1)]), ["b"])

    def test_an_old_draw_tells_its_days_alone(self):
        cases = [case("a", 1), case("b", 2, 1_700_100_000_000_000_000)]
        self.assertEqual(dataset.about(Path("/nonexistent"), cases),
                         {"recorded": "2023-11-14 – 2023-11-16"})

    def test_a_draw_tells_on_what_it_came_about(self):
        run = {"kernel": "6.1", "cpus": 2, "commit": "abc", "repeated": ["a"], "refused": []}
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "about.json").write_text(json.dumps(
                {"seed_offset": 7000, "runs": [run, {**run, "commit": "def"}]}))
            self.assertEqual(dataset.about(Path(folder), [case("a", 1)]), {
                "recorded": "2023-11-14", "seed_offset": "7000", "kernel": "6.1", "cpus": "2",
                "commit": "abc, def", "repeated": "1"})


if __name__ == "__main__":
    unittest.main()
