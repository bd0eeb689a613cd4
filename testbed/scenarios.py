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
    burst_loss: str = None
    lose_frame: int = None
    jitter_ms: float = None
    jitter_at: str = None
    codel: str = None
    fair: bool = None
    shaper_burst_kb: float = None
    policer_burst_kb: float = None
    mtu: int = 1500
    mss: int = None
    sack: bool = True
    window_scaling: bool = None
    ecn: bool = False
    hidden_flows: int = None
    hidden_mbit: float = None
    stagger: float = None
    transfer_kb: float = None
    message_kb: float = None
    lowat_kb: float = None
    mtu_change: int = None

    @property
    def bits_per_second(self):
        return self.rate_mbit * MEGA

    @property
    def bandwidth_delay_bytes(self):
        return self.bits_per_second * self.rtt_ms / 1000 / 8

    @property
    def any_bbr(self):
        return "bbr" in self.cc

    def fill(self, defaults):
        for key, value in {**COMMON_DEFAULTS, **defaults}.items():
            if getattr(self, key) is None:
                setattr(self, key, value)
        if self.queue_kb is None:
            self.queue_kb = max(self.bandwidth_delay_bytes / KILO, 20 * self.mtu / KILO)


COMMON_DEFAULTS = {"rate_mbit": 10.0, "access_mbit": 1000.0, "rtt_ms": 40.0, "cc": "cubic",
                   "flows": 1, "duration": STEADY_SECONDS, "download": False, "hidden_flows": 0,
                   "stagger": 0.0, "jitter_at": "receiver", "fair": False, "window_scaling": True}


@dataclass(frozen=True)
class Scenario:
    summary: str
    root_cause: str
    traffic: Callable  # Parameters -> keys of a flow, see traffic.py
    checks: tuple      # each: (Parameters, GroundTruth) -> complaint or None
    defaults: dict = field(default_factory=dict)
    max_segments_per_write: int = 64  # what TCP hands to the interface at once
    sysctls: Callable = lambda parameters: {}  # of both hosts
    hidden_traffic: Callable = None   # of the flows that the taps do not see; else as the others


# ---- what must have come true ------------------------------------------------------------------


def each_flow(predicate, complaint):
    """A check that holds for every flow."""
    def check(parameters, truth):
        for flow in truth.visible_flows:
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
    if not parameters.any_bbr and deep and truth.queue_standing_share < 0.5:
        return f"the queue stood only {truth.queue_standing_share:.1%} of the time"
    return None


def queue_stays_empty(_parameters, truth):
    if truth.queue_standing_share > 0.1:
        return f"the queue stood {truth.queue_standing_share:.1%} of the time"
    return None


def no_drops(_parameters, truth):
    if truth.lost_frames:
        return f"{truth.lost_frames} frames were lost"
    return None


def no_queue_drops(_parameters, truth):
    return f"{truth.queue_drops} frames did not fit the queue" if truth.queue_drops else None


def random_losses(_parameters, truth):
    return None if truth.random_losses >= 10 else f"only {truth.random_losses} random losses"


def policed(_parameters, truth):
    return None if truth.policer_drops >= 10 else f"only {truth.policer_drops} frames were policed"


def controlled(parameters, truth):
    """CoDel kept the delay down; the least of each bin lies near its target, or below."""
    if truth.codel_drops + truth.ecn_marks < 3:
        return f"CoDel signalled only {truth.codel_drops + truth.ecn_marks} times"
    if parameters.ecn and not truth.ecn_marks:
        return "no frame was marked"
    return None


def lost_once(_parameters, truth):
    return None if truth.random_losses == 1 else f"{truth.random_losses} random losses"


def reordered(_parameters, truth):
    if truth.reordered_share < 0.005:
        return f"only {truth.reordered_share:.2%} of the frames were reordered"
    return None


def least_window_limited(parameters):
    """The kernel books the time in which BBR paces as busy, though the window sets its rate."""
    return 0.25 if parameters.any_bbr else 0.8


def window_limited(parameters, truth):
    least = least_window_limited(parameters)
    for flow in truth.visible_flows:
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


def hidden_share(least, most):
    """The share of the link's bytes that the flows had which no tap saw."""
    def check(_parameters, truth):
        part = sum(flow["link_share"] for flow in truth.flows if flow["hidden"])
        if not least <= part <= most:
            return f"the hidden flows had {part:.1%} of the link"
        return None
    return check


