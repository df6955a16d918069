"""The judge of right answers that repeat, as those of an integer's low bits do.

Consecutive inputs have the same right answers again and again. They are solved once, and each part of a block is
compared with them. A part that equals the one before has its grades.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tiebreak.conformance.judging.judge import Judgement
from tiebreak.conformance.judging.truths import Truths
from tiebreak.conformance.sweep.look import PieceGrades
from tiebreak.conformance.sweep.solving import SolvingJudge, judged
from tiebreak.golden import kernel
from tiebreak.golden.problem import Array
from tiebreak.golden.space import Space
from tiebreak.golden.verdicts import DEVIATES, GRADES

Key = tuple[tuple[str, ...], int]  # modes, and the number of inputs of a part


@dataclass
class RepeatingJudge:
    """For nodes with an OperatorUnderTest.period that divides the size of a part.

    `known` has the right answers to the first part, `last` the last part's results and their grades.
    """

    space: Space
    solving: SolvingJudge
    known: dict[Key, Truths] = field(default_factory=dict)
    last: dict[Key, tuple[Array, Judgement]] = field(default_factory=dict)

    def look(self, at: int, output: Array, found: PieceGrades) -> None:
        for start, part in self.solving.parts(at, output):
            judgement = self.judgement(part, self.solving.modes)
            found.counts += np.bincount(judgement.grades, minlength=len(GRADES))
            where = np.flatnonzero(judgement.grades == DEVIATES)
            right = self.truths(part.size, self.solving.modes).judged_by.exact
            found.add_wrong(start + where, judgement.values[where], right[where])

    def look_at_modes(self, at: int, output: Array, found: PieceGrades) -> None:
        for _, part in self.solving.parts(at, output) if self.space.node.modes else ():
            for place, mode in enumerate(kernel.MODES):
                found.differ[place] += self.judgement(part, (mode,)).count(DEVIATES)

    def judgement(self, part: Array, modes: tuple[str, ...]) -> Judgement:
        key = modes, part.size
        if key not in self.last or not np.array_equal(self.last[key][0], part):
            self.last[key] = part.copy(), judged(part, self.truths(part.size, modes))
        return self.last[key][1]

    def truths(self, size: int, modes: Sequence[str]) -> Truths:
        """What is right for every `size` inputs that begin at a multiple of the period."""
        key = tuple(modes), size
        if key not in self.known:
            self.known[key] = self.solving.truths(np.arange(size), modes, bounded=self.space.node.is_bounded)
        return self.known[key]
