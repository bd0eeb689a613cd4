# SPDX-License-Identifier: Apache-2.0
"""The scenarios: what the hosts do, what the path does, and what must have come true."""

from dataclasses import dataclass, field
from typing import Callable

KILO = 1000
MEGA = 1000 * 1000
STEADY_SECONDS = 10.0


@dataclass
class Parameters:
    """One run; None means the scenario's own default."""

    seed: int = 1
    rate_mbit: float = None
    rtt_ms: float = None
    queue_kb: float = None
    access_mbit: float = None
    ack_mbit: float = None
    cc: str = None
    flows: int = None
    port: int = None
    duration: float = None
    ip_version: int = 4
    timestamps: bool = True
    download: bool = None
    window_kb: float = None
    send_buffer_kb: float = None
    app_mbit: float = None
    burst_kb: float = None
    pause_ms: float = None
    loss: float = None
    loss_at: str = None
    reorder: float = None
    reorder_at: str = None
    overtakers: str = None

    @property
    def bits_per_second(self):
        return self.rate_mbit * MEGA

    @property
    def bandwidth_delay_bytes(self):
        return self.bits_per_second * self.rtt_ms / 1000 / 8

    def fill(self, defaults):
        for key, value in {**COMMON_DEFAULTS, **defaults}.items():
            if getattr(self, key) is None:
                setattr(self, key, value)
        if self.queue_kb is None:
            self.queue_kb = max(self.bandwidth_delay_bytes / KILO, 30)


COMMON_DEFAULTS = {"rate_mbit": 10.0, "access_mbit": 1000.0, "rtt_ms": 40.0, "cc": "cubic",
                   "flows": 1, "duration": STEADY_SECONDS, "download": False}


@dataclass(frozen=True)
class Scenario:
    summary: str
    root_cause: str
    traffic: Callable  # Parameters -> keys of a flow, see traffic.py
    checks: tuple      # each: (Parameters, GroundTruth) -> complaint or None
    defaults: dict = field(default_factory=dict)
    path: Callable = lambda parameters: []  # Parameters -> options of the emulator
    max_segments_per_write: int = 64  # what TCP hands to the interface at once


# ---- what must have come true ------------------------------------------------------------------


def each_flow(predicate, complaint):
    """A check that holds for every flow."""
    def check(parameters, truth):
        for flow in truth.flows:
            if not predicate(flow):
                return f"flow {flow['name']}: " + complaint.format(**flow)
        return None
    return check


def link_busy(least):
    def check(_parameters, truth):
        if truth.link_busy_share < least:
            return f"the link was busy only {truth.link_busy_share:.1%} of the time"
        return None
    return check


def link_idle(most):
    def check(_parameters, truth):
        if truth.link_busy_share > most:
            return f"the link was busy {truth.link_busy_share:.1%} of the time"
        return None
    return check


def queue_stands(parameters, truth):
    """Not asked of BBR, which aims at an empty queue, nor of a queue that each loss empties."""
    deep = parameters.queue_kb * KILO >= 0.9 * parameters.bandwidth_delay_bytes
    if parameters.cc != "bbr" and deep and truth.queue_standing_share < 0.5:
        return f"the queue stood only {truth.queue_standing_share:.1%} of the time"
    return None


def no_drops(_parameters, truth):
    if truth.queue_drops or truth.random_losses:
        return f"{truth.queue_drops + truth.random_losses} frames were lost"
    return None


def no_queue_drops(_parameters, truth):
    return f"{truth.queue_drops} frames did not fit the queue" if truth.queue_drops else None


def random_losses(_parameters, truth):
    return None if truth.random_losses >= 10 else f"only {truth.random_losses} random losses"


def reordered(_parameters, truth):
    if truth.reordered_share < 0.005:
        return f"only {truth.reordered_share:.2%} of the frames were reordered"
    return None


def window_limited(parameters, truth):
    """The kernel books the time in which BBR paces as busy, though the window sets its rate."""
    least = 0.25 if parameters.cc == "bbr" else 0.8
    for flow in truth.flows:
        if flow["rwnd_limited_share"] < least:
            return (f"flow {flow['name']} was limited by the receive window only"
                    f" {flow['rwnd_limited_share']:.1%} of the time")
    return None


