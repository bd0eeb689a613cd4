# SPDX-License-Identifier: Apache-2.0
"""The causes, and how shares of time become one: the words and the rule of the rows."""

APPLICATION = "application"
SEND_BUFFER = "send_buffer"
RECEIVER_WINDOW = "receiver_window"
UNSHARED = "unshared_bottleneck"
SHARED = "shared_bottleneck"
TRANSPORT = "transport"
UNKNOWN = "unknown"
CAUSES = (UNSHARED, SHARED, RECEIVER_WINDOW, SEND_BUFFER, APPLICATION, TRANSPORT)

BOTTLENECK = "bottleneck"            # the path is full, by whom can't be told
MIXED = "mixed"                      # no cause stands out
SHORT_TRANSFER = "short_transfer"    # the verdict is withheld
# What says no cause is not a wrong cause.
UNDECIDED = (MIXED, UNKNOWN, SHORT_TRANSFER)

LEAST_SHARE = 0.5
LEAST_LEAD = 0.1


def root_cause(shares, least_share=LEAST_SHARE, least_lead=LEAST_LEAD):
    """The cause that owns most of the time, or `mixed`; both bottlenecks count together."""
    groups = dict(shares)
    bottleneck = groups.pop(UNSHARED, 0) + groups.pop(SHARED, 0)
    groups[BOTTLENECK] = bottleneck
    ranked = sorted(groups.items(), key=lambda item: -item[1])
    cause, largest = ranked[0]
    if largest < least_share or largest < ranked[1][1] + least_lead:
        return MIXED
    if cause == BOTTLENECK:
        return UNSHARED if shares.get(UNSHARED, 0) >= shares.get(SHARED, 0) else SHARED
    return cause


def is_wrong(verdict, truth):
    """Whether a verdict names a cause that was not the one. `bottleneck` is right of both kinds."""
    if verdict in UNDECIDED or verdict == truth:
        return False
    return not (verdict == BOTTLENECK and truth in (UNSHARED, SHARED))
