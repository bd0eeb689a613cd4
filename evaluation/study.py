# SPDX-License-Identifier: Apache-2.0
"""All that was measured, and what the targets ask of it."""

from dataclasses import dataclass, field
from pathlib import Path

import dataset


@dataclass
class Target:
    """`is_met` is None if there was nothing to measure it on."""

    asked: str
    measured: str
    is_met: bool


@dataclass
class Study:
    """`judged` are the matched rows of all cases of the testbed, `simulated` of the simulator's,
    `degraded` by variant those of the drawn cases."""

    cases: list
    num_refused: int
    judged: list
    simulated_cases: list
    simulated: list
    variants: dict
    degraded_cases: list
    degraded: dict
    figures: Path
    benchmarks: str
    commit: str
    targets: list = field(default_factory=list)

    @property
    def is_split(self):
        return bool(dataset.held_out(self.judged))

    @property
    def headline(self):
        """The rows that the targets are held to: those that nothing was tuned on."""
        return dataset.held_out(self.judged) if self.is_split else self.judged

    @property
    def calibration(self):
        """The other half."""
        return [one for one in self.judged if one.case.half != dataset.HELD_OUT]

    @property
    def headline_name(self):
        return "held-out cases" if self.is_split else "all cases"

    @property
    def headline_of(self):
        return "the half that was held out" if self.is_split \
            else "all cases (there is no held-out half)"

    @property
    def headline_and_simulated(self):
        """(name, rows) of both."""
        return ((self.headline_name, self.headline), ("simulated cases", self.simulated))

    def figure(self, name):
        return self.figures / f"{name}.svg"

    def target(self, asked, measured, is_met):
        self.targets.append(Target(asked, measured, is_met))
