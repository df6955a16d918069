"""Usual mistakes of `onnx.QLinearMatMul` as small NumPy backends.

The pipeline has six steps: how operands and zero points are read, which rows and columns the parameters belong to, the
sum of products, the quotient, rounding with the zero point, and the clamp. Sums are int64; quotients are computed in
the scales' type and handed on as float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators import dequantized_results as dq
from tiebreak.conformance.operators import product_mistakes as pm
from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.model import Mistake
from tiebreak.conformance.operators.product_mistakes import Operands, Sum
from tiebreak.conformance.operators.wrong_steps import WrongStep, frequent, pairs_of_steps, single_steps, step
from tiebreak.conformance.semantics import folded_scales as fs
from tiebreak.conformance.semantics.factor_bits import by_factor_bits, in_32_bits
from tiebreak.conformance.semantics.folded_scales import Scales, divided, wide
from tiebreak.conformance.semantics.round_modes import MODES
from tiebreak.conformance.variants import conversions
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.onnx_qlinear_matmul import ID
from tiebreak.golden.problem import Array
from tiebreak.golden.products import of_columns, of_rows

Quotient = Callable[[Array, Scales], Array]
Finish = Callable[[Node, Array, Array], Array]  # the quotient and the zero point to integers before the clamp
Whole = Callable[[Node, Operands, Scales, Array], Array]
ENDLESS = 2.0**62


# The right steps


def rounded_then_added(node: Node, quotient: Array, point: Array) -> Array:
    return np.rint(quotient) + point


def ends(node: Node) -> tuple[int, int]:
    kind = INTEGER_TYPES[node.output_type]
    return kind.lowest, kind.highest


def clamped(node: Node, values: Array) -> Array:
    return np.clip(values, *ends(node))


def same_places(scales: Scales, shape: tuple[int, ...]) -> Scales:
    return scales


@dataclass(frozen=True)
class QLinearMatMulSteps:
    """Steps in order, the right ones unless given."""

    read: Callable[[Node, Operands], Operands] = pm.as_they_are
    total: Sum = pm.exact
    places: Callable[[Scales, tuple[int, ...]], Scales] = same_places
    quotient: Quotient = divided
    point: Callable[[Node, Array], Array] = lambda node, point: point
    finish: Finish = rounded_then_added
    clamp: Callable[[Node, Array], Array] = clamped
    whole: Whole | None = None  # in place of the sum, the quotient and rounding

    def __call__(self, node: Node, *inputs: Array) -> tuple[Array, ...]:
        a, a_scale, a_zp, b, b_scale, b_zp, y_scale, y_zp = inputs
        operands = self.read(node, pm.operands_of(ID, a, a_zp, b, b_zp))
        rows, columns = of_rows(ID, "a_scale", a_scale, a.shape), of_columns(ID, "b_scale", b_scale, b.shape)
        total = self.total(operands)
        scales = self.places((rows, columns, y_scale), total.shape)
        point = self.point(node, y_zp.astype(np.int64))
        if self.whole:
            found = self.clamp(node, self.whole(node, operands, scales, point.astype(np.float64)))
        else:
            found = self.clamp(node, self.finish(node, self.quotient(total, scales), point.astype(np.float64)))
        if np.isnan(found).any():
            raise ValueError("no integer")
        shape = np.matmul(np.zeros(a.shape, np.int8), np.zeros(b.shape, np.int8)).shape
        return (found.astype(np.int64).astype(node.outputs[0].dtype).reshape(shape),)


def pipeline(**steps: Any) -> Mistake:
    return QLinearMatMulSteps(**steps)


# The quotient


def without(which: int) -> Quotient:
    """One scale is taken as 1."""

    def found(total: Array, scales: Scales) -> Array:
        kept = list(scales)
        kept[which] = np.ones_like(kept[which])
        return divided(total, (kept[0], kept[1], kept[2]))

    return found


def of_numbers(product: Callable[[Array, Array], Array], operands: Operands, scales: Scales) -> Array:
    """The product of real matrices, each difference times its scale, in float32."""
    a, b = (
        difference.astype(np.float32) * scale.astype(np.float32)
        for difference, scale in zip(operands.differences(), scales, strict=False)
    )
    return product(a, b)


def then(finish: dq.Finish, product: Callable[[Array, Array], Array] = np.matmul) -> Whole:
    """The product of real matrices, and what becomes of it."""

    def found(node: Node, operands: Operands, scales: Scales, point: Array) -> Array:
        total = of_numbers(product, operands, scales)
        return finish(node.output_type, total, scales[2].astype(np.float32), point.astype(np.float32))

    return found


def in_bfloat16(node: Node, operands: Operands, scales: Scales, point: Array) -> Array:
    """The same with operands and result in bfloat16, summed in float32; of bfloat16 scales, y's range is in it, too."""
    a, b = (
        dq.in_bfloat16(difference.astype(np.float32) * scale.astype(np.float32)).astype(np.float64)
        for difference, scale in zip(operands.differences(), scales, strict=False)
    )
    total = dq.in_bfloat16((a @ b).astype(np.float32))
    narrow = node.inputs[1].dtype == ml_dtypes.bfloat16
    finish = dq.fake_quantizes(dq.level_by_formula, dq.in_bfloat16 if narrow else conversions.as_is)
    return finish(node.output_type, total, scales[2].astype(np.float32), point.astype(np.float32))


