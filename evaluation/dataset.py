# SPDX-License-Identifier: Apache-2.0
"""Cases on disk, their truth, and the rows of their captures."""

import datetime
import json
import os
import re
import subprocess
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from matching import match
from truth import CaseTruth
from verdicts import TAPS, analyze

ROOT = Path(__file__).resolve().parent.parent
SIMULATOR = "io.chokepoint.testkit.sim.SimulatedDataset"
SIMULATOR_SOURCE = (ROOT / "flink-jobs/analysis-testkit/src/main/java"
                    / (SIMULATOR.replace(".", "/") + ".java"))
HELD_OUT = "held_out"


def folders(directory, pattern=""):
    """Of cases, in the order of their names; those that are being made have a dot before it."""
    if not directory.is_dir():
        return []
    return [path.parent for path in sorted(directory.glob("*/truth.json"))
            if not path.parent.name.startswith(".") and re.search(pattern, path.parent.name)]


def load(directory, pattern=""):
    """The cases that became what their scenario promises, and the number of the others."""
    with ProcessPoolExecutor(os.cpu_count()) as workers:
        cases = list(workers.map(CaseTruth, folders(directory, pattern), chunksize=4))
    valid = [case for case in cases if case.truth["valid"]]
    return valid, len(cases) - len(valid)


def about(directory, cases):
    """What is known of how a draw came about, as words by page.ABOUT; the file is younger than some
    draws."""
    found = {}
    epochs = [case.truth["truth"]["epoch_unix_ns"] for case in cases
              if "epoch_unix_ns" in case.truth["truth"]]
    if epochs:
        days = [datetime.datetime.fromtimestamp(ns // 10**9, datetime.timezone.utc).date()
                for ns in (min(epochs), max(epochs))]
        found["recorded"] = " – ".join(str(day) for day in dict.fromkeys(days))
    file = directory / "about.json"
    if file.exists():
        told = json.loads(file.read_text())
        found["seed_offset"] = str(told["seed_offset"])
        for key in ("kernel", "cpus", "commit"):
            found[key] = ", ".join(dict.fromkeys(str(run[key]) for run in told["runs"]))
        if all("repeated" in run for run in told["runs"]):
            found["repeated"] = str(len({name for run in told["runs"] for name in run["repeated"]}))
    return found


def same_seeds(one, other):
    """Names of cases that are the same run in both draws, or would be."""
    seeds = {case.name: case.parameters.get("seed") for case in one}
    return [case.name for case in other if case.name in seeds
            and case.parameters.get("seed") == seeds[case.name]]


def captures(cases):
    return {(case, tap): case.folder / case.truth["files"][tap] for case in cases for tap in TAPS}


def judge(captures_of, chokepoint):
    """Matched rows of {(case, tap): file}."""
    judged = []
    for interval_ms in sorted({case.interval_ms for case, _ in captures_of}):
        part = {key: file for key, file in captures_of.items() if key[0].interval_ms == interval_ms}
        for (case, tap), rows in analyze(part, interval_ms, chokepoint).items():
            judged += match(case, tap, rows)
    return judged


def held_out(judged):
    return [one for one in judged if one.case.half == HELD_OUT]


def simulate(directory):
    """Runs the simulator; False if this version has none."""
    if not SIMULATOR_SOURCE.exists():
        return False
    subprocess.run(["mvn", "-B", "-q", "-f", str(ROOT / "pom.xml"), "-pl",
                    "flink-jobs/analysis-testkit", "-am", "compile"], check=True)
    classes = ":".join(str(path) for path in sorted(ROOT.glob("flink-jobs/*/target/classes")))
    directory.mkdir(parents=True, exist_ok=True)
    # A case that is not what its label claims is named on standard error and left out.
    subprocess.run(["java", "-cp", classes, SIMULATOR, str(directory)], stdout=subprocess.DEVNULL)
    return True
