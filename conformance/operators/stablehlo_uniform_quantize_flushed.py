"""What `stablehlo.uniform_quantize` gives where a subnormal scale counts as 0, and a quotient is NaN.

A processor's conversion to int32 gives the lowest number for NaN. IREE narrows that with saturation to the signed type
in vectors, and by its low bits behind them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tiebreak.conformance.operators import stablehlo_uniform_quantize_mistakes as own
from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.conformance.semantics.places import flush_subnormals
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

LOWEST = float(INTEGER_TYPES["int32"].lowest)
LANES = 4  # of a vector of 128 bits
FLUSHED = f"flushes-scales{JOINT}"


def flushed(values: Array) -> Array:
    """Floats with 0 for subnormal ones; other numbers as they are."""
    kind = FLOAT_TYPES.get(values.dtype.name)
    return values if kind is None else flush_subnormals(values, kind.emin)


def of_nan(node: Node, whole: Array) -> Array:
    return np.where(np.isnan(whole), LOWEST, whole)


def saturated_to_signed(node: Node, whole: Array) -> Array:
    """As int32, which saturates to the signed type of the same bits."""
    half = (INTEGER_TYPES[node.output_type].highest - INTEGER_TYPES[node.output_type].lowest + 1) // 2
    return np.asarray(np.clip(of_nan(node, whole), -half, half - 1))


def saturated_in_vectors(node: Node, whole: Array) -> Array:
    """The same in whole vectors of 4; behind them the low bits of an int32."""
    body = np.arange(whole.size).reshape(whole.shape) < whole.size // LANES * LANES
    return np.where(body, saturated_to_signed(node, whole), own.as_word(node, whole))


def with_flushed_scales(run: Mistake) -> Mistake:
    """A backend that gets 0 for subnormal floats. One without a subnormal scale is no case of its own."""

    def of_flushed(node: Node, x: Array, scales: Array, points: Array, *others: Array) -> tuple[Array, ...]:
        least, given = flushed(scales), tuple(flushed(array) for array in others)
        if all(np.array_equal(*pair) for pair in ((least, scales), *zip(given, others, strict=True))):
            raise NotImplementedError
        return run(node, flushed(x), least, points, *given)

    return of_flushed


def ratio_in_word(node: Node, x: Array, scales: Array, points: Array, *others: Array) -> Any:
    """The ratio and the shift in float32; NaN is the lowest int32, whose low bits are taken."""
    with np.errstate(all="ignore"):
        total = own.total_by_ratio(True, node, x, scales, points, *others)
    whole = of_nan(node, own.within_ends(node, total)).astype(np.int64)
    return (whole.astype(node.outputs[0].dtype),)


IN_VECTORS = "in whole vectors of 4, and of which the low bits are taken behind them"
MISTAKES: tuple[tuple[Cause, Mistake], ...] = (
    (
        Cause(f"{FLUSHED}saturates-int32-to-signed:{IN_VECTORS}", "range"),
        with_flushed_scales(own.pipeline(out=saturated_in_vectors)),
    ),
    (Cause(f"{FLUSHED}saturates-int32-to-signed", "range"), with_flushed_scales(own.pipeline(out=saturated_to_signed))),
    (Cause(f"{FLUSHED}casts-to-int32-and-wraps", "range"), with_flushed_scales(own.pipeline(out=own.as_word))),
    (Cause(f"{FLUSHED}ratio-and-shift-in-float32:fused", "operand"), with_flushed_scales(ratio_in_word)),
)