def phases_as_told(parameters, truth):
    """Each phase, without its first second, is what it is called."""
    holds = {
        "unshared_bottleneck": lambda phase: phase["link_busy_share"] >= 0.9
        and phase["rwnd_limited_share"] <= 0.05,
        "application": lambda phase: phase["link_busy_share"] <= 0.85
        and phase["rwnd_limited_share"] <= 0.05,
        "receiver_window": lambda phase: phase["link_busy_share"] <= 0.85
        and phase["rwnd_limited_share"] >= least_window_limited(parameters),
    }
    for flow in truth.visible_flows:
        for number, phase in enumerate(flow["phases"], 1):
            if not holds[phase["root_cause"]](phase):
                return (f"phase {number} of flow {flow['name']} is no {phase['root_cause']}: link"
                        f" busy {phase['link_busy_share']:.1%}, limited by the window"
                        f" {phase['rwnd_limited_share']:.1%} of the time")
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


few_segments = each_flow(lambda flow: 5 <= flow["data_segments"] < 130,
                         "{data_segments} data segments")
segments_shrank = each_flow(
    lambda flow: flow["last_snd_mss_bytes"] <= flow["first_snd_mss_bytes"] - 100,
    "segments stayed at {last_snd_mss_bytes} bytes")


def paced_as_told(parameters, truth):
    for flow in truth.visible_flows:
        expected = parameters.app_mbit * MEGA
        if not 0.9 * expected <= flow["goodput_bits_per_second"] <= 1.02 * expected:
            return (f"flow {flow['name']} ran at {flow['goodput_bits_per_second'] / MEGA:.2f}"
                    f" instead of {parameters.app_mbit:.2f} Mbit/s")
    return None


BULK = {"pattern": "bulk", "reader": "read_all"}
FILLS_LINK = (link_busy(0.9), queue_stands, not_window_limited, not_buffer_limited, never_starved,
              always_busy)
APPLICATION = (no_drops, not_window_limited, not_buffer_limited)
LOSSY = (no_queue_drops, random_losses, link_idle(0.85), not_window_limited, not_buffer_limited,
         never_starved)


def bulk(_parameters):
    return BULK


def eor_bulk(parameters):
    return {**BULK, "message_bytes": int(parameters.message_kb * KILO)}


def lowat_bulk(parameters):
    return {**BULK, "notsent_lowat_bytes": int(parameters.lowat_kb * KILO)}


def transfer(parameters):
    return {**BULK, "bytes": int(parameters.transfer_kb * KILO),
            "receive_buffer_bytes": 4 * MEGA}


def short_bulk(_parameters):
    """A large receive buffer from the start: its autotuning would lag behind slow start."""
    return {**BULK, "receive_buffer_bytes": 4 * MEGA}


def small_window(parameters):
    window_kb = parameters.window_kb or 0.4 * parameters.bandwidth_delay_bytes / KILO
    return {**BULK, "receive_buffer_bytes": max(int(window_kb * KILO), 2 * 1500)}


def clamped_window(parameters):
    if parameters.window_kb is None:
        parameters.window_kb = 0.4 * parameters.bandwidth_delay_bytes / KILO
    return {**BULK, "receive_buffer_bytes": 4 * MEGA,
            "window_clamp_bytes": int(parameters.window_kb * KILO)}


def window_below(parameters):
    if parameters.window_kb is None:
        parameters.window_kb = 0.9 * parameters.bandwidth_delay_bytes / KILO
    return clamped_window(parameters)


def window_above(parameters):
    """Room for the path and a part of its queue, so that the window ends the growth, not a loss."""
    if parameters.window_kb is None:
        parameters.window_kb = 1.35 * parameters.bandwidth_delay_bytes / KILO
    return clamped_window(parameters)


def small_receive_memory(parameters):
    """Autotuning gives about half of the buffer to the window."""
    if parameters.window_kb is None:
        parameters.window_kb = 0.4 * parameters.bandwidth_delay_bytes / KILO
    return {"net.ipv4.tcp_rmem": f"4096 16384 {2 * parameters.window_kb * KILO:.0f}"}


def reader_with_pauses(parameters):
    if parameters.window_kb is None:
        parameters.window_kb = max(parameters.bandwidth_delay_bytes / KILO, 30)
    return {**BULK, "receive_buffer_bytes": int(parameters.window_kb * KILO),
            "reader": "read_with_pauses", "read_seconds": 0.4,
            "pause_seconds": (parameters.pause_ms or 1200) / 1000}


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


def trickle(parameters):
    if parameters.app_mbit is None:
        parameters.app_mbit = 0.02 * parameters.rate_mbit
    return {**paced(parameters), "tick_seconds": 0.01}


