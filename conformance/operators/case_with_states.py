"""A case with the state of each result (undefined, out of range, zero …), for deciding which situations it shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tiebreak.golden.elements import FloatType
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array, kind_of


@dataclass(frozen=True)
class CaseWithStates:
    """A case with the kernel's state of each element in the exact form (flat, output by output)."""

    case: Case
    states: Array

    def floats(self) -> list[Array]:
        arrays = [a for a in self.case.inputs if isinstance(kind_of(a), FloatType)]
        with np.errstate(all="ignore"):
            return [array.astype(np.float64) for array in arrays]

    def parameters(self) -> tuple[Array, ...]:
        return self.case.inputs[1:]


Situation = Callable[[CaseWithStates], bool]


def holds_for_limits(shown: CaseWithStates, first: int, test: Callable[[Array, Array], Array]) -> bool:
    """Whether a test holds anywhere for inputs number `first` and `first` + 1, broadcast against each other."""
    low, high = (array.astype(np.float64) for array in shown.case.inputs[first : first + 2])
    with np.errstate(all="ignore"):
        return bool(np.any(test(low, high)))
