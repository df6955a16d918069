"""Steps of TensorFlow's Dequantize as black boxes do them: the operands in a working precision, and what rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tiebreak.conformance.semantics.dynamic_scale import StepRule
from tiebreak.conformance.semantics.places import as_array, as_type, flush_subnormals, fused_multiply_add
from tiebreak.golden.elements import FLOAT_TYPES, IntegerType
from tiebreak.golden.problem import Array

EMIN = FLOAT_TYPES["float32"].emin


@dataclass(frozen=True)
class CodesInRange:
    """Integers (int64), the ends of their range (float32), and the type of the steps. `flushes`: no step is subnormal.

    `narrow` is the node's narrow_range.
    """

    x: Array
    low: Array
    high: Array
    kind: IntegerType
    narrow: bool
    dtype: np.dtype[Any]
    flushes: bool = False

    def step(self, values: Array) -> Array:
        """What a step gives in the working precision."""
        found = as_type(values, self.dtype)
        return flush_subnormals(found, EMIN) if self.flushes else found

    def fused(self, a: Array, b: Array, added: Array) -> Array:
        """a * b + added, rounded once."""
        return self.step(fused_multiply_add(a, b, added, self.dtype))

    def number(self, value: Array | float) -> Array:
        """Integers, which are no subnormals, in the working precision."""
        return as_array(value).astype(self.dtype)

    @property
    def ends(self) -> tuple[Array, Array]:
        return self.step(self.low), self.step(self.high)

    @property
    def width(self) -> Array:
        low, high = self.ends
        return self.step(high - low)

    @property
    def steps(self) -> int:
        return self.kind.highest - self.kind.lowest


SUBNORMAL_STEPS = (
    STEPS_KEPT := StepRule("kept", "subnormal numbers are kept", bool),
    OUTPUTS_FLUSHED := StepRule("outputs-flushed", "a subnormal result becomes 0", bool, "flushes-outputs"),
    STEPS_FLUSHED := StepRule(
        "flushed", "subnormal ends of the range, and subnormal results of steps, become 0", bool, "flushes"
    ),
)
