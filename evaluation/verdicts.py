# SPDX-License-Identifier: Apache-2.0
"""What the command line says of captures: its rows, by case and tap."""

import calendar
import json
import re
import subprocess
import time
from pathlib import Path

CHOKEPOINT = Path(__file__).resolve().parent.parent / "chokepoint"
INTERVAL = "limitation_interval"
FLOW = "flow"
CAPTURES_AT_ONCE = 60
TAPS = ("before", "after")
TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{9})Z")


def unix_ns(text):
    """Nanoseconds since the epoch of an RFC 3339 time with nine decimals."""
    seconds, nanos = TIME.fullmatch(text).groups()
    return calendar.timegm(time.strptime(seconds, "%Y-%m-%dT%H:%M:%S")) * 10**9 + int(nanos)


def analyze(captures, interval_ms=1000, chokepoint=CHOKEPOINT):
    """Rows of {(case, tap): file}, in the same keys; raises if a capture can't be judged."""
    rows = {key: [] for key in captures}
    keys = list(captures)
    for first in range(0, len(keys), CAPTURES_AT_ONCE):
        part = keys[first:first + CAPTURES_AT_ONCE]
        command = [str(chokepoint), "analyze", "--format", "json", "--interval", f"{interval_ms}ms"]
        for number, key in enumerate(part):
            command += ["--tap", str(number), str(captures[key])]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise RuntimeError(f"`{' '.join(command[:6])} …` ended with {done.returncode}: "
                               f"{done.stderr.strip()[-500:]}")
        for line in done.stdout.splitlines():
            row = json.loads(line)
            if row["record"] in (INTERVAL, FLOW):
                row["start_ns"] = unix_ns(row["interval_start"])
                row["end_ns"] = unix_ns(row["interval_end"])
                rows[part[int(row["tap"])]].append(row)
    return rows
