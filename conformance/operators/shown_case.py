"""A case as a situation asks about it: its operands, and whether each result is defined, in range, or zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array


@dataclass(frozen=True)
class Shown:
    """A case with the kernel's states (exact form), for asking what it shows."""

    case: Case
    states: Array

    def floats(self) -> list[Array]:
        arrays = [a for a in self.case.inputs if isinstance(ELEMENT_TYPES[a.dtype.name], FloatType)]
        with np.errstate(all="ignore"):
            return [array.astype(np.float64) for array in arrays]

    def parameters(self) -> tuple[Array, ...]:
        return self.case.inputs[1:]


Situation = Callable[[Shown], bool]


def limits(shown: Shown, first: int, test: Callable[[Array, Array], Array]) -> bool:
    """Whether a test holds somewhere of two neighbouring inputs, broadcast against each other."""
    low, high = (array.astype(np.float64) for array in shown.case.inputs[first : first + 2])
    with np.errstate(all="ignore"):
        return bool(np.any(test(low, high)))
