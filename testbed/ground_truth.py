# SPDX-License-Identifier: Apache-2.0
"""Reads what the emulator and the senders recorded and reduces it to the figures of truth.json."""

import csv
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

NANOS_PER_SECOND = 1e9
QUEUE_BIN_SECONDS = 0.01
STANDING_FRAMES = 1.07  # more than the one that is just being sent
SETTLE_SECONDS = 1.0   # slow start and its first loss are not yet the steady state
ENDPOINT_KEYS = ("name", "client_ip", "client_port", "server_ip", "server_port",
                 "congestion_control", "pattern", "reader", "hidden")


@dataclass
class GroundTruth:
    """Shares are of time unless they say otherwise; `flows` are in the direction of the data."""

    link_busy_share: float
    queue_standing_share: float
    queue_mean_bytes: float
    queue_max_bytes: int
    delivered_frames: int
    queue_drops: int
    policer_drops: int
    codel_drops: int
    ecn_marks: int
    random_losses: int
    reordered_frames: int
    stalled_seconds: float
    epoch_unix_ns: int  # emulated time 0
    stalls: list        # kernel time t is emulated time t - epoch - all stalls before
    mean_lateness_seconds: float
    max_lateness_seconds: float
    interface_drops: int
    flows: list = field(default_factory=list)

    @property
    def visible_flows(self):
        return [flow for flow in self.flows if not flow["hidden"]]

    @property
    def lost_frames(self):
        return self.queue_drops + self.policer_drops + self.codel_drops + self.random_losses

    @property
    def reordered_share(self):
        return self.reordered_frames / max(self.delivered_frames, 1)


def share(part, whole):
    return part / whole if whole else 0.0


def starved_share(samples):
    """How often TCP had sent all it was given and might have sent more: of a writer that never
    pauses, the send buffer's doing. (`sndbuf_limited` misses it when the last write filled the
    buffer in several steps.)"""
    starved = sum(int(row["notsent_bytes"]) == 0
                  and int(row["unacked_segments"]) < int(row["cwnd_segments"]) for row in samples)
    return share(starved, len(samples))


def flow_truth(flow, direction, summary, samples, path):
    """The figures of one flow: the sender's own account beside the path's."""
    info = summary["tcp_info"]
    seconds = summary["seconds"]
    settings = {key: value for key, value in flow.items()
                if key not in ENDPOINT_KEYS and key not in ("phases", "seed")}
    return {
        **{key: flow[key] for key in ENDPOINT_KEYS},
        "data_direction": direction,
        "settings": settings,
        "seconds": seconds,
        "goodput_bits_per_second": 8 * info["bytes_acked"] / seconds,
        "data_segments": info["data_segments_out"],
        "busy_share": share(info["busy_us"] / 1e6, seconds),
        "rwnd_limited_share": share(info["rwnd_limited_us"], info["busy_us"]),
        "sndbuf_limited_share": share(info["sndbuf_limited_us"], info["busy_us"]),
        "starved_share": starved_share(samples),
        "retransmitted_share_of_bytes": share(info["bytes_retrans"], info["bytes_sent"]),
        "retransmitted_segments": info["total_retrans_segments"],
        "min_rtt_seconds": info["min_rtt_us"] / 1e6,
        "first_snd_mss_bytes": int(samples[0]["snd_mss_bytes"]),
        "last_snd_mss_bytes": info["snd_mss_bytes"],
        "path": path,
    }


def phase_truth(phase, samples, queue_file):
    """A phase without its settling: the link, and the sender's stop watch."""
    first_ns = phase["start_unix_ns"] + int(SETTLE_SECONDS * NANOS_PER_SECOND)
    last_ns = phase["end_unix_ns"]
    seen = [row for row in samples if first_ns <= int(row["unix_ns"]) <= last_ns]
    elapsed_us = (int(seen[-1]["unix_ns"]) - int(seen[0]["unix_ns"])) / 1000
    limited_us = int(seen[-1]["rwnd_limited_us"]) - int(seen[0]["rwnd_limited_us"])
    return {
        **{key: phase[key] for key in ("root_cause", "start_unix_ns", "end_unix_ns")},
        "link_busy_share": link_figures(queue_file, first_ns, last_ns)["link_busy_share"],
        "rwnd_limited_share": share(limited_us, elapsed_us),
    }


