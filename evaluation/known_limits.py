# SPDX-License-Identifier: Apache-2.0
"""Why verdicts fail where they do, as far as it is known; the page shows what applies."""

from causes import SHARED, UNKNOWN, UNSHARED

# (scenario, true cause, what is mostly called instead); None stands for any.
REASONS = {
    ("fair-queueing", SHARED, None):
        "Every flow has a queue of its own, and its packets leave it evenly at the rate of its "
        "share, as from a narrower link of its own. One flow alone cannot show the difference.",
    ("fair", SHARED, None):
        "Every flow has a queue of its own, and its packets leave it evenly at the rate of its "
        "share, as from a narrower link of its own. One flow alone cannot show the difference.",
    ("hidden-light", None, None):
        "The competitor takes between a twentieth and a fifth of the link: at a tenth the truth "
        "itself changes sides, and near it the verdict says `bottleneck`.",
    ("shaper", UNSHARED, None):
        "A token bucket lets bursts pass at the rate of the line behind it, then holds back: gaps "
        "and rates are those of a link that others use, too.",
    ("window-below", None, None):
        "The window is nine tenths of the bandwidth-delay product, so the link is nearly full: "
        "window and link limit the flow to almost the same rate.",
    ("nagle", None, None):
        "Nagle's algorithm joins small writes and releases them when an ACK comes, as a full "
        "congestion window would release them.",
    (None, None, UNKNOWN):
        "Without TCP timestamps the delay between sender and tap cannot be followed, so far from "
        "the sender `unknown` stands where a queue may hide.",
}


def reason(scenario, cause, called):
    """A sentence, or an empty one."""
    for (of_scenario, of_cause, of_called), text in REASONS.items():
        if of_scenario in (None, scenario) and of_cause in (None, cause) \
                and of_called in (None, called):
            return text
    return ""