def point_in_int32(node: Node, quotient: Array, point: Array) -> Array:
    return wide(in_32_bits(quotient.astype(np.int64) + point.astype(np.int64)))


WHOLE = (
    *(step(f"dequantizes-first:{text}", "product", whole=then(finish)) for text, finish in dq.FINISHES),
    step(
        f"dequantizes-first:of each eighth product a sum, {dq.USUAL}",
        "product",
        whole=then(dict(dq.FINISHES)[dq.USUAL], dq.product_in_eight_sums),
    ),
    step(f"dequantizes-to-bfloat16-first:{dq.USUAL}", "product", whole=in_bfloat16),
)
QUOTIENTS = (
    frequent("folds-scales", "quotient", quotient=fs.folded),
    frequent("folds-scales-product-in:float64", "quotient", quotient=fs.folded_wide),
    frequent("folds-scales-in:float64", "quotient", quotient=partial(fs.folded_in, np.float64)),
    step("folds-scales-in:float32", "quotient", quotient=partial(fs.folded_in, np.float32)),
    frequent("folds-scales-in-order:a_scale / y_scale * b_scale", "quotient", quotient=fs.folded_from_a),
    frequent("folds-scales-in-order:a_scale * (b_scale / y_scale)", "quotient", quotient=fs.folded_from_b),
    frequent("reciprocal-of-output-scale", "quotient", quotient=fs.by_reciprocal),
    frequent("folds-scales-and-reciprocal", "quotient", quotient=fs.folded_by_reciprocal),
    frequent("scales-in-turn", "product", quotient=fs.in_turn),
    step("computes-in:float64", "quotient", quotient=partial(fs.all_in, np.float64)),
    step("computes-in:float32", "quotient", quotient=partial(fs.all_in, np.float32)),
    frequent("multiplier-of-bits:31", "quotient", quotient=fs.multiplier_of_31_bits),
    step("multiplies-by-bits-of-factor", "quotient", quotient=by_factor_bits, finish=point_in_int32),
    step("ignores:a_scale", "product", quotient=without(0)),
    step("ignores:b_scale", "product", quotient=without(1)),
    step("ignores:y_scale", "quotient", quotient=without(2)),
)

# Rows and columns of the scales


def first_for_all(which: int) -> Callable[[Scales, tuple[int, ...]], Scales]:
    def found(scales: Scales, shape: tuple[int, ...]) -> Scales:
        if scales[which].size < 2:
            raise ValueError("there is nothing to mistake")
        kept = list(scales)
        kept[which] = kept[which].reshape(-1)[0]
        return kept[0], kept[1], kept[2]

    return found


def turned(which: int) -> Callable[[Scales, tuple[int, ...]], Scales]:
    """The scales of rows along the columns, or of columns along the rows, as far as they fit."""

    def found(scales: Scales, shape: tuple[int, ...]) -> Scales:
        own = scales[which]
        if own.size < 2 or own.ndim < 2 or shape[-1] != shape[-2]:
            raise ValueError("there is nothing to mistake")
        kept = list(scales)
        kept[which] = np.swapaxes(own, -1, -2)
        return kept[0], kept[1], kept[2]

    return found


PLACES = (
    WrongStep(
        "along-other-axis:a_scale and a_zero_point",
        "rows",
        {"read": pm.along_inner_axis("a_zero_point"), "places": turned(0)},
        in_pairs=True,
    ),
    step("one-for-all:a_scale", "rows", places=first_for_all(0)),
    step("one-for-all:b_scale", "columns", places=first_for_all(1)),
    step("along-other-axis:a_scale", "rows", places=turned(0)),
    step("along-other-axis:b_scale", "columns", places=turned(1)),
)