def data_rows(flows, download, directions):
    """Number of the emulator's row for the data direction of each flow, by name."""
    numbers = {(row["source"], row["source_port"], row["destination"], row["destination_port"]):
               number for number, row in enumerate(directions)}
    found = {}
    for flow in flows:
        client = (flow["client_ip"], flow["client_port"])
        server = (flow["server_ip"], flow["server_port"])
        found[flow["name"]] = numbers.get(server + client if download else client + server)
    return found


def name_flows(source, target, names):
    """Copies a CSV file of the emulator, numbers of flows replaced by names; the others go."""
    with open(source, newline="") as given, open(target, "w", newline="") as named:
        reader = csv.DictReader(given)
        writer = csv.DictWriter(named, reader.fieldnames, lineterminator="\n")
        writer.writeheader()
        for row in reader:
            if int(row["flow"]) in names:
                row["flow"] = names[int(row["flow"])]
                writer.writerow(row)


def link_shares(link_file):
    """Of the bytes that the link carried, by name of the flow."""
    total = Counter()
    with open(link_file, newline="") as file:
        for row in csv.DictReader(file):
            total[row["flow"]] += int(row["bytes"])
    return {name: share(num_bytes, total.total()) for name, num_bytes in total.items()}


def merge_activity(sources, target):
    """One file of what the applications of both ends did, by time."""
    rows = []
    for source in sources:
        header, *more = Path(source).read_text().splitlines()
        rows += more
    rows.sort(key=lambda row: int(row.split(",", 1)[0]))
    Path(target).write_text("\n".join((header, *rows)) + "\n")


def link_figures(queue_file, first_ns, last_ns, standing_bytes=0):
    """The bottleneck between two instants of Unix time."""
    with open(queue_file, newline="") as file:
        rows = [{key: int(value) for key, value in row.items()} for row in csv.DictReader(file)]
    seen = [row for row in rows if first_ns <= row["unix_ns"] <= last_ns] or rows
    bins = len(seen)
    return {
        "link_busy_share":
            sum(row["busy_ns"] for row in seen) / (bins * QUEUE_BIN_SECONDS * NANOS_PER_SECOND),
        "queue_standing_share":
            sum(row["min_queue_bytes"] > standing_bytes for row in seen) / bins,
        "queue_mean_bytes":
            sum(row["min_queue_bytes"] + row["max_queue_bytes"] for row in seen) / 2 / bins,
        "queue_max_bytes": max(row["max_queue_bytes"] for row in rows),
    }


def combine(emulator, files, flows, parameters, summaries, interface_drops):
    """Sets the emulator's books beside the summaries of the sending end."""
    with open(files["tcp_info"], newline="") as file:
        samples = list(csv.DictReader(file))
    sampled_ns = [int(row["unix_ns"]) for row in samples]
    settle_ns = min(SETTLE_SECONDS * NANOS_PER_SECOND, (max(sampled_ns) - min(sampled_ns)) / 4)
    link = link_figures(files["queue"], min(sampled_ns) + settle_ns,
                        max(sampled_ns) - settle_ns / 2, STANDING_FRAMES * parameters.mtu)

    directions = emulator["directions_of_flows"]
    rows = data_rows(flows, parameters.download, directions)
    direction = "server_to_client" if parameters.download else "client_to_server"
    shares = link_shares(files["link"])
    per_flow = []
    for flow in flows:
        own = [row for row in samples if row["flow"] == flow["name"]]
        summary = summaries[flow["name"]]
        path = {key: value for key, value in directions[rows[flow["name"]]].items()
                if key.endswith(("_frames", "_bytes"))} if rows[flow["name"]] is not None else {}
        per_flow.append({
            **flow_truth(flow, direction, summary, own, path),
            "link_share": shares.get(flow["name"], 0.0),
            "phases": [phase_truth(phase, own, files["queue"]) for phase in summary["phases"]]})
    total = {fate: sum(flow["path"].get(f"{fate}_frames", 0) for flow in per_flow)
             for fate in ("delivered", "queue_drops", "policer_drops", "codel_drops", "ecn_marks",
                          "random_losses", "reordered")}
    return GroundTruth(
        **link,
        delivered_frames=total.pop("delivered"), reordered_frames=total.pop("reordered"), **total,
        stalled_seconds=emulator["stalled_ns"] / NANOS_PER_SECOND,
        epoch_unix_ns=emulator["epoch_unix_ns"],
        stalls=emulator["stalls"],
        mean_lateness_seconds=emulator["mean_lateness_ns"] / NANOS_PER_SECOND,
        max_lateness_seconds=emulator["max_lateness_ns"] / NANOS_PER_SECOND,
        interface_drops=interface_drops + emulator["num_undelivered"],
        flows=per_flow)
