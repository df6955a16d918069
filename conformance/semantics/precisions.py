"""The facet `precision`: the type to which each step is rounded, or none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tiebreak.golden.elements import FLOAT_TYPES, FloatType, numpy_dtype


@dataclass(frozen=True, eq=False)
class Precision:
    """A working precision. `id` is the name of a type, or "exact"."""

    id: str
    sentence: str
    cause: str

    @property
    def is_exact(self) -> bool:
        return self.id not in FLOAT_TYPES

    @cached_property
    def type(self) -> FloatType:
        """The type; of an exact quotient the float64 that it is compared in."""
        return FLOAT_TYPES["float64" if self.is_exact else self.id]

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        return numpy_dtype(self.type.name)


def rounded_to(name: str) -> Precision:
    return Precision(name, f"every step is rounded to {name}", f"in:{name}")


EXACT = Precision("exact", "no step is rounded, only what becomes an integer, and a result", "exactly")
FLOAT64, FLOAT32, FLOAT16, BFLOAT16 = map(rounded_to, ("float64", "float32", "float16", "bfloat16"))
PRECISIONS = (EXACT, FLOAT64, FLOAT32, FLOAT16, BFLOAT16)
OF_TYPE = {precision.id: precision for precision in PRECISIONS[1:]}  # by the name of a type
