# SPDX-License-Identifier: Apache-2.0
"""Reads what the emulator and the senders recorded and reduces it to the figures of truth.json."""

import csv
from dataclasses import dataclass, field

NANOS_PER_SECOND = 1e9
QUEUE_BIN_SECONDS = 0.01
STANDING_BYTES = 1600  # more than the one frame that is just being sent
SETTLE_SECONDS = 1.0   # slow start and its first loss are not yet the steady state


@dataclass
class GroundTruth:
    """Shares are of time unless they say otherwise; `flows` are in the direction of the data."""

    link_busy_share: float
    queue_standing_share: float
    queue_mean_bytes: float
    queue_max_bytes: int
    delivered_frames: int
    queue_drops: int
    random_losses: int
    reordered_frames: int
    stalled_seconds: float
    stalls: list
    mean_lateness_seconds: float
    max_lateness_seconds: float
    interface_drops: int
    flows: list = field(default_factory=list)

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


def flow_truth(flow, summary, samples, fates):
    """The figures of one flow: the sender's own account beside the path's."""
    info = summary["tcp_info"]
    seconds = summary["seconds"]
    return {
        **{key: flow[key] for key in
           ("name", "client_ip", "client_port", "server_ip", "server_port")},
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
        "path": fates,
    }


def fates_of(flow, download, directions):
    """The emulator's row for the data direction of a flow."""
    client = (flow["client_ip"], flow["client_port"])
    server = (flow["server_ip"], flow["server_port"])
    source, destination = (server, client) if download else (client, server)
    for row in directions:
        if (row["source"], row["source_port"]) == source and \
                (row["destination"], row["destination_port"]) == destination:
            return {key: value for key, value in row.items()
                    if key.endswith(("_frames", "_bytes"))}
    return {}


def link_figures(queue_file, first_ns, last_ns):
    """The bottleneck between two instants of Unix time."""
    with open(queue_file, newline="") as file:
        rows = [{key: int(value) for key, value in row.items()} for row in csv.DictReader(file)]
    seen = [row for row in rows if first_ns <= row["unix_ns"] <= last_ns] or rows
    bins = len(seen)
    return {
        "link_busy_share":
            sum(row["busy_ns"] for row in seen) / (bins * QUEUE_BIN_SECONDS * NANOS_PER_SECOND),
        "queue_standing_share":
            sum(row["min_queue_bytes"] > STANDING_BYTES for row in seen) / bins,
        "queue_mean_bytes":
            sum(row["min_queue_bytes"] + row["max_queue_bytes"] for row in seen) / 2 / bins,
        "queue_max_bytes": max(row["max_queue_bytes"] for row in rows),
    }


def combine(emulator, files, flows, download, summaries, interface_drops):
    """Sets the emulator's books beside the summaries of the sending end."""
    with open(files["tcp_info"], newline="") as file:
        samples = list(csv.DictReader(file))
    sampled_ns = [int(row["unix_ns"]) for row in samples]
    settle_ns = min(SETTLE_SECONDS * NANOS_PER_SECOND, (max(sampled_ns) - min(sampled_ns)) / 4)
    link = link_figures(files["queue"], min(sampled_ns) + settle_ns,
                        max(sampled_ns) - settle_ns / 2)

    per_flow = [flow_truth(flow, summaries[flow["name"]],
                           [row for row in samples if row["flow"] == flow["name"]],
                           fates_of(flow, download, emulator["directions_of_flows"]))
                for flow in flows]
    total = {fate: sum(flow["path"].get(f"{fate}_frames", 0) for flow in per_flow)
             for fate in ("delivered", "queue_drops", "random_losses", "reordered")}
    return GroundTruth(
        **link,
        delivered_frames=total["delivered"], queue_drops=total["queue_drops"],
        random_losses=total["random_losses"], reordered_frames=total["reordered"],
        stalled_seconds=emulator["stalled_ns"] / NANOS_PER_SECOND,
        stalls=emulator["stalls"],
        mean_lateness_seconds=emulator["mean_lateness_ns"] / NANOS_PER_SECOND,
        max_lateness_seconds=emulator["max_lateness_ns"] / NANOS_PER_SECOND,
        interface_drops=interface_drops + emulator["num_undelivered"],
        flows=per_flow)
