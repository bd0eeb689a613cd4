# SPDX-License-Identifier: Apache-2.0
"""The same flows as worse taps would have seen them, and what the verdicts are then."""

import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dataset

SEED = 1
NUM_CASES = 40


def sample(cases, number=NUM_CASES):
    """Cases drawn once and for all, as many of each expected cause as can be."""
    by_cause = {}
    for case in sorted(cases, key=lambda case: case.name):
        by_cause.setdefault(case.expected, []).append(case)
    chance = random.Random(SEED)
    for of_cause in by_cause.values():
        chance.shuffle(of_cause)
    drawn = []
    while len(drawn) < number and any(by_cause.values()):
        for of_cause in by_cause.values():
            if of_cause and len(drawn) < number:
                drawn.append(of_cause.pop())
    return drawn


def variants(testbed):
    """Names and sentences of what testbed/degrade knows; empty if there is none."""
    if not (testbed / "degrade").exists():
        return {}
    sys.path.insert(0, str(testbed))
    from degradation import VARIANTS  # a program of the testbed, found only now
    return {name: " ".join(function.__doc__.split()) for name, function in VARIANTS.items()}


def judge(testbed, variant, cases, chokepoint):
    """Matched rows of the cases' captures, made worse."""
    with tempfile.TemporaryDirectory(prefix="chokepoint-degraded-") as directory:
        worse = {key: Path(directory) / f"{key[0].name}-{key[1]}.pcap"
                 for key in dataset.captures(cases)}

        def degrade(item):
            key, file = item
            subprocess.run([str(testbed / "degrade"), variant, str(file), str(worse[key])],
                           check=True)

        with ThreadPoolExecutor(os.cpu_count()) as workers:
            list(workers.map(degrade, dataset.captures(cases).items()))
        return dataset.judge(worse, chokepoint)
