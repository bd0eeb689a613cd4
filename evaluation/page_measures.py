# SPDX-License-Identifier: Apache-2.0
"""Of docs/evaluation.md: capacity, retransmissions, round trips, cost."""

import re
import statistics

import capacity
import figures
import transmission
from causes import APPLICATION, CAUSES
from markdown import figure, percent, rate, table
from matching import weighted
from scores import mean, num_cases, quantile, weighted_quantile
from targets import idle_error, with_idle_share
from verdicts import TAPS

NO_BOOKS = "\nNot measured: no case has books of the sender.\n"
FAR_OFF = 0.1
FAR_OFF_SHARE = 0.1
# [BAU20 Table II]: microseconds of one periodic calculation of one flow, Xeon E5-2620 at 2.0 GHz.
PUBLISHED_MICROSECONDS = {
    "connection identification": 21, "application-limited periods": 6, "position": 2,
    "round trip": 9, "capacity (1000 packets)": 15167, "dispersion": 94, "retransmission": 13,
    "receiver window": 2536, "burstiness": 21}


def weights_of(judged, value, among=None):
    """(weight, value) pairs, each case weighing the same."""
    return [(weight, value(one)) for weight, one in weighted(judged, among)]


def within_cells(judged):
    return [percent(capacity.within(judged, bound)) for bound in capacity.BOUNDS]


def capacity_section(study):
    rows, panels = [], []
    for tap, stream in zip(TAPS, ("ACKs", "data")):
        series = []
        for number, (name, belongs) in enumerate(capacity.TEST_CASES.items()):
            judged = [one for one in study.headline if belongs(one.case)]
            estimates = capacity.estimates(judged, tap)
            published = capacity.PUBLISHED.get(name)
            theirs = "–"
            if published:
                of_stream = published[1] if tap == "before" else published[0]
                theirs = " / ".join(str(value) for value in of_stream)
            rows.append([name, f"{tap}, {stream}", theirs, *within_cells(estimates),
                         percent(capacity.share_with_estimate(capacity.rows(judged, tap))),
                         len(estimates), num_cases(estimates)])
            series.append((name, weights_of(estimates, capacity.visible_error),
                           figures.of_series(number)))
        panels.append((f"tap {tap} the bottleneck ({stream})", "relative error", series, (1e-4, 1),
                       "log", capacity.BOUNDS[:3]))
    figures.distributions(study.figure("capacity"), panels, "share of proven estimates")
    of_all = capacity.estimates(study.headline)
    return f"""
## Capacity

Of the intervals with `capacity_kind` = `proven`: share within so much of the rate of the link,
each case weighing the same. Where the tap stands decides the stream: before the bottleneck only
ACKs are spaced by it, behind it the data are. [BAU20] is Table I of the paper, percent within 3 /
5 / 10 % of the stream of that tap (data, or ACKs): its test cases are rebuilt from this dataset,
not its captures. Its estimator always answers; here an answer needs a proven queue, so *answered*
tells the share of intervals that have one. Without: a lower bound. Policed flows are left out, as
what a policer lets by is the rate of no link.
""" + table(["test case", "tap, stream", "[BAU20] <3 / <5 / <10 %", "<3 %", "<5 %", "<10 %",
             "<50 %", "answered", "estimates", "cases"], rows, left=2) \
        + figure("capacity", "Distribution of the relative error of proven capacities") \
        + far_off(of_all) \
        + capacity_sweep(study)


def far_off(estimates):
    """The cases whose capacity is not to be relied on."""
    groups = {}
    for one in estimates:
        groups.setdefault((one.case.name, one.tap), []).append(capacity.error(one))
    rows = []
    for (name, tap), errors in sorted(groups.items()):
        far = [error for error in errors if abs(error) > FAR_OFF]
        if len(far) >= FAR_OFF_SHARE * len(errors):
            rows.append([name, tap, f"{len(far)} of {len(errors)}",
                         f"{100 * statistics.median(far):+.0f} %"])
    if not rows:
        return ""
    return f"""
Cases in which a tenth of the estimates or more is off by more than {percent(FAR_OFF, 0)}:
""" + table(["case", "tap", "estimates", "their median error"], rows, left=2)


