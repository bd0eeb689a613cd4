#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads metrics on standard input by Prometheus' own rules and prints them as NAME VALUE.

Each counter of counters.def must be there once, with its help, and the books must balance. If the parser of
prometheus_client is not installed, the rules that are checked here must do.

usage: check_metrics.py COUNTERS_DEF
"""
import re
import sys

try:
    from prometheus_client.parser import text_string_to_metric_families
except ImportError:
    text_string_to_metric_families = None

text = sys.stdin.read()
assert text.endswith("\n")
families, values = {}, {}  # values are summed over workers
lines = set()
for line in text.splitlines():
    if match := re.fullmatch(r"# HELP (chokepoint_probe_[a-z0-9_]+) (\S.*)", line):
        assert match[1] not in families, f"twice: {line}"
        families[match[1]] = {"help": match[2]}
    elif match := re.fullmatch(r"# TYPE (chokepoint_probe_[a-z0-9_]+) (counter|gauge)", line):
        assert "type" not in families[match[1]], f"twice: {line}"
        assert (match[2] == "counter") == match[1].endswith("_total"), line
        families[match[1]]["type"] = match[2]
    else:
        match = re.fullmatch(r'([a-z0-9_]+)(\{(?:[a-z_]+="(?:[^"\\]|\\[\\"n])*",?)+\})? (\S+)', line)
        assert match, f"neither comment nor sample: {line}"
        assert "type" in families[match[1]] and line not in lines, line
        values[match[1]] = values.get(match[1], 0) + float(match[3])
    lines.add(line)

if text_string_to_metric_families:
    parsed = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            parsed[sample.name] = parsed.get(sample.name, 0) + sample.value
    assert parsed == values, (parsed, values)

with open(sys.argv[1], encoding="utf-8") as definitions:
    counters = re.findall(r'^CKP_COUNTER\([A-Z_]+, ([a-z_]+), [A-Z]+, "(.*)"\)$', definitions.read(), re.MULTILINE)
assert counters
for name, help_text in counters:
    assert families[f"chokepoint_probe_{name}_total"] == {"help": help_text, "type": "counter"}, name
fates = sum(
    values[f"chokepoint_probe_{name}_total"]
    for name, _ in counters
    if name.startswith("frames_") and name != "frames_received" and not name.startswith("frames_missed_")
)
# Packets in open runs are received, and encoded a moment later.
assert fates <= values["chokepoint_probe_frames_received_total"], fates

for name, value in values.items():
    print(name.removeprefix("chokepoint_probe_"), f"{value:.9g}")
