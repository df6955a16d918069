"""What is asked of an order of steps: which of the codes that were given it leads to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tiebreak.golden.arithmetic.doubles import rounded
from tiebreak.golden.elements import FloatType, IntegerType
from tiebreak.golden.orders.ends import OrderSteps, StepEnds, hull
from tiebreak.golden.problem import Array, Elementwise, Problem


@dataclass(frozen=True)
class Question:
    """`given` are codes, one for each element of the problem, with their `values`; `operands` are values (float64).

    Every one of the `modes` is allowed. `ties` has, for each of the last numbers that the formula rounds to integers,
    those of the elements: the number in real arithmetic where it is a tie, NaN elsewhere.
    """

    steps: OrderSteps
    problem: Problem
    operands: Sequence[Array]
    given: Array
    values: Array
    modes: Sequence[str]
    ties: Array
    round: Callable[[Array, str], Array]

    @property
    def constants(self) -> Mapping[str, Any]:
        return self.problem.constants if isinstance(self.problem, Elementwise) else {}

    def rounded(self, argument: StepEnds, which: int = -1) -> StepEnds:
        """The integers that come of a number, the last that is rounded unless said; a tie is what it is."""
        tie = self.ties[which]
        low, high = (np.where(np.isnan(tie), end, tie) for end in (argument.low, argument.high))
        return hull([StepEnds(self.round(low, mode), self.round(high, mode)) for mode in self.modes])

    def among_integers(self, argument: StepEnds, zero_point: Array | int = 0) -> Array:
        """Which codes come of the argument of round: rounded, the zero point added, saturated."""
        kind, whole = self.problem.result, self.rounded(argument)
        assert isinstance(kind, IntegerType)
        low, high = (np.clip(end + zero_point, kind.lowest, kind.highest) for end in (whole.low, whole.high))
        return self.among(self.given, low, high)

    def among_numbers(self, value: StepEnds) -> Array:
        """Which codes come of a number that is rounded to the output's type."""
        kind = self.problem.result
        assert isinstance(kind, FloatType)
        return self.among(self.values, rounded(value.low, kind), rounded(value.high, kind))

    def among_sums(self, value: StepEnds, terms: Sequence[Array]) -> Array:
        """As among_numbers, of a sum of terms of about these sizes: a multiple of the last bits that they can have."""
        exponents = [np.where(term == 0, 2000, np.frexp(term)[1]) for term in terms]
        bits = 55 - np.minimum.reduce(exponents)  # float64 has 53, and a size may be off by a bit
        scaled = np.ldexp(self.values, np.minimum(bits, 2000))
        return np.asarray(self.among_numbers(value) & (scaled == np.rint(scaled)))

    def among(self, given: Array, low: Array, high: Array) -> Array:
        """What lies between the ends; only they where steps overflow or underflow, since nothing need be between."""
        ends = (given == low) | (given == high)
        return np.asarray(ends if self.steps.beyond else (low <= given) & (given <= high))
