# SPDX-License-Identifier: Apache-2.0
"""Why verdicts fail where they do, as far as it was found by reading them; the page shows what
applies, and says where nothing was found."""

from causes import (APPLICATION, BOTTLENECK, MIXED, RECEIVER_WINDOW, SEND_BUFFER, SHARED, TRANSPORT,
                    UNKNOWN, UNSHARED)

# Of the simulator: many packets a round trip, many round trips a tick of the timestamps.
FAST = ("bbr", "capacity", "codel", "four", "incast", "jumbo", "offload", "paced", "quiet", "reno",
        "send", "two", "window")

# (scenarios, true causes, what is called instead, tap, why); an empty one stands for any. The first
# that applies counts.
REASONS = (
    (("fair-queueing", "fair"), (SHARED,), (), "",
     "Every flow has a queue of its own, and its packets leave it evenly at the rate of its share, "
     "as from a narrower link of its own. One flow alone cannot show the difference."),
    (("policer",), (), (), "",
     "A policer drops what exceeds its rate and lets bursts by at the line's: no queue stands, and "
     "the gaps are those of the line behind. The bursts of BBR prove the capacity of that line, of "
     "which the flow has a tenth, as if others had the rest."),
    (("hidden-light", "competitor"), (), (BOTTLENECK, UNSHARED, SHARED, MIXED, TRANSPORT), "",
     "The competitor takes between a twentieth and a fifth of the link: at a tenth the truth "
     "itself changes sides, and near it the verdict says `bottleneck`."),
    (("shaper",), (UNSHARED,), (), "",
     "A token bucket lets bursts pass at the rate of the line behind it, then holds back: gaps "
     "and rates are those of a link that others use, too."),
    (("window-below",), (), (), "",
     "The window is nine tenths of the bandwidth-delay product, so the link is nearly full: "
     "window and link limit the flow to almost the same rate."),
    (("nagle",), (), (), "",
     "Nagle's algorithm joins small writes and releases them when an ACK comes, as a full "
     "congestion window would release them."),
    (("codel",), (UNSHARED,), (BOTTLENECK, SHARED), "",
     "CoDel keeps the queue so short that it empties now and then. The link then rests for a "
     "while, and such gaps are those of a link that others use, too."),
    (("jitter",), (UNSHARED,), (), "",
     "Jitter that keeps the order pushes packets together. Until enough of the others are seen "
     "their spacing passes for a capacity of Gbit/s, of which the flow has next to nothing."),
    (("slow-acks",), (UNSHARED,), (), "",
     "The way back is full, too, and the ACKs come at its pace: it passes for the capacity, up to "
     "nearly twice the true one, of which the flow then has but a half."),
    (("paced",), (UNSHARED, APPLICATION), (APPLICATION, MIXED, UNSHARED), "",
     "The application gives eight or nine tenths of the rate, so what slow start left in the queue "
     "takes seconds to drain: link and application each limit the flow for about half of the time, "
     "and the verdict sees the application for more of it than the truth."),
    (("phases", "bbr"), (RECEIVER_WINDOW,), (), "",
     "BBR paces the window's worth over the round trip, so most waits end before the window is "
     "full again: the verdict sees a full window for 0.3 to 0.45 of the time, and a cause needs "
     "0.5."),
    (("send-buffer",), (SEND_BUFFER,), (TRANSPORT,), "",
     "BBR paces what the buffer gives: no burst follows when the writer wakes, and the writer is "
     "known by pauses that let ACK after ACK pass. Where two in a row differ by a quarter of the "
     "flight, or lie more than 8 round trips apart, the time between them is not the buffer's."),
    (("shared", "hidden-bulk", "incast", "bbr"), (SHARED,), (BOTTLENECK,), "",
     "A queue stands but no capacity is proven, as few gaps of a flow with few packets a round "
     "trip, or of BBR's paced ones, agree. Without it the flow's share of the link cannot be told: "
     "the path is full, by whom is left open."),
    (("shared", "hidden-bulk"), (SHARED,), (TRANSPORT, MIXED), "",
     "Many flows in a short buffer: each has few packets a round trip and loses up to four in ten, "
     "so hardly a round shows the queue by its lowest delay, and the time of repairs counts as "
     "transport."),
    (("bbr",), (SHARED,), (UNSHARED,), "",
     "BBR spaces its packets evenly at its share of the link, and so come the ACKs: they prove a "
     "capacity that is the flow's own rate, as of a narrower link."),
    (("random-loss",), (TRANSPORT,), (SHARED, BOTTLENECK, MIXED), "",
     "Where every tenth to fourth packet is lost a window holds a few packets, and most delays are "
     "those of repairs and of delayed ACKs: the usual round trip lies above the lowest as if a "
     "queue came and went."),
    (("clock",), (), (), "",
     "Stamps that a poll, an interrupt or a busy kernel set late and together tell no gap of a "
     "microsecond and no delay of less than its wait: no capacity is proven, and far from the "
     "sender no queue is seen."),
    (("offload",), (UNSHARED, SHARED), (BOTTLENECK,), "",
     "The tap sees frames of up to 64 KB that offloads have joined: their gaps are not those of "
     "the link's packets, so no capacity is proven."),
    (FAST, (), (TRANSPORT, SEND_BUFFER, MIXED, APPLICATION), "after",
     "Above 10 Gbit/s and within a data centre a tick of the timestamps, 1 ms, is several round "
     "trips long. Only once a tick a tap far from the sender learns which ACK released what, and a "
     "queue shows after several ms only (`transport` until then), of runs that last 10 to 30 ms. "
     "With ticks of 1 µs the verdict on a link of 10 Gbit/s is right from the first interval on."),
    ((), (), (UNKNOWN,), "",
     "Without TCP timestamps, with those of a clock whose tick is longer than the round trip, or "
     "where losses leave no round trip to measure, the delay between sender and tap cannot be "
     "followed: `unknown` stands where a queue may hide, and no send buffer is told."),
)


def reason(scenario, cause, called, tap):
    """A sentence, or an empty one."""
    for scenarios, causes, calls, of_tap, text in REASONS:
        if scenario in (scenarios or (scenario,)) and cause in (causes or (cause,)) \
                and called in (calls or (called,)) and tap == (of_tap or tap):
            return text
    return ""
