#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long after the end of its interval a row can be queried: latency.py CAPTURE PACKETS_PER_SECOND SECONDS

Plays the capture to an interface that a live probe watches, through Kafka, Flink and ClickHouse, and asks the table again
and again. A row's latency is the time at which it was first seen less the end of its interval, so it is too large by up to
the time between two questions. Interface and services are in the network namespace of the caller, which `unshare --net`
makes. Prints JSON.
"""
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
from stack import ROOT, Stack, run  # noqa: E402

PROBE = ROOT / "build/probe/chokepoint-probe"
PORT = "net_af_packet0,iface=watch0,blocksz=65536,framesz=2048,framecnt=16384"  # as probe/README.md advises
ASK_EVERY_SECONDS = 0.1
WARM_UP_SECONDS = 20  # in which the just-in-time compiler is at work
AFTERWARDS_SECONDS = 10
READY_SECONDS = 60
SLEEPING = ["--timer=nano", "--pps-multi=50"]  # of two cores, the sender would otherwise spend half of one on the time


def make_interfaces():
    run(["ip", "link", "set", "lo", "up"])
    run(["ip", "link", "add", "send0", "type", "veth", "peer", "name", "watch0"])
    for interface in ("send0", "watch0"):
        run(["sysctl", "-qw", f"net.ipv6.conf.{interface}.disable_ipv6=1"])
        run(["ip", "link", "set", interface, "up"])


def await_ready(probe, ledger):
    """The probe serves its health once port and Kafka are open."""
    deadline = time.monotonic() + READY_SECONDS
    while subprocess.run(["curl", "-sf", "http://127.0.0.1:9465/readyz"], capture_output=True, check=False).returncode:
        if probe.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"bench: the probe does not get ready; its ledger: {ledger}")
        time.sleep(0.1)


class Watch:
    """Which rows were seen when: rows are told apart by the end of their interval, and counted."""

    def __init__(self, stack):
        self.stack = stack
        self.seen = Counter()
        self.latencies = []  # (end of interval, seconds, rows)

    def look(self):
        # Rows are upserts, so a merge may make fewer of them: only growth counts.
        answer = self.stack.sql(
            "SELECT toUnixTimestamp64Nano(interval_end), count() FROM limitation_intervals_stored GROUP BY interval_end"
        )
        now = time.time()
        for line in answer.splitlines():
            end_ns, rows = map(int, line.split())
            if rows > self.seen[end_ns]:
                self.latencies.append((end_ns / 1e9, now - end_ns / 1e9, rows - self.seen[end_ns]))
                self.seen[end_ns] = rows

    def until(self, deadline):
        while (left := deadline - time.time()) > 0:
            self.look()
            time.sleep(min(ASK_EVERY_SECONDS, left))


def quantile(latencies, share):
    """Of latencies weighted by rows."""
    wanted = share * sum(rows for _, rows in latencies)
    for latency, rows in sorted(latencies):
        wanted -= rows
        if wanted <= 0:
            return round(latency, 2)
    return None


def play(stack, probe, ledger, capture, rate, seconds):
    await_ready(probe, ledger)
    sender = subprocess.Popen(
        ["tcpreplay", "-q", "-i", "send0", f"--pps={rate}", f"--duration={seconds}", *SLEEPING, capture],
        stdout=subprocess.DEVNULL,
    )
    start = time.time()
    watch = Watch(stack)
    watch.until(start + seconds)
    sender.wait(seconds)
    watch.until(time.time() + AFTERWARDS_SECONDS)
    return watch, start


def main():
    capture, rate, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    make_interfaces()
    with tempfile.TemporaryDirectory(prefix="chokepoint-latency-") as home, Stack(Path(home)) as stack:
        ledger = Path(home) / "ledger.json"
        probe = subprocess.Popen(
            [PROBE, "--tap", "bench", "--port", PORT, "--kafka", stack.env["CHOKEPOINT_KAFKA"],
             "--metrics", "127.0.0.1:9465", "--ledger", ledger]  # fmt: skip
        )
        try:
            watch, start = play(stack, probe, ledger, capture, rate, seconds)
            probe.send_signal(signal.SIGTERM)
            probe.wait(READY_SECONDS)
        finally:
            probe.kill()
        counters = json.loads(ledger.read_text())["counters"]
        warm = [(latency, rows) for end, latency, rows in watch.latencies
                if start + WARM_UP_SECONDS < end < start + seconds]  # fmt: skip
        print(
            json.dumps(
                {
                    "packets_per_second": round(counters["packets_encoded"] / seconds),
                    "seconds": seconds,
                    "frames_missed": sum(value for name, value in counters.items() if name.startswith("frames_missed")),
                    "rows": sum(rows for _, rows in warm),
                    **{f"p{100 * share:g}": quantile(warm, share) for share in (0.5, 0.9, 0.99, 0.999)},
                }
            )
        )


if __name__ == "__main__":
    main()
