# SPDX-License-Identifier: Apache-2.0
"""What really limited each flow at each moment, as kernel, application and link recorded it.

Time is cut into slots, the periods between two samples of the sender's TCP_INFO (20 ms), or those
that the simulator wrote. In each slot the sender's own stop watches say how long the receiver's
window or the send buffer held it (`rwnd_limited`, `sndbuf_limited`), the application's log whether
there was anything to send, and the link's books whether it was busy, with whose frames, and
whether a queue stood. The order in which they are asked is that of the verdict (docs/analysis.md).
"""

import bisect
import csv
import json
from dataclasses import dataclass
from pathlib import Path

from causes import (APPLICATION, BOTTLENECK, CAUSES, LEAST_LEAD, LEAST_SHARE, RECEIVER_WINDOW,
                    SEND_BUFFER, SHARED, TRANSPORT, UNSHARED)

NANOS_PER_SECOND = 1_000_000_000
NANOS_PER_MILLI = 1_000_000
# Of the line behind the testbed's policer.
LINE_RATE_FACTOR = 10
# Where no tap can see more: who else fills a fair queue, and what a policer drops.
ALSO_RIGHT = {"fair-queueing": (SHARED, BOTTLENECK), "policer": (UNSHARED, BOTTLENECK, TRANSPORT)}


@dataclass(frozen=True)
class Thresholds:
    """Where the books of link and sender begin to mean something; sensitivity.py moves each."""

    # More than the one frame that is just being sent.
    standing_bytes: int = 1600
    # Of the link: below, congestion control has not filled it.
    busy_link: float = 0.9
    # Of the link: from here on nothing else could have made the flow faster.
    used_up_link: float = 0.97
    # Of the link's bytes: from here on the flow has it for itself (a dispersion score of 0.1).
    own_link: float = 0.9
    # In which the shares of a link are counted: long against the sampling, short against an
    # interval.
    window_ms: int = 200
    # Of the receiver's window; a sender holds back what would not be a full segment.
    room_segments: int = 2
    # Of the time: what a cause must own at least, and have more than the next (causes.py).
    least_share: float = LEAST_SHARE
    least_lead: float = LEAST_LEAD


USUAL = Thresholds()


