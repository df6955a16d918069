"""What tests of pattern runtimes ask: a pattern with given scales and zero points, and what each way answers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tiebreak.adapters.patterns.model import UNFUSED, PatternRuntime
from tiebreak.conformance.patterns.operands import rows_of
from tiebreak.golden.patterns.graph import REAL, Pattern, ScalePair
from tiebreak.golden.patterns.stepwise import stepwise
from tiebreak.golden.patterns.text import pattern_of
from tiebreak.golden.problem import Array

EXACT = ("0.0625", "0.25", "0.125")  # powers of two: float32 arithmetic is exact on small codes


class Asked(NamedTuple):
    """A pattern, its pairs by name, and the operands' rows."""

    pattern: Pattern
    pairs: dict[str, ScalePair]
    rows: dict[str, Array]

    def stepwise(self) -> Array:
        return stepwise(self.pattern, self.pairs, self.rows)

    def answer(self, runtime: PatternRuntime, way: str = UNFUSED) -> Array:
        """As the truths are given: codes as int64, or a float32's bits."""
        output = runtime.open(*self, way).run({one.name: self.rows[one.name] for one in self.pattern.inputs})
        return output if self.pattern.output == REAL else output.astype(np.int64)

    def graph(self, runtime: PatternRuntime, way: str = UNFUSED) -> tuple[str, ...]:
        return runtime.open(*self, way).graph


def asked(words: str, kind: str, scales: tuple[str, ...] = EXACT, zero_points: tuple[int, ...] = (0, 0, 0)) -> Asked:
    """The pattern with these scales and zero points, in order of its pairs."""
    pattern = pattern_of(words, kind)
    given = zip(pattern.pairs.items(), scales, zero_points, strict=False)
    pairs = {name: ScalePair(np.float32(scale), zero_point, own) for (name, own), scale, zero_point in given}
    assert len(pairs) == len(pattern.pairs)
    return Asked(pattern, pairs, rows_of(pattern, pairs))
