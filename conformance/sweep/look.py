"""What judging a piece of a sweep gives, whoever judges it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import ROUND_MODES
from tiebreak.golden.verdicts import GRADES


@dataclass
class Look:
    """What a piece showed: elements by grade (see judge.GRADES), and those that deviate: numbers, codes got, expected.

    `differ` counts, for each of the nine modes, the elements that are neither of its two results.
    """

    counts: Array = field(default_factory=lambda: np.zeros(len(GRADES), np.int64))
    wrong: list[tuple[Array, Array, Array]] = field(default_factory=list)
    differ: Array = field(default_factory=lambda: np.zeros(len(ROUND_MODES), np.int64))


class Judge(Protocol):
    """Judges results of consecutive inputs, all of one scale."""

    def look(self, at: int, output: Array, found: Look) -> None: ...
    def look_at_modes(self, at: int, output: Array, found: Look) -> None: ...