def read_csv(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


class Series:
    """A quantity by time, summed over any window in the time of a search."""

    def __init__(self, times_ns, values):
        self.times_ns = times_ns
        self.sums = [0]
        for value in values:
            self.sums.append(self.sums[-1] + value)

    def over(self, start_ns, end_ns):
        """The sum of what lies in [start, end), and how many entries that were."""
        first = bisect.bisect_left(self.times_ns, start_ns)
        last = bisect.bisect_left(self.times_ns, end_ns)
        return self.sums[last] - self.sums[first], last - first

    def mean(self, start_ns, end_ns):
        total, entries = self.over(start_ns, end_ns)
        return total / entries if entries else 0.0


def narrowest_mbit(parameters):
    others = (parameters.get(key) for key in ("upstream_mbit", "downstream_mbit", "policer_mbit"))
    return min(parameters["rate_mbit"], *(mbit for mbit in others if mbit), float("inf"))


class Link:
    """The bottleneck, in bins: how busy, how full, and with whose bytes."""

    def __init__(self, folder, truth):
        rows = read_csv(folder / "queue.csv")
        times = [int(row["unix_ns"]) for row in rows]
        self.bin_ns = times[1] - times[0]
        self.busy = Series(times, [int(row["busy_ns"]) for row in rows])
        self.least_bytes = [int(row["min_queue_bytes"]) for row in rows]
        self.of_flow, self.of_all = {}, None
        file = folder / "link.csv"
        if file.exists():
            rows = read_csv(file)
            self.of_all = Series([int(row["unix_ns"]) for row in rows],
                                 [int(row["bytes"]) for row in rows])
            for flow in {row["flow"] for row in rows}:
                own = [row for row in rows if row["flow"] == flow]
                self.of_flow[flow] = Series([int(row["unix_ns"]) for row in own],
                                            [int(row["bytes"]) for row in own])
        self.is_alone = len(truth["truth"]["flows"]) == 1
        # Where another part of the path is the narrow one, full is what carries all it lets by.
        parameters = truth["parameters"]
        line_mbit = parameters["rate_mbit"]
        if parameters.get("policer_burst_kb"):
            line_mbit *= LINE_RATE_FACTOR
        self.fullest = narrowest_mbit(parameters) / line_mbit

    def standing(self, above_bytes):
        """The bins in which a queue stood."""
        return Series(self.busy.times_ns, [least > above_bytes for least in self.least_bytes])

    def busy_share(self, start_ns, end_ns):
        busy_ns, bins = self.busy.over(start_ns, end_ns)
        return busy_ns / (bins * self.bin_ns * self.fullest) if bins else 0.0

    def own_share(self, flow, start_ns, end_ns):
        """Of the bytes that the link carried."""
        if self.of_all is None:
            return 1.0 if self.is_alone else 0.0
        total, _ = self.of_all.over(start_ns, end_ns)
        own = self.of_flow.get(flow)
        return own.over(start_ns, end_ns)[0] / total if total and own else 0.0


class Slot:
    """The time between two samples, and how long what held the sender in it."""

    def __init__(self, start_ns, end_ns, shares):
        self.start_ns, self.end_ns, self.shares = start_ns, end_ns, shares


class Writer:
    """Whether the application wanted to send, from its own log."""

    def __init__(self, events):
        self.times_ns = [time_ns for time_ns, _ in events]
        self.wants = [wants for _, wants in events]

    def wanted_at(self, time_ns):
        i = bisect.bisect_right(self.times_ns, time_ns) - 1
        return i >= 0 and self.wants[i]


def kernel_slots(samples, writer, mss_bytes, room_segments):
    """(start, end, application, send buffer, receiver window) in ns; the rest was the network's."""
    slots = []
    recent_flight = []
    for before, after in zip(samples, samples[1:]):
        length_ns = after["unix_ns"] - before["unix_ns"]
        if length_ns <= 0:
            continue
        since = {key: min(1000 * (after[key] - before[key]), length_ns)
                 for key in ("busy_us", "rwnd_limited_us", "sndbuf_limited_us")}
        window_ns, buffer_ns = since["rwnd_limited_us"], since["sndbuf_limited_us"]
        network_ns = max(0, since["busy_us"] - window_ns - buffer_ns)
        idle_ns = max(0, length_ns - since["busy_us"])
        middle_ns = (before["unix_ns"] + after["unix_ns"]) // 2
        wanted = writer.wanted_at(middle_ns)
        # A pacing sender is booked as busy though the window sets its pace.
        recent_flight = (recent_flight + [after["unacked_segments"]])[-10:]
        if network_ns and after["snd_wnd_bytes"] - max(recent_flight) * mss_bytes \
                < room_segments * mss_bytes and after["snd_wnd_bytes"] > 0:
            window_ns, network_ns = window_ns + network_ns, 0
        # Nagle's algorithm keeps back less than a segment until there is more of it.
        starved = sum(sample["notsent_bytes"] < mss_bytes
                      and sample["unacked_segments"] < sample["cwnd_segments"]
                      for sample in (before, after)) / 2
        application_ns = idle_ns
        if wanted:
            buffer_ns += starved * network_ns
        else:
            application_ns += starved * network_ns
        if wanted and idle_ns and starved == 1:
            application_ns, buffer_ns = application_ns - idle_ns, buffer_ns + idle_ns
        slots.append((before["unix_ns"], after["unix_ns"], application_ns, buffer_ns, window_ns))
    return slots


class EmulatedClock:
    """The clock of the captures: unlike the hosts' it stood still when the machine stalled."""

    def __init__(self, epoch_ns, stalls):
        self.ends_ns, self.behind_ns = [], [0]
        for stall in sorted(stalls, key=lambda stall: stall["emulated_ns"]):
            behind_ns = self.behind_ns[-1] + stall["duration_ns"]
            self.ends_ns.append(epoch_ns + stall["emulated_ns"] + behind_ns)
            self.behind_ns.append(behind_ns)

    def of(self, host_ns):
        return host_ns - self.behind_ns[bisect.bisect_right(self.ends_ns, host_ns)]


class SlotTruth:
    """Shares of any stretch of time, by flow, from slots in the order of time."""

    def __init__(self, slots):
        self.slots = slots
        self.ends_ns = {name: [slot.end_ns for slot in of_flow] for name, of_flow in slots.items()}

    def shares(self, flow, start_ns, end_ns):
        """Shares of [start, end) by cause, or None if less than half of it was recorded."""
        sums = dict.fromkeys(CAUSES, 0.0)
        seen_ns = 0
        first = bisect.bisect_left(self.ends_ns.get(flow, []), start_ns)
        for slot in self.slots.get(flow, [])[first:]:
            if slot.start_ns >= end_ns:
                break
            part_ns = min(slot.end_ns, end_ns) - max(slot.start_ns, start_ns)
            if part_ns > 0:
                seen_ns += part_ns
                for cause, share in slot.shares.items():
                    sums[cause] += share * part_ns
        if seen_ns * 2 < end_ns - start_ns:
            return None
        return {cause: value / seen_ns for cause, value in sums.items()}


class CaseTruth(SlotTruth):
    """One case: who limited whom, when."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.truth = json.loads((self.folder / "truth.json").read_text())
        self.name = self.folder.name
        self.scenario = self.truth["scenario"]
        self.parameters = self.truth["parameters"]
        self.direction = self.truth["expected"]["direction"]
        self.expected = self.truth["expected"]["root_cause"]
        # What says no more than can be seen is no mistake; the expected cause is one of them.
        self.acceptable = self.truth["expected"].get(
            "acceptable", ALSO_RIGHT.get(self.scenario, (self.expected,)))
        self.half = self.truth.get("half")
        self.is_simulated = self.truth.get("simulated", False)
        self.interval_ms = self.truth.get("interval_ms", 1000)
        self.link = Link(self.folder, self.truth)
        self.round_trip_ns = int(self.parameters["rtt_ms"] * NANOS_PER_MILLI)
        self.flows = {flow["name"]: flow for flow in self.truth["truth"]["flows"]}
        self.samples = self.read_samples()
        self.writers = self.read_writers()
        self.waits = self.read_waits()
        super().__init__(self.judged_by(USUAL))

    @property
    def bits_per_second(self):
        return narrowest_mbit(self.parameters) * 1e6

    def name_of_flow(self, client_ip, client_port, server_ip, server_port):
        for name, flow in self.flows.items():
            if (flow["client_port"], flow["server_port"]) == (client_port, server_port) \
                    and (flow["client_ip"], flow["server_ip"]) == (client_ip, server_ip):
                return name
        return None

    def judged_by(self, thresholds):
        """By flow, its slots."""
        standing = self.link.standing(thresholds.standing_bytes)
        return {name: self.judge(name, held, standing, thresholds)
                for name, held in self.held(thresholds.room_segments).items()}

    def held(self, room_segments):
        """By flow: slots of what held the sender, the network left out."""
        return self.waits or {
            name: kernel_slots(of_flow, self.writers[name], of_flow[-1]["snd_mss_bytes"],
                               room_segments)
            for name, of_flow in self.samples.items() if of_flow}

    def read_waits(self):
        """By flow, the slots that the simulator wrote; None if it was not simulated."""
        file = self.folder / "waits.csv"
        if not file.exists():
            return None
        slots = {name: [] for name in self.flows}
        for row in read_csv(file):
            slots[row["flow"]].append(tuple(int(row[key]) for key in (
                "unix_ns_start", "unix_ns_end", "application_ns", "send_buffer_ns",
                "receiver_window_ns")))
        return slots

    def read_samples(self):
        """TCP_INFO of each flow's sender, on the clock of the captures; empty if simulated."""
        samples = {name: [] for name in self.flows}
        file = self.folder / "tcp_info.csv"
        if not file.exists():
            return samples
        clock = self.clock()
        for row in read_csv(file):
            if row["flow"] in samples:
                sample = {key: int(value) for key, value in row.items() if key != "flow"}
                sample["unix_ns"] = clock.of(sample["unix_ns"])
                samples[row["flow"]].append(sample)
        return samples

    def clock(self):
        truth = self.truth["truth"]
        return EmulatedClock(truth.get("epoch_unix_ns", self.link.busy.times_ns[0]),
                             truth.get("stalls", []))

    def read_writers(self):
        file = self.folder / "application.csv"
        if file.exists():
            clock = self.clock()
            events = {name: [] for name in self.samples}
            for row in read_csv(file):
                if row["event"] in ("wants", "rests") and row["flow"] in events:
                    events[row["flow"]].append((clock.of(int(row["unix_ns"])),
                                                row["event"] == "wants"))
            return {name: Writer(of_flow) for name, of_flow in events.items()}
        # A writer of bulk wants to send as long as it was told to.
        writes = self.expected not in (APPLICATION,)
        duration_ns = int(self.parameters["duration"] * NANOS_PER_SECOND)
        return {name: Writer([(of_flow[0]["unix_ns"], writes),
                              (of_flow[0]["unix_ns"] + duration_ns, False)])
                for name, of_flow in self.samples.items() if of_flow}

    def judge(self, flow, held, standing, limits):
        """Shares of each slot by cause."""
        slots = []
        half_ns = max(limits.window_ms * NANOS_PER_MILLI, self.round_trip_ns) // 2
        if self.interval_ms < 1000:
            half_ns = max(self.link.bin_ns, self.round_trip_ns)
        for start_ns, end_ns, application_ns, buffer_ns, window_ns in held:
            middle_ns = (start_ns + end_ns) // 2
            window = (middle_ns - half_ns, middle_ns + half_ns)
            busy = self.link.busy_share(*window)
            own = self.link.own_share(flow, *window)
            length_ns = end_ns - start_ns
            network_ns = max(0, length_ns - application_ns - buffer_ns - window_ns)
            bottleneck = UNSHARED if own >= limits.own_link else SHARED
            if busy >= limits.used_up_link and own >= limits.own_link:
                shares = {UNSHARED: 1.0}
            else:
                full = 1.0 if busy >= limits.busy_link else standing.mean(
                    start_ns, max(end_ns, start_ns + self.link.bin_ns))
                shares = {APPLICATION: application_ns / length_ns,
                          SEND_BUFFER: buffer_ns / length_ns,
                          RECEIVER_WINDOW: window_ns / length_ns,
                          bottleneck: network_ns * full / length_ns,
                          TRANSPORT: network_ns * (1 - full) / length_ns}
            slots.append(Slot(start_ns, end_ns, shares))
        return slots
