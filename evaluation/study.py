# SPDX-License-Identifier: Apache-2.0
"""All that was measured."""

from dataclasses import dataclass
from pathlib import Path

import dataset

CALIBRATION, PROOF = "calibration", "proof"


@dataclass
class Draw:
    """A run through the cases of the testbed with seeds of its own: what became of them, and the
    matched rows of those that became what their scenario promises."""

    cases: list
    num_refused: int
    judged: list
    about: dict


@dataclass
class Study:
    """Rules are tuned on the draw `calibration`; the draw `proof`, which nobody looked at, may be
    missing. `simulated` are the rows of the simulator's cases, `degraded` by variant those of the
    drawn cases, `sensitivity` what sensitivity.py says."""

    calibration: Draw
    proof: Draw
    simulated_cases: list
    simulated: list
    variants: dict
    degraded_cases: list
    degraded: dict
    sensitivity: dict
    figures: Path
    benchmarks: str
    commit: str

    @property
    def draws(self):
        """(name, draw)."""
        found = [(CALIBRATION, self.calibration)]
        return [(PROOF, self.proof), *found] if self.proof else found

    @property
    def draw(self):
        """The one that the tables are of."""
        return self.proof or self.calibration

    @property
    def draw_name(self):
        return "proof draw" if self.proof else "draw"

    @property
    def is_split(self):
        return bool(dataset.held_out(self.draw.judged))

    @property
    def headline(self):
        """The rows that the targets are held to: those that nothing was tuned on."""
        if self.proof or not self.is_split:
            return self.draw.judged
        return dataset.held_out(self.draw.judged)

    @property
    def headline_name(self):
        if self.proof:
            return "proof draw"
        return "held-out cases" if self.is_split else "all cases"

    @property
    def headline_of(self):
        if self.proof:
            return "all cases of the proof draw"
        return "the half that was held out" if self.is_split \
            else "all cases (there is no held-out half)"

    @property
    def compared(self):
        """(name, rows) of what the headline is compared with."""
        if self.proof:
            held_out = dataset.held_out(self.proof.judged)
            return [*([("held-out half of the proof draw", held_out)] if held_out else []),
                    ("calibration draw", self.calibration.judged)]
        return [("calibration half", [one for one in self.draw.judged
                                      if one.case.half != dataset.HELD_OUT])] \
            if self.is_split else []

    @property
    def headline_and_simulated(self):
        """(name, rows) of both."""
        return ((self.headline_name, self.headline), ("simulated cases", self.simulated))

    def figure(self, name):
        return self.figures / f"{name}.svg"
