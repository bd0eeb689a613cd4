# SPDX-License-Identifier: Apache-2.0
"""What becomes of the results if the truth's own thresholds are moved."""

import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

from causes import CAUSES, root_cause
from matching import by_case, held_to, scored
from scores import confusion, outcomes, precision, recall, share
from truth import USUAL, CaseTruth, SlotTruth
from verdicts import INTERVAL


@dataclass(frozen=True)
class Move:
    """A threshold of truth.py at another value; one that is a share near 1 is moved by what it
    leaves to 1."""

    what: str
    name: str
    percent: int
    value: float

    @property
    def thresholds(self):
        return replace(USUAL, **{self.name: self.value})


def moved(what, name, percent, from_one=False):
    usual = getattr(USUAL, name)
    for signed in (-percent, percent):
        factor = 1 + signed / 100
        value = 1 - (1 - usual) * factor if from_one else usual * factor
        yield Move(what, name, signed, round(value, 6) if value % 1 else int(value))


MOVES = (
    *moved("a queue stands above … bytes", "standing_bytes", 50),
    *moved("a link is full from … of it on", "busy_link", 50, from_one=True),
    *moved("a link is used up from … of it on", "used_up_link", 50, from_one=True),
    *moved("a link is the flow's own from … of its bytes on", "own_link", 25, from_one=True),
    *moved("a link is the flow's own from … of its bytes on", "own_link", 50, from_one=True),
    *moved("its shares are counted over … ms", "window_ms", 50),
    *moved("a window is full with less than … segments of room", "room_segments", 50),
    *moved("a cause owns … of the time at least", "least_share", 25),
    *moved("and … more than the next", "least_lead", 50),
)


@dataclass
class Effect:
    """What a move does to the scored intervals: how many have another truth (share), how many
    verdicts are then right, undecided and wrong, and the precisions and recalls."""

    changed: float
    outcomes: dict
    classes: dict


def truths(folder, spans):
    """In a worker: by move, the shares of each (flow, start, end), and the cause."""
    found = []
    case = CaseTruth(folder)
    for move in MOVES:
        truth = SlotTruth(case.judged_by(move.thresholds))
        of_move = []
        for span in spans:
            shares = truth.shares(*span)
            of_move.append((shares, None if shares is None else root_cause(
                shares, move.thresholds.least_share, move.thresholds.least_lead)))
        found.append(of_move)
    return found


def effect(before, after):
    """`before` are the scored rows of the usual truth, `after` all rows of the moved one."""
    truth_of = {id(one.row): one.truth for one in after}
    now = scored(after)
    weights = confusion(now)
    classes = {}
    for cause in CAUSES:
        if recall(weights, cause) is not None:
            classes["precision", cause] = precision(weights, cause) or 0
            classes["recall", cause] = recall(weights, cause)
    return Effect(share(before, lambda one: truth_of[id(one.row)] != one.truth), outcomes(now),
                  classes)


def effects(judged):
    """{None: as it is, move: Effect} over the intervals of cases on disk."""
    of_kind = [one for one in judged if one.kind == INTERVAL]
    groups = list(by_case(of_kind).values())
    usual = scored(of_kind)
    after = {move: [] for move in MOVES}
    with ProcessPoolExecutor(os.cpu_count()) as workers:
        spans = [[(one.flow, one.row["start_ns"], one.row["end_ns"]) for one in group]
                 for group in groups]
        folders = [group[0].case.folder for group in groups]
        for group, by_move in zip(groups, workers.map(truths, folders, spans, chunksize=4)):
            for move, found in zip(MOVES, by_move):
                after[move] += [held_to(one, *truth) for one, truth in zip(group, found)]
    return {None: effect(usual, usual), **{move: effect(usual, rows) for move, rows in
                                           after.items()}}


