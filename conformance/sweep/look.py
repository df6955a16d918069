"""The result of judging a piece of a sweep, and the interface of both judges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import ROUND_MODES
from tiebreak.golden.verdicts import GRADES


@dataclass
class PieceGrades:
    """Judged elements: `counts` by grade (see verdicts.GRADES), and arrays of those in `wrong` that deviate.

    `wrong` holds triples of arrays: input numbers, codes got, codes expected. `differ` counts, for each of the nine
    modes, the elements that equal neither of its two results.
    """

    counts: Array = field(default_factory=lambda: np.zeros(len(GRADES), np.int64))
    wrong: list[tuple[Array, Array, Array]] = field(default_factory=list)
    differ: Array = field(default_factory=lambda: np.zeros(len(ROUND_MODES), np.int64))


class Judge(Protocol):
    """Judges the results of consecutive inputs and adds them to `found`; `at` is the first input's number."""

    def look(self, at: int, output: Array, found: PieceGrades) -> None: ...
    def look_at_modes(self, at: int, output: Array, found: PieceGrades) -> None: ...
