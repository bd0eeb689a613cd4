# SPDX-License-Identifier: Apache-2.0
"""Why verdicts fail where they do, as far as it is known; the page shows what applies.

By (scenario, true cause); a scenario of None holds for every one that has no reason of its own.
"""

REASONS = {
    ("random-loss", "transport"): "Loss below some 1 % on a short round trip leaves the link nearly "
    "full: both the truth and the verdict come near the border between a path that is full and one "
    "that is not.",
    (None, "shared_bottleneck"): "Flows of few packets a round trip show few pairs and rarely the least "
    "of a queue; a share above nine tenths of the link cannot be told from the whole.",
}


def reason(scenario, cause):
    return REASONS.get((scenario, cause)) or REASONS.get((None, cause)) or ""
