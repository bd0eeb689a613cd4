#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CPU time per packet of the probe, beside reading alone and tcptrace on the same capture.

CPU is that of a process and all its threads, user and system. The slope between a short and a long capture leaves
the start out. Each figure is the least of several runs, since a shared machine only adds.

usage: run.py BUILD_FOLDER [PACKETS [FLOWS [RUNS]]]
"""
import os
import resource
import shutil
import subprocess
import sys
import tempfile


def cpu_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least_cpu_seconds(command, runs):
    return min(cpu_seconds(command) for _ in range(runs))


def main():
    build = sys.argv[1]
    packets = int(sys.argv[2]) if len(sys.argv) > 2 else 2_000_000
    flows = sys.argv[3] if len(sys.argv) > 3 else "1000"
    runs = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    short_packets = packets // 10
    with tempfile.TemporaryDirectory() as folder:
        captures = {}
        for count in (short_packets, packets):
            captures[count] = os.path.join(folder, f"{count}.pcap")
            with open(captures[count], "wb") as file:
                subprocess.run([build + "/tests/make_traffic", str(count), flows], check=True, stdout=file)
        output = os.path.join(folder, "out")
        commands = {
            "read only (libpcap)": lambda capture: [build + "/tests/read_only", capture],
            "probe": lambda capture: [build + "/chokepoint-probe", "--output", output, "--ledger", "/dev/null", capture],
        }
        if shutil.which("tcptrace"):
            commands["tcptrace"] = lambda capture: ["tcptrace", "-n", capture]
        print(f"{packets:,} packets, {flows} flows at once, {os.path.getsize(captures[packets]) / packets:.0f} bytes a packet in the file")
        for name, command in commands.items():
            short = least_cpu_seconds(command(captures[short_packets]), runs)
            long = least_cpu_seconds(command(captures[packets]), runs)
            slope = (long - short) / (packets - short_packets) * 1e9
            print(f"{name:20} {slope:6.0f} ns/packet (slope), {long / packets * 1e9:6.0f} in all, {short:.3f} s for {short_packets:,}")
            if name == "probe":
                print(f"{'':20} {os.path.getsize(output) / packets:.1f} bytes a packet in the batch stream")


main()
