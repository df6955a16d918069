"""The steps of TensorFlow's Dequantize: the formulas of its tables, traced."""

from __future__ import annotations

from typing import Any

import numpy as np

from tiebreak.conformance.emulators.steps import LONG, SINGLE, Computed, cast, flushed, given, named, with_names
from tiebreak.conformance.emulators.traced import Traced
from tiebreak.conformance.semantics.model import Semantics
from tiebreak.conformance.semantics.range_dequantize import RangeDequantizeArithmetic
from tiebreak.conformance.semantics.range_steps import EMIN, STEPS_FLUSHED, STEPS_KEPT, CodesInRange

RANGE = ("min_range", "max_range")


def range_dequantize_steps(arithmetic: RangeDequantizeArithmetic, semantics: Semantics) -> Computed:
    """The result, a float32."""
    node, subnormals = arithmetic.node, semantics[-1]
    operands: Any = (
        Traced(cast(LONG, given("x", node.input_type))),
        *(Traced(given(one, SINGLE)) for one in RANGE),
    )
    x, low, high = operands
    flushes, single = subnormals is STEPS_FLUSHED, np.dtype(np.float32)
    codes = CodesInRange(x, low, high, arithmetic.kind, arithmetic.narrow, single, flushes)
    found: Any = arithmetic.values(codes, semantics)
    result = cast(SINGLE, found.of)
    return with_names(named("y", result if subnormals is STEPS_KEPT else flushed(result, EMIN)))
