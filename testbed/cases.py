# SPDX-License-Identifier: Apache-2.0
"""The cases of the dataset: what runs, and in which half its results may be used.

Rules and thresholds are tuned on the half `calibration` and judged on the half `held_out`. A name
says its case; the captures in it say nothing.
"""

import hashlib
import itertools
from dataclasses import dataclass

FIRST_SEED = 1001
SECONDS = 9
ALL = ("reno", "cubic", "bbr")
LOSS_BASED = ("reno", "cubic")
VARIANTS = {
    "ipv6": ("--ipv6",), "nots": ("--no-timestamps",), "down": ("--download",),
    "nosack": ("--no-sack",), "mss536": ("--mss", 536), "jumbo": ("--mtu", 9000),
}


@dataclass
class Case:
    name: str
    scenario: str
    options: tuple  # of testbed/run, seed and names apart
    rate_mbit: float
    seconds: float
    seed: int = 0
    half: str = ""

    @property
    def hash(self):
        return hashlib.sha256(self.name.encode()).digest()


def number(value):
    return f"{value:g}"


def case(scenario, *, cc="cubic", rate=10, rtt=40, seconds=SECONDS, variant=None, **options):
    """A case, named by all that differs from its scenario's defaults."""
    given = []
    words = [scenario, cc.replace(",", "+"), f"{number(rate)}m", f"{number(rtt)}ms"]
    for key, value in options.items():
        if value is True:
            given.append("--" + key.replace("_", "-"))
            words.append(key.replace("_", ""))
        elif value is not None:
            text = number(value) if isinstance(value, (int, float)) else value
            given += ["--" + key.replace("_", "-"), text]
            words.append(key.replace("_", "") + text.replace(":", "to"))
    if variant:
        given += map(str, VARIANTS[variant])
        words.append(variant)
    given += ["--cc", cc, "--rate-mbit", number(rate), "--rtt-ms", number(rtt),
              "--duration", number(seconds)]
    return Case("-".join(words), scenario, tuple(given), rate, seconds)


def bdp_kb(rate, rtt):
    return rate * rtt / 8


def unshared():
    for cc, rtt, rate in itertools.product(ALL, (10, 40, 100), (5, 10, 30, 100)):
        yield case("unshared", cc=cc, rate=rate, rtt=rtt)
    for variant, cc in zip(VARIANTS, itertools.cycle(ALL)):
        queue_kb = 180 if variant == "jumbo" else None
        if variant != "nosack":  # one loss a round trip is mended: the link idles after slow start
            yield case("unshared", cc=cc, rate=20, rtt=30, variant=variant, queue_kb=queue_kb)
        yield case("unshared", cc="cubic", rate=50, rtt=20, variant=variant, queue_kb=queue_kb)


def shared():
    for flows, rate, buffer, cc in itertools.product(
            (2, 4, 10), (10, 30), (0.3, 1, 4), ("cubic", "reno,cubic", "bbr", "cubic,bbr")):
        if (flows, rate) in ((2, 30), (10, 10)):
            continue
        if cc == "cubic,bbr" and (flows == 10 or (flows, buffer) == (2, 0.3)):
            continue  # BBR leaves CUBIC so little that nobody would call it a share
        yield case("shared", cc=cc, rate=rate, rtt=40, flows=flows,
                   queue_kb=max(buffer * bdp_kb(rate, 40), 15))
    for buffer, cc in itertools.product((0.3, 1, 4), ("cubic", "reno", "bbr")):
        if cc == "bbr" and buffer >= 1:
            continue  # one of the 25 always starves
        yield case("shared", cc=cc, rate=60, rtt=40, flows=25, queue_kb=buffer * bdp_kb(60, 40))
    for flows, stagger in ((2, 1.5), (4, 0.6), (10, 0.2)):
        yield case("shared", cc="cubic", rate=20, rtt=30, flows=flows, stagger=stagger)
        yield case("shared", cc="reno", rate=20, rtt=60, flows=flows, stagger=stagger,
                   queue_kb=(2 if flows == 4 else 4) * bdp_kb(20, 60))
    for variant in VARIANTS:
        yield case("shared", cc="cubic", rate=20, rtt=40, flows=3, variant=variant,
                   queue_kb=270 if variant == "jumbo" else None)