def nagle(parameters):
    """Writes below the MSS that TCP joins while it waits for ACKs (RFC 1122 §4.2.3.4)."""
    if parameters.app_mbit is None:
        parameters.app_mbit = 0.15 * parameters.rate_mbit
    return {**paced(parameters), "tick_seconds": min(
        0.002, 700 * 8 / (parameters.app_mbit * MEGA)), "nagle": True}


def messages(parameters):
    if parameters.app_mbit is None:
        parameters.app_mbit = 0.5 * parameters.rate_mbit
    return {"pattern": "messages", "reader": "read_all",
            "bits_per_second": parameters.app_mbit * MEGA,
            "message_bytes": int(parameters.message_kb * KILO)}


def hidden_paced(parameters):
    if parameters.hidden_mbit is None:
        parameters.hidden_mbit = 0.1 * parameters.rate_mbit
    return {"pattern": "paced", "reader": "read_all",
            "bits_per_second": parameters.hidden_mbit * MEGA}


def phases(parameters):
    """Bulk, then paced, then bulk to a slow reader, then bulk: a quarter of the time each."""
    seconds = parameters.duration / 4
    rate = {"bits_per_second": 0.5 * parameters.bits_per_second}
    fast = {"duration_seconds": seconds, "reader": "read_all", "pattern": "bulk",
            "root_cause": "unshared_bottleneck"}
    return {"pattern": "phases", "reader": "read_phases",
            "receive_buffer_bytes": int(4 * parameters.bandwidth_delay_bytes + 60 * KILO),
            "phases": [fast, {**fast, **rate, "pattern": "paced", "root_cause": "application"},
                       {**fast, **rate, "reader": "read_slowly", "root_cause": "receiver_window"},
                       fast]}


def requests(parameters):
    response_kb = parameters.burst_kb or parameters.bits_per_second * 0.05 / 8 / KILO
    return {"pattern": "responses", "reader": "read_responses", "request_bytes": 300,
            "response_bytes": int(response_kb * KILO), "think_seconds": 0.05,
            "pause_seconds": (parameters.pause_ms or 100) / 1000}