def really_shared(parameters, truth):
    total = sum(flow["goodput_bits_per_second"] for flow in truth.flows)
    for flow in truth.flows:
        part = flow["goodput_bits_per_second"] / total
        if not 0.15 / parameters.flows <= part <= 0.85:
            return f"flow {flow['name']} had {part:.1%} of the link"
    return None


not_window_limited = each_flow(lambda flow: flow["rwnd_limited_share"] <= 0.03,
                               "limited by the receive window {rwnd_limited_share:.1%} of the time")
not_buffer_limited = each_flow(lambda flow: flow["sndbuf_limited_share"] <= 0.03,
                               "limited by the send buffer {sndbuf_limited_share:.1%} of the time")
buffer_limited = each_flow(lambda flow: flow["starved_share"] >= 0.6,
                           "limited by the send buffer only {starved_share:.1%} of the time")
never_starved = each_flow(lambda flow: flow["starved_share"] <= 0.1,
                          "had sent all of a full send buffer {starved_share:.1%} of the time")
idle = each_flow(lambda flow: flow["busy_share"] <= 0.8,
                 "had data to send or to be acknowledged {busy_share:.1%} of the time")
always_busy = each_flow(lambda flow: flow["busy_share"] >= 0.95,
                        "had data to send only {busy_share:.1%} of the time")
enough_segments = each_flow(lambda flow: flow["data_segments"] >= 130,
                            "only {data_segments} data segments")
hardly_retransmits = each_flow(lambda flow: flow["retransmitted_share_of_bytes"] < 0.001,
                               "retransmitted {retransmitted_share_of_bytes:.2%} of its bytes")


def paced_as_told(parameters, truth):
    for flow in truth.flows:
        expected = parameters.app_mbit * MEGA
        if not 0.9 * expected <= flow["goodput_bits_per_second"] <= 1.02 * expected:
            return (f"flow {flow['name']} ran at {flow['goodput_bits_per_second'] / MEGA:.2f}"
                    f" instead of {parameters.app_mbit:.2f} Mbit/s")
    return None


BULK = {"pattern": "bulk", "reader": "read_all"}
FILLS_LINK = (link_busy(0.9), queue_stands, not_window_limited, not_buffer_limited, never_starved,
              always_busy)
APPLICATION = (no_drops, not_window_limited, not_buffer_limited)


def bulk(_parameters):
    return BULK


def short_bulk(_parameters):
    """A large receive buffer from the start: its autotuning would lag behind slow start."""
    return {**BULK, "receive_buffer_bytes": 4 * MEGA}


def small_window(parameters):
    window_kb = parameters.window_kb or 0.4 * parameters.bandwidth_delay_bytes / KILO
    return {**BULK, "receive_buffer_bytes": max(int(window_kb * KILO), 2 * 1500)}


def slow_reader(parameters):
    window = {"receive_buffer_bytes": int(parameters.window_kb * KILO)} \
        if parameters.window_kb else {}
    app_mbit = parameters.app_mbit or 0.4 * parameters.rate_mbit
    return {**BULK, **window, "reader": "read_slowly", "bits_per_second": app_mbit * MEGA,
            "abort": True}


def pauses(parameters):
    burst_kb = parameters.burst_kb or parameters.bits_per_second * 0.1 / 8 / KILO
    return {"pattern": "on_off", "reader": "read_all", "burst_bytes": int(burst_kb * KILO),
            "pause_seconds": (parameters.pause_ms or 500) / 1000}


def paced(parameters):
    if parameters.app_mbit is None:
        parameters.app_mbit = 0.8 * parameters.rate_mbit
    return {"pattern": "paced", "reader": "read_all",
            "bits_per_second": parameters.app_mbit * MEGA}


def small_writes(parameters):
    if parameters.app_mbit is None:
        parameters.app_mbit = 0.1 * parameters.rate_mbit
    return {**paced(parameters), "tick_seconds": 0.002}


def requests(parameters):
    response_kb = parameters.burst_kb or parameters.bits_per_second * 0.05 / 8 / KILO
    return {"pattern": "responses", "reader": "read_responses", "request_bytes": 300,
            "response_bytes": int(response_kb * KILO), "think_seconds": 0.05,
            "pause_seconds": (parameters.pause_ms or 100) / 1000}


