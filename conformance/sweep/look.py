"""The result of judging a piece of a sweep, and the interface of all judges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import ROUND_MODES
from tiebreak.golden.verdicts import GRADES


class WrongRuns(NamedTuple):
    """Runs of consecutive inputs, each with one wrong result: numbers of the first and the last, codes."""

    first: Array
    last: Array
    got: Array
    expected: Array


@dataclass
class PieceGrades:
    """Judged elements: `counts` by grade (see verdicts.GRADES), and those in `wrong` that deviate, unordered.

    `differ` counts, for each of the nine modes, the elements that equal neither of its two results.
    """

    counts: Array = field(default_factory=lambda: np.zeros(len(GRADES), np.int64))
    wrong: list[WrongRuns] = field(default_factory=list)
    differ: Array = field(default_factory=lambda: np.zeros(len(ROUND_MODES), np.int64))

    def add_wrong(self, numbers: Array, got: Array, expected: Array) -> None:
        """Add elements that deviate, each by itself."""
        if numbers.size:
            self.wrong.append(WrongRuns(numbers, numbers, got, expected))


class Judge(Protocol):
    """Judges the results of consecutive inputs and adds them to `found`; `at` is the first input's number."""

    def look(self, at: int, output: Array, found: PieceGrades) -> None: ...
    def look_at_modes(self, at: int, output: Array, found: PieceGrades) -> None: ...