def small_send_buffer(parameters):
    buffer_kb = parameters.send_buffer_kb or 0.3 * parameters.bandwidth_delay_bytes / KILO
    return {**BULK, "send_buffer_bytes": int(buffer_kb * KILO)}


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
        LOSSY, {"rate_mbit": 50.0, "loss": 0.01, "loss_at": "middle"}),
    "reordering": Scenario(
        "one bulk flow fills a link on a path that reorders (--reorder, 2 %) and loses nothing",
        "unshared_bottleneck", bulk,
        (no_drops, reordered, hardly_retransmits, link_busy(0.9), not_window_limited,
         not_buffer_limited, never_starved, always_busy),
        {"queue_kb": 1500.0, "reorder": 0.02, "reorder_at": "sender", "overtakers": "1-2"}),
    "hidden-bulk": Scenario(
        "one bulk flow, and --hidden-flows others that no tap sees", "shared_bottleneck", bulk,
        FILLS_LINK + (really_shared,), {"flows": 2, "hidden_flows": 1}),
    "hidden-light": Scenario(
        "one bulk flow, and --hidden-mbit (10 %) of paced traffic that no tap sees",
        "shared_bottleneck", bulk, FILLS_LINK + (hidden_share(0.03, 0.25),),
        {"flows": 2, "hidden_flows": 1}, hidden_traffic=hidden_paced),
    "window-unscaled": Scenario(
        "no window scaling: at most 64 KiB", "receiver_window", bulk,
        (no_drops, window_limited, link_idle(0.85)),
        {"rate_mbit": 30.0, "window_scaling": False}),
    "window-clamped": Scenario(
        "TCP_WINDOW_CLAMP at --window-kb", "receiver_window", clamped_window,
        (no_drops, window_limited, link_idle(0.85)), {"rate_mbit": 20.0}),
    "window-autotuned": Scenario(
        "the largest buffer that autotuning may choose is small (--window-kb)",
        "receiver_window", bulk, (no_drops, window_limited, link_idle(0.85)),
        {"rate_mbit": 20.0, "rtt_ms": 100.0}, sysctls=small_receive_memory),
    "window-below": Scenario(
        "the window is just below the bandwidth-delay product", "receiver_window", window_below,
        (no_drops, window_limited, link_idle(0.95), queue_stays_empty),
        {"rate_mbit": 20.0, "queue_kb": 250.0}),
    "window-above": Scenario(
        "the window is just above the bandwidth-delay product, so the link is full",
        "unshared_bottleneck", window_above,
        (no_drops, window_limited, link_busy(0.95), not_buffer_limited, never_starved,
         always_busy),
        {"rate_mbit": 20.0, "queue_kb": 250.0}),
    "reader-pauses": Scenario(
        "the receiving application stops reading for --pause-ms", "receiver_window",
        reader_with_pauses, (no_drops, window_limited, link_idle(0.5)), {"queue_kb": 250.0}),
    "trickle": Scenario(
        "the application writes at 2 % of the link", "application", trickle,
        APPLICATION + (paced_as_told,)),
    "nagle": Scenario(
        "small writes, joined by Nagle's algorithm, at 15 % of the link", "application", nagle,
        APPLICATION + (paced_as_told,)),
    "messages": Scenario(
        "messages of --message-kb with MSG_EOR at half the link", "application", messages,
        APPLICATION + (paced_as_told,), {"queue_kb": 250.0, "message_kb": 8.0}),
    "bulk-messages": Scenario(
        "one bulk flow of messages of --message-kb with MSG_EOR fills the link",
        "unshared_bottleneck", eor_bulk, FILLS_LINK, {"message_kb": 16.0}),
    "bulk-lowat": Scenario(
        "one bulk flow with TCP_NOTSENT_LOWAT fills the link", "unshared_bottleneck", lowat_bulk,
        FILLS_LINK, {"lowat_kb": 64.0}),
    "bursty-loss": Scenario(
        "frames are lost in bursts (--burst-loss) and the link is never full", "transport", bulk,
        LOSSY, {"rate_mbit": 50.0, "queue_kb": 500.0, "burst_loss": "0.002:0.3"}),
    "avoidance": Scenario(
        "one early loss on a long path: congestion avoidance never fills it", "transport",
        short_bulk,
        (no_queue_drops, lost_once, link_idle(0.85), not_window_limited, not_buffer_limited,
         never_starved),
        {"rate_mbit": 100.0, "rtt_ms": 100.0, "lose_frame": 300}),
    "short": Scenario(
        "--transfer-kb in fewer packets than a verdict needs", "short_transfer", transfer,
        (no_drops, few_segments), {"transfer_kb": 100.0}),
    "phases": Scenario(
        "bulk, paced, slow reader, bulk: the cause changes", "phases", phases,
        (phases_as_told, not_buffer_limited), {"duration": 16.0}),
    "mtu-change": Scenario(
        "the path MTU falls to --mtu-change in the middle of a bulk flow", "unshared_bottleneck",
        bulk, FILLS_LINK + (segments_shrank,), {"mtu_change": 1300}),
    "slow-acks": Scenario(
        "one bulk flow fills the link, its ACKs come over --ack-mbit", "unshared_bottleneck",
        bulk, FILLS_LINK, {"ack_mbit": 0.5}),
    "jitter": Scenario(
        "one bulk flow fills the link on a path of --jitter-ms", "unshared_bottleneck", bulk,
        FILLS_LINK, {"jitter_ms": 4.0}),
    "codel": Scenario(
        "one bulk flow fills a link whose delay CoDel controls", "unshared_bottleneck", bulk,
        (link_busy(0.9), controlled, not_window_limited, not_buffer_limited, never_starved,
         always_busy),
        {"codel": "5:100"}),
    "fair-queueing": Scenario(
        "several bulk flows, a queue for each", "shared_bottleneck", bulk,
        FILLS_LINK + (really_shared,), {"flows": 3, "fair": True}),
    "shaper": Scenario(
        "one bulk flow fills a token bucket of --shaper-burst-kb that shapes a tenfold link",
        "unshared_bottleneck", bulk, FILLS_LINK, {"shaper_burst_kb": 30.0}),
    "policer": Scenario(
        "one bulk flow meets a token bucket of --policer-burst-kb that drops", "policer", bulk,
        (policed, no_queue_drops, not_window_limited, not_buffer_limited, always_busy),
        {"policer_burst_kb": 60.0}),
}


def complaints(scenario, parameters, truth):
    """What did not come true; empty if the run is what it claims to be."""
    found = [check(parameters, truth) for check in scenario.checks]
    if truth.interface_drops:
        found.append(f"{truth.interface_drops} frames were lost outside the emulated path")
    if truth.stalled_seconds > 0.01 * parameters.duration:
        found.append(f"the machine stalled for {truth.stalled_seconds:.3f} s")
    return [complaint for complaint in found if complaint]