def capacity_sweep(study):
    sweep = [one for one in study.simulated
             if re.match("capacity-|clock-", one.case.scenario)]
    if not sweep:
        return "\nThe sweep to high capacities was not measured: there are no simulated cases.\n"
    rows = []
    groups = {}
    for one in capacity.rows(sweep):
        key = (one.case.parameters["rate_mbit"], one.case.parameters.get("clock", "exact"),
               bool(one.case.parameters.get("cross_mbit")))
        groups.setdefault(key, []).append(one)
    for (megabits, clock, is_crossed), judged in sorted(groups.items()):
        estimates = capacity.estimates(judged)
        errors = [abs(capacity.error(one)) for one in estimates]
        rows.append([rate(megabits), clock.replace("_", " "),
                     "30 % of the link" if is_crossed else "none",
                     percent(statistics.median(errors) if errors else None, 2),
                     *within_cells(estimates)[:3],
                     percent(capacity.share_with_estimate(judged)), len(estimates)])
    return """
### High capacities

From the simulator, where the rate of the link and the quality of the tap's clock are free; both
taps together. The clock is `exact`, `microsecond`, `polled` (a port looked at each 2.2 µs),
`coalesced` (an interrupt after 50 or 100 µs stamps all that came), or `software` (stamped by a
busy kernel).
""" + table(["link", "clock", "cross traffic", "median error", "<3 %", "<5 %", "<10 %", "answered",
             "estimates"], rows, left=3)


def retransmission_section(study):
    resent = transmission.resent(study.headline)
    if not resent:
        return "\n## Retransmissions and reordering\n" + NO_BOOKS
    panels, rows = [], []
    for tap in TAPS:
        of_tap = [one for one in resent if one.one.tap == tap]
        series = []
        for cause in CAUSES:
            members = [one for one in of_tap if one.one.truth == cause]
            series.append((figures.name_of(cause),
                           [one.passed_bytes / one.sent_bytes for one in members],
                           [one.called_bytes / one.sent_bytes for one in members],
                           figures.COLOURS[cause]))
        for scenario in sorted({one.one.case.scenario for one in of_tap}):
            members = [one for one in of_tap if one.one.case.scenario == scenario]
            if any(one.sender_bytes or one.called_bytes for one in members):
                rows.append([scenario, tap, len(members), *sums(members)])
        panels.append((f"tap {tap} the bottleneck", series))
        rows.append(["**all**", tap, len(of_tap), *sums(of_tap)])
    figures.scatter(study.figure("retransmissions"), panels, "passed: bytes sent again / sent",
                    "tap: bytes called sent again / sent")
    reordered = [one for one in resent if one.is_only_reordered]
    return """
## Retransmissions and reordering

Bytes that a tap calls sent again, in whole flows, against the sender's own count (`bytes_retrans`
of TCP_INFO). What was dropped again on its way to the tap is taken off that (*passed*). *Found*
is the part of the rest that the tap called so, flow by flow; *beyond* what it called so beyond
that, as a share of all bytes sent.
Scenarios in which nothing was sent again, nor called so, are left out.
""" + table(["scenario", "tap", "flows", "bytes sent again", "passed", "share of bytes", "found",
             "beyond"], rows, left=2) \
        + figure("retransmissions", "Bytes called sent again against the sender's count") \
        + drops(resent) + reordering(reordered)


def found_share(resent):
    passed = sum(one.passed_bytes for one in resent)
    found = sum(min(one.called_bytes, one.passed_bytes) for one in resent)
    return found / passed if passed else None


def sums(resent):
    sent = sum(one.sent_bytes for one in resent)
    sender = sum(one.sender_bytes for one in resent)
    beyond = sum(max(0, one.called_bytes - one.passed_bytes) for one in resent)
    passed = sum(one.passed_bytes for one in resent)
    return [f"{sender:,}", f"{passed:,}", percent(sender / sent, 3),
            percent(found_share(resent), 2), percent(beyond / sent, 3)]


def drops(resent):
    rows = []
    for tap in TAPS:
        of_tap = [one for one in resent if one.one.tap == tap and one.dropped_bytes]
        dropped = sum(one.dropped_bytes for one in of_tap)
        spurious = sum(one.one.row["retransmitted_spurious_bytes"] or 0 for one in of_tap)
        called = sum(one.called_bytes for one in of_tap) - spurious
        unseen = sum(one.sender_bytes - one.passed_bytes for one in of_tap)
        if dropped:
            rows.append([tap, len(of_tap), f"{dropped:,}", f"{unseen:,}", f"{called:,}",
                         percent(called / (dropped - unseen), 2)])
    if not rows:
        return ""
    return """
Each frame that the path drops must be sent again, those apart that the end of the flow or of the
capture cut off. Payload dropped by the emulator's own book, of flows that lost any, what of it was
a copy that was dropped again before the tap, and what the tap called sent again because it was
lost:
""" + table(["tap", "flows", "bytes dropped", "unseen copies", "bytes called lost",
             "called / dropped and seen"], rows)


def reordering(reordered):
    if not reordered:
        return ""
    rows = []
    for one in sorted(reordered, key=lambda one: (one.one.case.name, one.one.tap, one.one.flow)):
        rows.append([one.one.case.name, one.one.tap, one.path["reordered_frames"],
                     one.one.row["reordered_packets"], f"{one.sender_bytes:,}",
                     f"{one.called_bytes:,}", percent(one.false_share, 3)])
    return """
Paths that reorder and lose nothing. What the sender did send again here it sent without need, and
that is no mistake of the tap; *beyond* is. A tap before the section that reorders cannot see it.
""" + table(["case", "tap", "frames reordered by the path", "packets called reordered",
             "bytes sent again by the sender", "bytes called sent again", "beyond"], rows, left=2)