def hidden():
    for cc, rate, buffer in itertools.product(ALL, (10, 30), (0.5, 1, 3)):
        yield case("hidden-bulk", cc=cc, rate=rate, rtt=40, queue_kb=buffer * bdp_kb(rate, 40))
    for cc, rate in (("cubic", 10), ("bbr", 30)):
        yield case("hidden-bulk", cc=cc, rate=rate, rtt=30, flows=4, hidden_flows=3)
        yield case("hidden-bulk", cc=cc, rate=rate, rtt=30, flows=4, hidden_flows=2)
    for cc, (rate, part) in itertools.product(ALL, ((10, 0.05), (10, 0.2), (30, 0.05), (30, 0.1))):
        yield case("hidden-light", cc=cc, rate=rate, rtt=40, hidden_mbit=part * rate)


def windows():
    for cc, (rate, rtt) in itertools.product(ALL, ((20, 40), (50, 20), (10, 100))):
        yield case("window", cc=cc, rate=rate, rtt=rtt)
        yield case("window-clamped", cc=cc, rate=rate, rtt=rtt)
    for cc, (rate, rtt) in itertools.product(LOSS_BASED, ((20, 40), (50, 20), (10, 100))):
        yield case("window-below", cc=cc, rate=rate, rtt=rtt)
        yield case("window-above", cc=cc, rate=rate, rtt=rtt)
    for cc, (rate, rtt) in itertools.product(ALL, ((30, 40), (10, 100), (100, 20))):
        yield case("window-unscaled", cc=cc, rate=rate, rtt=rtt)
    for cc, (rate, rtt) in itertools.product(LOSS_BASED, ((20, 100), (30, 40))):
        yield case("window-autotuned", cc=cc, rate=rate, rtt=rtt)
    for cc, (rate, rtt) in itertools.product(LOSS_BASED, ((10, 40), (30, 20), (10, 100))):
        yield case("reader-pauses", cc=cc, rate=rate, rtt=rtt)
        yield case("slow-reader", cc=cc, rate=rate, rtt=rtt)
    for variant in VARIANTS:
        yield case("window", rate=20, rtt=50, variant=variant,
                   window_kb=100 if variant == "jumbo" else None)
        yield case("slow-reader", rate=16, rtt=25, variant=variant)


def applications():
    for cc, rate, part in itertools.product(ALL, (10, 30), (0.7, 0.8, 0.9)):
        yield case("paced", cc=cc, rate=rate, rtt=40, app_mbit=part * rate,
                   queue_kb=800 if rate == 30 else None)  # else slow start overflows it
    for cc, (rate, rtt) in itertools.product(LOSS_BASED, ((10, 40), (50, 15))):
        # A burst of 100 ms, begun in slow start, must fit the queue.
        queue_kb = 1000 if rate == 50 else None
        yield case("pauses", cc=cc, rate=rate, rtt=rtt, queue_kb=queue_kb)
        yield case("small-writes", cc=cc, rate=rate, rtt=rtt)
        yield case("trickle", cc=cc, rate=rate, rtt=rtt)
        yield case("nagle", cc=cc, rate=rate, rtt=rtt)
        yield case("requests", cc=cc, rate=rate, rtt=rtt, queue_kb=queue_kb)
    for cc, rate, message_kb in (("cubic", 10, 2), ("reno", 10, 8), ("bbr", 30, 8),
                                 ("cubic", 30, 30), ("reno", 20, 4), ("bbr", 10, 20)):
        yield case("messages", cc=cc, rate=rate, rtt=40, message_kb=message_kb)
        yield case("bulk-messages", cc=cc, rate=rate, rtt=40, message_kb=message_kb)
    for cc, rate, lowat_kb in (("cubic", 10, 16), ("reno", 10, 64), ("bbr", 30, 64),
                               ("cubic", 30, 16), ("reno", 50, 128), ("bbr", 10, 16)):
        yield case("bulk-lowat", cc=cc, rate=rate, rtt=40, lowat_kb=lowat_kb)
    for variant in VARIANTS:
        if variant != "jumbo":
            yield case("pauses", rate=12, rtt=30, variant=variant)
        yield case("paced", rate=12, rtt=30, variant=variant)
    yield case("requests", rate=12, rtt=30, variant="ipv6")
    yield case("requests", rate=12, rtt=30, variant="nots")