def small_send_buffer(parameters):
    buffer_kb = parameters.send_buffer_kb or 0.3 * parameters.bandwidth_delay_bytes / KILO
    return {**BULK, "send_buffer_bytes": int(buffer_kb * KILO)}


def reordering_path(parameters):
    return [f"--reorder=data:{parameters.reorder_at}:{parameters.reorder}:{parameters.overtakers}"]


def lossy_path(parameters):
    return [f"--loss=data:{parameters.loss_at}:{parameters.loss}"]


SCENARIOS = {
    "unshared": Scenario(
        "one bulk flow fills the link", "unshared_bottleneck", bulk, FILLS_LINK),
    "shared": Scenario(
        "several bulk flows from two hosts fill the link together", "shared_bottleneck", bulk,
        FILLS_LINK + (really_shared,),
        {"flows": 4}),
    "window": Scenario(
        "a small receive buffer clamps the window (--window-kb)", "receiver_window", small_window,
        (no_drops, window_limited, link_idle(0.85)), {"rate_mbit": 20.0}),
    "slow-reader": Scenario(
        "the receiving application reads at --app-mbit (40 % of the link)", "receiver_window",
        slow_reader, (no_drops, window_limited, link_idle(0.85)), {"queue_kb": 250.0}),
    "pauses": Scenario(
        "the application writes --burst-kb and pauses --pause-ms", "application", pauses,
        APPLICATION + (idle,), {"queue_kb": 250.0}),
    "paced": Scenario(
        "the application writes steadily at --app-mbit (80 % of the link)", "application", paced,
        APPLICATION + (paced_as_told,), {"queue_kb": 250.0}),
    "small-writes": Scenario(
        "the application writes little and often, at --app-mbit (10 % of the link)",
        "application", small_writes, APPLICATION + (paced_as_told,)),
    "requests": Scenario(
        "a server answers requests with --burst-kb each", "application", requests,
        APPLICATION + (idle,), {"download": True, "queue_kb": 250.0}),
    "send-buffer": Scenario(
        "a small send buffer (--send-buffer-kb)", "send_buffer", small_send_buffer,
        (no_drops, not_window_limited, buffer_limited, link_idle(0.85)), {"rate_mbit": 20.0},
        # With larger ones Linux tops up the last unsent one without a look at the buffer's size.
        max_segments_per_write=1),
    "transport": Scenario(
        "a transfer of 1 s that ends before it has filled the path", "transport", short_bulk,
        (no_drops, enough_segments, link_idle(0.6),
         each_flow(lambda flow: flow["rwnd_limited_share"] <= 0.1,
                   "limited by the receive window {rwnd_limited_share:.1%} of the time"),
         each_flow(lambda flow: flow["starved_share"] <= 0.3,  # the last round trips drain
                   "had sent all of its send buffer {starved_share:.1%} of the time")),
        {"rate_mbit": 200.0, "rtt_ms": 200.0, "duration": 1.0}),
    "random-loss": Scenario(
        "frames are lost at random (--loss, 1 %) and the link is never full", "transport", bulk,
        (no_queue_drops, random_losses, link_idle(0.85), not_window_limited, not_buffer_limited,
         never_starved),
        {"rate_mbit": 50.0, "loss": 0.01, "loss_at": "middle"}, lossy_path),
    "reordering": Scenario(
        "one bulk flow fills a link on a path that reorders (--reorder, 2 %) and loses nothing",
        "unshared_bottleneck", bulk,
        (no_drops, reordered, hardly_retransmits, link_busy(0.9), not_window_limited,
         not_buffer_limited, never_starved, always_busy),
        {"queue_kb": 1500.0, "reorder": 0.02, "reorder_at": "sender", "overtakers": "1-2"},
        reordering_path),
}


def complaints(scenario, parameters, truth):
    """What did not come true; empty if the run is what it claims to be."""
    found = [check(parameters, truth) for check in scenario.checks]
    if truth.interface_drops:
        found.append(f"{truth.interface_drops} frames were lost outside the emulated path")
    if truth.stalled_seconds > 0.01 * parameters.duration:
        found.append(f"the machine stalled for {truth.stalled_seconds:.3f} s")
    return [complaint for complaint in found if complaint]
