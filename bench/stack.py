# SPDX-License-Identifier: Apache-2.0
"""Services of their own for a measurement."""
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
JOB_JAR = ROOT / "flink-jobs/limitation-job/target/limitation-job.jar"
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def run(command, **options):
    subprocess.run([str(word) for word in command], check=True, **options)


class Stack:
    """Kafka, Flink and ClickHouse of their own, on free ports."""

    def __init__(self, folder, slots=2, job_options=(), **env):
        self.folder = folder
        self.slots = slots
        self.job_options = job_options
        self.env = {**os.environ, "CHOKEPOINT_RUN": str(folder), "CHOKEPOINT_PORTS": "free", **env}

    def __enter__(self):
        self.call("services/stack", "start")
        for line in (self.folder / "services.env").read_text().splitlines():
            name, _, value = line.partition("=")
            self.env[name] = value
        self.call("chokepoint", "migrate")
        self.call("services/flink", "run", "-d", "-p", str(self.slots), JOB_JAR, *self.job_options)
        return self

    def __exit__(self, *_):
        self.call("services/stack", "stop")

    def call(self, command, *arguments):
        run([ROOT / command, *arguments], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def sql(self, statement, user="READER", seconds=60):
        settings = {"database": self.env["CHOKEPOINT_CLICKHOUSE_DATABASE"]}
        request = urllib.request.Request(
            self.env["CHOKEPOINT_CLICKHOUSE"] + "/?" + urllib.parse.urlencode(settings),
            data=statement.encode(),
            headers={
                "X-ClickHouse-User": self.env[f"CHOKEPOINT_CLICKHOUSE_{user}_USER"],
                "X-ClickHouse-Key": self.env[f"CHOKEPOINT_CLICKHOUSE_{user}_PASSWORD"],
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=seconds) as answer:
                return answer.read().decode().strip()
        except urllib.error.HTTPError as refusal:
            sys.exit(f"bench: ClickHouse refuses {statement}: {refusal.read().decode()}")

    def cpu_seconds(self):
        """CPU of each service since its start, ended children included."""
        files = {
            "Kafka broker": "kafka/broker.pid",
            "JobManager": "flink/jobmanager.pid",
            "TaskManager": "flink/taskmanager.pid",
            "ClickHouse": "clickhouse/server.pid",
        }
        seconds = {}
        for name, file in files.items():
            pid = (self.folder / file).read_text().split()[0]
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            seconds[name] = sum(int(ticks) for ticks in fields[11:15]) / TICKS_PER_SECOND
        return seconds

    def task_manager_rss_mib(self):
        """At its largest so far."""
        pid = (self.folder / "flink/taskmanager.pid").read_text().split()[0]
        status = Path(f"/proc/{pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) // 1024

    def largest_checkpoints(self):
        """Bytes, bytes written for it, and ms of the job's checkpoints so far, each at its largest."""
        flink = self.env["CHOKEPOINT_FLINK"]
        with urllib.request.urlopen(f"{flink}/jobs", timeout=60) as answer:
            job = json.load(answer)["jobs"][0]["id"]
        with urllib.request.urlopen(f"{flink}/jobs/{job}/checkpoints", timeout=60) as answer:
            summary = json.load(answer)["summary"]
        return {name: summary[name]["max"] for name in ("state_size", "checkpointed_size", "end_to_end_duration")}

    def topic_bytes(self):
        return sum(file.stat().st_size for file in self.folder.glob("kafka/data/tcp-segments-[0-9]*/*.log"))

    def await_verdicts(self, delivered, deadline_seconds):
        """Waits until all packets that were delivered had their fate in the tables, and no more rows come."""
        fates = "'contributed', 'contributed_after_hole', 'repeated', 'malformed'"
        question = (
            f"SELECT (SELECT sum(packets) FROM ledger WHERE fate IN ({fates})), (SELECT count() FROM flows_stored), "
            "(SELECT count() FROM rejected_rows)"
        )
        deadline = time.monotonic() + deadline_seconds
        before = ""
        while True:
            seen = self.sql(question)
            if seen.split()[2] != "0":
                sys.exit("bench: ClickHouse refused rows, so this is not the whole pipeline; see table rejected_rows")
            if int(seen.split()[0]) >= delivered and seen == before:
                return
            if time.monotonic() > deadline:
                sys.exit(f"bench: of {delivered} packets the tables tell of {seen} after {deadline_seconds} s")
            before = seen
            time.sleep(2)