def send_buffers():
    for cc, (rate, rtt) in itertools.product(ALL, ((20, 40), (50, 20), (10, 100))):
        yield case("send-buffer", cc=cc, rate=rate, rtt=rtt)
    for variant in ("ipv6", "nots", "down", "nosack"):
        yield case("send-buffer", rate=20, rtt=60, variant=variant)


def transport():
    for cc, (rate, rtt) in itertools.product(ALL, ((200, 200), (100, 300))):
        yield case("transport", cc=cc, rate=rate, rtt=rtt, seconds=1)
    for variant in ("ipv6", "nots", "down", "nosack"):
        yield case("transport", rate=200, rtt=200, seconds=1, variant=variant)
    for cc, (rate, rtt), lose_frame in itertools.product(
            LOSS_BASED, ((100, 100), (50, 200)), (200, 500)):
        yield case("avoidance", cc=cc, rate=rate, rtt=rtt, lose_frame=lose_frame)
    for cc, (rate, rtt, loss) in itertools.product(LOSS_BASED, (
            (50, 40, 0.005), (50, 40, 0.01), (30, 40, 0.02), (20, 40, 0.05), (10, 40, 0.1),
            (10, 20, 0.25), (50, 100, 0.005), (30, 100, 0.02))):
        yield case("random-loss", cc=cc, rate=rate, rtt=rtt, loss=loss)
    for cc, (rate, burst_loss) in itertools.product(LOSS_BASED, (
            (50, "0.002:0.3"), (30, "0.005:0.5"), (20, "0.01:0.3"))):
        yield case("bursty-loss", cc=cc, rate=rate, rtt=40, burst_loss=burst_loss)
    for variant in ("ipv6", "nots", "down", "nosack", "mss536"):
        yield case("random-loss", rate=50, rtt=60, loss=0.01, variant=variant)
    for cc, kb in itertools.product(ALL, (30, 100, 150)):
        yield case("short", cc=cc, rate=20, rtt=50, seconds=3, transfer_kb=kb)


def paths():
    for cc, (rate, rtt) in itertools.product(("cubic", "bbr"), ((10, 40), (30, 20), (10, 80))):
        yield case("reordering", cc=cc, rate=rate, rtt=rtt)
    for at in ("middle", "receiver"):
        yield case("reordering", rate=15, rtt=40, reorder=0.01, reorder_at=at)
    yield case("reordering", rate=15, rtt=40, variant="nots")
    yield case("reordering", rate=15, rtt=40, variant="ipv6")
    for cc, (rate, rtt) in itertools.product(ALL, ((10, 40), (30, 20))):
        yield case("phases", cc=cc, rate=rate, rtt=rtt, seconds=16)
    for cc, (rate, jitter_ms) in itertools.product(ALL, ((10, 2), (30, 5))):
        yield case("jitter", cc=cc, rate=rate, rtt=40, jitter_ms=jitter_ms)
    yield case("jitter", rate=20, rtt=40, jitter_ms=3, jitter_at="sender")
    for cc, rate in itertools.product(ALL, (10, 30)):
        yield case("slow-acks", cc=cc, rate=rate, rtt=40, ack_mbit=0.04 * rate)
    for cc, (rate, rtt) in itertools.product(LOSS_BASED, ((10, 15), (30, 10))):
        yield case("codel", cc=cc, rate=rate, rtt=rtt, queue_kb=200)
    yield case("codel", rate=10, rtt=40, queue_kb=200)
    yield case("codel", rate=20, rtt=40, ecn=True, queue_kb=400)
    yield case("codel", rate=50, rtt=20, ecn=True, queue_kb=400)
    for cc, flows in (("cubic", 2), ("cubic,bbr", 4), ("reno", 4), ("bbr", 2)):
        yield case("fair-queueing", cc=cc, rate=20, rtt=40, flows=flows)
    for cc, (rate, burst_kb) in itertools.product(ALL, ((10, 30), (30, 100))):
        yield case("shaper", cc=cc, rate=rate, rtt=40, shaper_burst_kb=burst_kb)
    for cc, (rate, burst_kb) in itertools.product(ALL, ((5, 30), (20, 100))):
        yield case("policer", cc=cc, rate=rate, rtt=30, policer_burst_kb=burst_kb)
    for cc, rate in itertools.product(ALL, (10, 30)):
        yield case("mtu-change", cc=cc, rate=rate, rtt=40)


