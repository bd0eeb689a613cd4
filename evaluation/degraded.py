# SPDX-License-Identifier: Apache-2.0
"""The same flows as worse taps would have seen them, and what the verdicts are then."""

import os
import random
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import dataset

SEED = 1
NUM_CASES = 40


def sample(cases, number=NUM_CASES):
    """Cases drawn once and for all, of those held out if there are any, as many of each expected
    cause as can be."""
    held_out = [case for case in cases if case.half == dataset.HELD_OUT]
    by_cause = {}
    for case in sorted(held_out or cases, key=lambda case: case.name):
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
    from degradation import VARIANTS  # of the testbed, which is found only now
    return {name: " ".join(function.__doc__.split()) for name, function in VARIANTS.items()}


def degrade(variant, source, target):
    """As `testbed/degrade VARIANT IN.pcap OUT.pcap` does."""
    from degradation import degrade as write_degraded
    write_degraded(variant, str(source), str(target), random.Random(f"{variant}/{SEED}"))


def judge(variant, cases, chokepoint):
    """Matched rows of the cases' captures, made worse."""
    with tempfile.TemporaryDirectory(prefix="chokepoint-degraded-") as directory:
        worse = {}
        with ProcessPoolExecutor(os.cpu_count()) as workers:
            running = []
            for (case, tap), source in dataset.captures(cases).items():
                worse[case, tap] = Path(directory) / f"{case.name}-{tap}.pcap"
                running.append(workers.submit(degrade, variant, source, worse[case, tap]))
            for one in running:
                one.result()
        return dataset.judge(worse, chokepoint)