# Rounding, the zero point and the clamp


def rounds_by(mode: str) -> Finish:
    whole = ws.by_mode(MODES[mode])
    return lambda node, quotient, point: np.asarray(whole(quotient) + point)


def point_first(node: Node, quotient: Array, point: Array) -> Array:
    return np.asarray(np.rint(quotient + point))


def point_first_in_float32(node: Node, quotient: Array, point: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.rint(wide(quotient.astype(np.float32) + point.astype(np.float32)))


def point_first_in_own_type(node: Node, quotient: Array, point: Array) -> Array:
    kind = node.inputs[1].dtype
    with np.errstate(over="ignore"):
        return np.rint(wide(quotient.astype(kind) + point.astype(kind)))


def clamped_then_added(node: Node, quotient: Array, point: Array) -> Array:
    return np.asarray(np.clip(np.rint(quotient), *ends(node)) + point)


def point_subtracted(node: Node, quotient: Array, point: Array) -> Array:
    return np.rint(quotient) - point


def sixteenths_first(node: Node, quotient: Array, point: Array) -> Array:
    return np.asarray(np.rint(np.rint(quotient * 16) / 16) + point)


def wrapped(node: Node, values: Array) -> Array:
    low, high = ends(node)
    whole = np.clip(values, -ENDLESS, ENDLESS).astype(np.int64)
    return wide(np.mod(whole - low, high - low + 1) + low)


def through_int32(node: Node, values: Array) -> Array:
    return clamped(node, ws.through_int32(values))


def without_end(*, lowest: bool) -> Callable[[Node, Array], Array]:
    def found(node: Node, values: Array) -> Array:
        low, high = ends(node)
        return np.clip(values, low + lowest, high - (not lowest))

    return found


def nan_is_zero(node: Node, values: Array) -> Array:
    """As NumPy's conversion of NaN to 8 bits is on x86-64: a factor of infinity times a sum of 0 gives one."""
    return clamped(node, np.where(np.isnan(values), 0, values))


def no_point(node: Node, point: Array) -> Array:
    return 0 * point


FINISHES = (
    frequent("zero-point-first", "zero-point", finish=point_first),
    frequent("zero-point-first-in:float32", "zero-point", finish=point_first_in_float32),
    frequent("zero-point-first-in-own-type", "zero-point", finish=point_first_in_own_type),
    frequent(
        "zero-point-first-in:float64, by one factor",
        "zero-point",
        finish=point_first,
        quotient=fs.folded_wide,
        clamp=nan_is_zero,
    ),
    frequent("ignores:y_zero_point", "zero-point", point=no_point),
    step("subtracts-zero-point", "zero-point", finish=point_subtracted),
    step("clamps-before-zero-point", "saturate", finish=clamped_then_added),
    step("sixteenths-first", "even", finish=sixteenths_first),
    frequent("wraps", "saturate", clamp=wrapped),
    frequent("casts-to-int32", "saturate", clamp=through_int32),
    step("no-lowest", "saturate", clamp=without_end(lowest=True)),
    step("highest-never", "saturate", clamp=without_end(lowest=False)),
)
ROUNDED = tuple(
    WrongStep(f"y-rounds:{text}", "even", {"finish": rounds_by(mode)}, True)
    for mode, text in (
        ("ROUND_NEAREST_TOWARD_INFINITY", "ties away from zero"),
        ("ROUND_NEAREST_UPWARD", "ties upward"),
        ("ROUND_NEAREST_DOWNWARD", "ties downward"),
        ("ROUND_NEAREST_TOWARD_ZERO", "ties toward zero"),
        ("ROUND_TOWARD_ZERO", "toward zero"),
        ("ROUND_DOWN", "down"),
        ("ROUND_UP", "up"),
    )
)

BY_ONE_FACTOR = step(
    "pairs-saturate-in-16-bits:by one factor in float32", "sum",
    total=pm.pairs_saturate, quotient=partial(fs.folded_in, np.float32),
)  # fmt: skip
STEPS = (*QUOTIENTS, *WHOLE, *pm.SUMS, BY_ONE_FACTOR, *pm.READS, *ROUNDED, *FINISHES, *PLACES)
MISTAKES = single_steps(pipeline, STEPS)
PAIRS = pairs_of_steps(pipeline, STEPS)