def many_taps():
    """Seen at four taps: what limits lies before, between or behind those that one looks from."""
    for cc, (rate, rtt) in itertools.product(ALL, ((10, 40), (30, 20))):
        yield case("unshared", cc=cc, rate=rate, rtt=rtt)
    for cc, buffer in itertools.product(LOSS_BASED, (0.5, 2)):
        yield case("shared", cc=cc, rate=20, rtt=40, flows=3, queue_kb=buffer * bdp_kb(20, 40))
    yield case("shared", cc="bbr", rate=20, rtt=40, flows=3)
    yield case("hidden-bulk", cc="cubic", rate=10, rtt=40)
    for cc in LOSS_BASED:
        yield case("codel", cc=cc, rate=20, rtt=15, queue_kb=200)
        yield case("shaper", cc=cc, rate=20, rtt=40, shaper_burst_kb=50)
        yield case("policer", cc=cc, rate=20, rtt=30, policer_burst_kb=100)
    for cc, at in itertools.product(LOSS_BASED, ("sender", "middle", "receiver")):
        yield case("random-loss", cc=cc, rate=30, rtt=40, loss=0.02, loss_at=at)
        yield case("bursty-loss", cc=cc, rate=30, rtt=40, burst_loss="0.005:0.5", loss_at=at)
    for cc, (rate, rtt) in itertools.product(LOSS_BASED, ((20, 40), (10, 100))):
        for scenario in ("window", "window-clamped", "slow-reader", "send-buffer", "trickle"):
            yield case(scenario, cc=cc, rate=rate, rtt=rtt)
        if (cc, rate) != ("reno", 20):  # its bursts overflow the queue
            yield case("pauses", cc=cc, rate=rate, rtt=rtt)
        yield case("paced", cc=cc, rate=rate, rtt=rtt, app_mbit=0.7 * rate)
    for variant in ("nots", "down", "nosack"):
        if variant != "nosack":  # one loss a round trip is mended: the link idles after slow start
            yield case("unshared", cc="cubic", rate=20, rtt=40, variant=variant)
        yield case("random-loss", cc="cubic", rate=30, rtt=60, loss=0.02, loss_at="sender",
                   variant=variant)
        yield case("window", rate=20, rtt=50, variant=variant)


def halve(cases):
    """Each scenario falls into halves of equal size, by the hashes of the names."""
    by_scenario = {}
    for one in cases:
        by_scenario.setdefault(one.scenario, []).append(one)
    for group in by_scenario.values():
        for i, one in enumerate(sorted(group, key=lambda one: one.hash)):
            one.half = ("calibration", "held_out")[i % 2]
    return by_scenario


FAMILIES = (unshared, shared, hidden, windows, applications, send_buffers, transport, paths)


def all_cases(families=FAMILIES):
    """In an order in which every scenario comes early."""
    made = [one for family in families for one in family()]
    by_name = {one.name: one for one in made}
    assert len(by_name) == len(made), "two cases have one name"
    for one in made:  # stays when others come or go; far from the seeds of samples and tests
        one.seed = FIRST_SEED + int.from_bytes(one.hash[8:11], "big")
    groups = [sorted(group, key=lambda one: one.hash) for group in halve(made).values()]
    return [one for row in itertools.zip_longest(*groups) for one in row if one]