def round_trip_section(study):
    errors = transmission.round_trips(study.headline)
    if not errors:
        return "\n## Round trips\n" + NO_BOOKS
    panels, rows = [], []
    series = []
    for number, tap in enumerate(TAPS):
        of_tap = [(one, error) for one, error in errors if one.tap == tap]
        by_scenario = {}
        for one, error in of_tap:
            by_scenario.setdefault(one.case.scenario, []).append(error)
        for scenario, values in sorted(by_scenario.items()):
            rows.append([scenario, tap, *error_cells(values)])
        rows.append(["**all**", tap, *error_cells([error for _, error in of_tap])])
        lookup = {id(one): error for one, error in of_tap}
        series.append((f"tap {tap}", weights_of([one for one, _ in of_tap],
                                                lambda one: max(1e-5, abs(lookup[id(one)]))),
                       figures.of_series(number)))
    panels.append(("median round trip of an interval", "relative error", series, (1e-4, 1), "log",
                   (0.02,)))
    figures.distributions(study.figure("round-trips"), panels, "share of intervals")
    return """
## Round trips

`rtt_p50_seconds` of an interval against the median of the sender's own estimate in the same
interval (`rtt_us` of TCP_INFO each 20 ms). The kernel's is a moving average of gain 1/8 [RFC
6298] and holds the receiver's delayed ACKs; a median of single round trips differs from it where
they vary quickly. The row's median comes from a histogram whose bins are 9 % wide.
""" + table(["scenario", "tap", "intervals", "median error", "90 % within", "99 % within",
             "median, with sign"], rows, left=2) \
        + figure("round-trips", "Distribution of the relative error of median round trips")


def error_cells(errors):
    sizes = [abs(error) for error in errors]
    return [len(errors), percent(statistics.median(sizes), 2), percent(quantile(sizes, 0.9)),
            percent(quantile(sizes, 0.99)), f"{100 * statistics.median(errors):+.2f} %"]


def idle_section(study):
    judged = with_idle_share(study.headline)
    if not judged:
        return ""
    limited = [one for one in judged if one.truth == APPLICATION]
    groups = {"intervals limited by the application": limited,
              "all other intervals": [one for one in judged if one.truth != APPLICATION],
              "**all**": judged}
    rows = [[name, len(members), f"{mean(members, idle_error, judged):.4f}",
             f"{weighted_quantile(weights_of(members, idle_error, judged), 0.9):.4f}"]
            for name, members in groups.items() if members]
    return """
## The application's idle share

`share_application` against the share of time in which, by the application's own log and the
kernel's buffers, there was nothing to send. It is held against all intervals, and against
those that the application limited, where an error matters most.
""" + table(["", "intervals", "mean error", "90 % within"], rows)


def cost_section(study):
    rows = [[cell.strip() for cell in line.split("|")[1:-1]]
            for line in study.benchmarks.splitlines()
            if re.match(r"\| (decoding|analysing|closing|mouse|elephant)", line)]
    text = """
## Run time and state

[BAU20 Table II] gives the time of one periodic calculation of one flow, module by module, on a
Xeon E5-2620 at 2.0 GHz; Fig. 7 a throughput of 620 Mbit/s with one flow, falling from 32–64 flows
on, when the state of all no longer fits the cache, to some 350 Mbit/s at 4,096 flows, on one core
and without the capacity module. Here no module recalculates: each adds to its state packet by
packet, so a module's time is its share of the whole, by samples; per row, which is what comes of
one flow in one second, it can be set beside a periodic calculation. Other machines, other work:
orders of magnitude can be compared, no more.
""" + table(["[BAU20 Table II]", "µs a calculation"],
            [[name, f"{value:,}"] for name, value in PUBLISHED_MICROSECONDS.items()])
    if not rows:
        return text + "\nOur figures: [benchmarks.md](benchmarks.md).\n"
    cost = [row[:2] for row in rows if len(row) == 2]
    state = [row[:3] for row in rows if len(row) == 3]
    return text + "\nFrom [benchmarks.md](benchmarks.md), which says how they were taken:\n" \
        + table(["this program", "CPU"], cost) \
        + modules_table(study.benchmarks) \
        + table(["state of a flow", "serialised B", "heap B"], state)


def modules_table(benchmarks):
    """The table of benchmarks.md that begins with the word; empty if it has none yet."""
    found = re.search(r"\n\| module \|.*\n(?:\|.*\n)+", benchmarks)
    return found.group(0) if found else ""
