"""Usual mistakes of QLinearAdd and QLinearMul as small NumPy backends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from tiebreak.conformance.operators import microsoft_qlinear_products as products
from tiebreak.conformance.operators import microsoft_qlinear_sums as sums
from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.microsoft_qlinear_steps import FAR, QLinearSteps, Three, Value, saturated
from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.wrong_steps import WrongStep, frequent, pairs_of_steps, single_steps, step
from tiebreak.conformance.variants import conversions
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

# The output


def low_bits(node: Node, whole: Array) -> Array:
    return np.asarray(whole.astype(np.int64))


def narrow(node: Node, whole: Array) -> Array:
    return np.maximum(saturated(node, whole), INTEGER_TYPES[node.output_type].lowest + 1)


def at_most_signed(node: Node, whole: Array) -> Array:
    kind = INTEGER_TYPES[node.output_type]
    if kind.signed:
        raise NotImplementedError
    return np.minimum(saturated(node, whole), kind.highest // 2)


def through_int16(node: Node, whole: Array) -> Array:
    """The low 16 bits, saturated."""
    return saturated(node, whole.astype(np.int64).astype(np.int16).astype(np.int64))


def through_int32(node: Node, whole: Array) -> Array:
    return saturated(node, ws.through_int32(whole))


def wrapping_difference(node: Node, x: Array, zero: Array) -> Array:
    return np.asarray((x - zero).astype(node.outputs[0].dtype).astype(np.int64))


def saturating_difference(node: Node, x: Array, zero: Array) -> Array:
    return saturated(node, x - zero)


# The tables


def without(place: int) -> Callable[[Three], Three]:
    """The zero points but one."""
    return lambda points: replaced(points, place, 0 * points[place])


def negated(place: int) -> Callable[[Three], Three]:
    return lambda points: replaced(points, place, -points[place])


def one_for(place: int) -> Callable[[Three], Three]:
    """The scales with 1 for one."""
    return lambda scales: replaced(scales, place, np.ones_like(scales[place]))


def replaced(three: Three, place: int, value: Array) -> Three:
    a, b, c = (value if n == place else one for n, one in enumerate(three))
    return a, b, c


def of_both(of: Three) -> Three:
    return of[1], of[0], of[2]


POINTS = (
    *(frequent(f"ignores:{'ABC'[n]}_zero_point", "zero-point", points=without(n)) for n in range(3)),
    step("ignores:all zero points", "zero-point", points=lambda points: (0 * points[0], 0 * points[1], 0 * points[2])),
    frequent("zero-points-exchanged:of A and B", "zero-point", points=of_both),
    step("zero-point-negated:A_zero_point", "zero-point", points=negated(0)),
    step("zero-point-negated:B_zero_point", "zero-point", points=negated(1)),
    step("zero-point-negated:C_zero_point", "zero-point", points=negated(2)),
    step("difference-wraps", "zero-point", difference=wrapping_difference),
    step("difference-saturates", "zero-point", difference=saturating_difference),
)
SCALES = (
    *(frequent(f"ignores:{'ABC'[n]}_scale", "quotient", scales=one_for(n)) for n in range(3)),
    step("multiplies-by-output-scale", "quotient", scales=lambda of: (of[0], of[1], np.asarray(1 / of[2]))),
    step("one-scale-for-both:A_scale", "together", scales=lambda of: (of[0], of[0], of[2])),
    step("one-scale-for-both:B_scale", "together", scales=lambda of: (of[1], of[1], of[2])),
)
OUTPUTS = (
    frequent("wraps", "saturate", out=low_bits),
    frequent("truncates-and-wraps", "nearest", whole=np.trunc, out=low_bits),
    frequent("truncates-then-adds-zero-point", "nearest", whole=np.trunc, zero_last=True),
    step("truncates-then-adds-zero-point-and-wraps", "nearest", whole=np.trunc, zero_last=True, out=low_bits),
    frequent("casts-to-int32", "saturate", out=through_int32, nan=FAR),  # NaN, too, becomes the least int32
    step("narrow-range", "saturate", out=narrow),
    step("highest-of-signed", "saturate", out=at_most_signed),
    step("wraps-in-int16-then-saturates", "saturate", out=through_int16),
)
STEPWISE = "steps-in-float32"  # conforms alone: it is for pairs
ADD_VALUES = (
    frequent("ratios-in-float32:fused with all zero points", "quotient", value=sums.sum_by_ratios),
    frequent("ratios-in-float32:zero points fused, too", "quotient", value=partial(sums.sum_by_ratios, fused=True)),
    frequent("ratios-in-float32:of differences", "quotient", value=sums.sum_by_rounded_ratios),
    frequent("rounds-each-operand", "together", value=sums.each_rounded),
    frequent("ratios-in-fixed-point:22", "quotient", value=sums.sum_in_fixed_point),
    frequent("reciprocal-of-output-scale", "quotient", value=sums.sum_by_reciprocal),
    frequent("reciprocal-of-output-scale:fused", "quotient", value=sums.sum_by_fused_reciprocal),
    step("steps-in:float16", "nearest", value=partial(sums.sum_in_steps, change=conversions.in_float16)),
    step("steps-in:bfloat16", "nearest", value=partial(sums.sum_in_steps, change=conversions.in_bfloat16)),
    frequent(STEPWISE, "nearest", value=sums.sum_in_steps),
    step("scales-exchanged:of A and B", "numbers", scales=of_both),
)
MUL_VALUES = (
    frequent("ratio-of-scales-in-float32", "quotient", value=products.product_by_ratio),
    frequent("ratio-of-scales-in-float32:fused", "quotient", value=partial(products.product_by_ratio, fused=True)),
    frequent(
        "ratio-of-scales-in-float32:rounded once", "quotient", value=partial(products.product_by_ratio, whole=True)
    ),
    frequent("multiplies-numbers-in-float32", "together", value=products.product_of_numbers),
    frequent(
        "multiplies-numbers-in-float32:by the reciprocal",
        "together",
        value=partial(products.product_of_numbers, reciprocal=True),
    ),
    frequent(
        "multiplies-numbers-in-float32:by the reciprocal, fused",
        "together",
        value=partial(products.product_of_numbers, fused=True),
    ),
    step("ratios-in-fixed-point:15", "quotient", value=partial(products.product_in_fixed_point, 15)),
    frequent("reciprocal-of-output-scale", "quotient", value=products.product_by_reciprocal),
    step("steps-in:float16", "nearest", value=partial(products.product_in_steps, change=conversions.in_float16)),
    step("steps-in:bfloat16", "nearest", value=partial(products.product_in_steps, change=conversions.in_bfloat16)),
    frequent(STEPWISE, "nearest", value=products.product_in_steps),
)


def pipeline(right: Value) -> Callable[..., Mistake]:
    return lambda **steps: QLinearSteps(**{"value": right, **steps})


def singles(exactly: Value, in_steps: Value, steps: Sequence[WrongStep]) -> tuple[tuple[Cause, Mistake], ...]:
    """Each mistake in a value rounded once, and in one rounded at each step: a node may compute either."""
    own = [one for one in steps if one.id != STEPWISE]
    plain = [one for one in own if "value" not in one.alone]
    return *single_steps(pipeline(exactly), own), *single_steps(pipeline(in_steps), plain)


ADD_STEPS: tuple[WrongStep, ...] = (*ADD_VALUES, *OUTPUTS, *POINTS, *SCALES)
MUL_STEPS: tuple[WrongStep, ...] = (*MUL_VALUES, *OUTPUTS, *POINTS, *SCALES)
ADD_MISTAKES = singles(sums.sum_exactly, sums.sum_in_steps, ADD_STEPS)
MUL_MISTAKES = singles(products.product_exactly, products.product_in_steps, MUL_STEPS)
ADD_PAIRS = pairs_of_steps(pipeline(sums.sum_exactly), ADD_STEPS)
MUL_PAIRS = pairs_of_steps(pipeline(products.product_exactly), MUL_STEPS)
