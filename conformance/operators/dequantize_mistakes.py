"""Usual mistakes of (x - zero_point) * scale, each as arithmetic on operands of the input's shape.

x and the zero point are int64, or float64 numbers read from small floats; the scale has its own type. Products are made
in float64, which holds those of all narrower types, and rounded once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tiebreak.conformance.operators.dequantize_arithmetics import (
    KERNELS,
    all_operands,
    distributed,
    operands_half_for_odd,
    result_half_for_odd,
    steps,
)
from tiebreak.conformance.operators.dequantize_flushing import (
    flushed,
    flushing_outputs,
    output_flushed,
    own_flushed,
    small_flushed,
    with_sign,
)
from tiebreak.conformance.operators.dequantize_inputs import INPUTS, as_signed, as_unsigned, whole
from tiebreak.conformance.operators.dequantize_numbers import (
    HALF,
    Arithmetic,
    Change,
    in_output_type,
    rounded_in,
    rounded_to,
    same,
    whole_kind,
)
from tiebreak.conformance.operators.dequantize_products import PRODUCTS
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.operators.operand_mistakes import (
    BFLOAT16,
    GUARDED_SCALES,
    LEAST,
    OF_SCALES,
    OF_ZERO_POINTS,
    OfScale,
    OfZeroPoint,
    cut_to_bits,
    to_bits,
    to_digits,
    wrapped_to,
)
from tiebreak.conformance.operators.quantize_quotients import to_power_of_two
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

OF_OPERATORS = ("ignores-zero-point", "adds-zero-point")  # singles that the operators have of their own
SAME_AS_INPUT = "zero-point-more-half-range"  # gives what input-less-half-range gives
AFTER = ("distributes-scale", "distributes-scale-fused", "divides-by-reciprocal", "product-in:bfloat16")


# The zero point and the scale.


def twice(node: Node, zero: Array) -> Array:
    return 2 * zero


def of_zero_point(change: OfZeroPoint) -> Change:
    def run(node: Node, zeros: Array) -> Array:
        kind = whole_kind(node)
        found = change(zeros, kind.lowest, kind.highest)
        if found is None:
            raise NotImplementedError
        return found

    return run


def of_scale(change: OfScale) -> Change:
    return lambda node, scale: in_output_type(node, change(in_output_type(node, scale)))


ZERO_POINTS: tuple[tuple[str, Change], ...] = (
    ("ignores-zero-point", lambda node, zero: 0 * zero),
    ("zero-point-as-signed", as_signed),
    ("zero-point-as-unsigned", as_unsigned),
    ("adds-zero-point", lambda node, zero: -zero),
    ("zero-point-twice", twice),
    *((key, of_zero_point(change)) for key, change in OF_ZERO_POINTS if key != SAME_AS_INPUT),
)
SCALES: tuple[tuple[str, Change], ...] = (
    ("scale-in:float16", rounded_in(HALF)),
    ("scale-in:bfloat16", rounded_in(BFLOAT16)),
    ("scale-to-power-of-two", lambda node, scale: to_power_of_two(scale)),
    *((key, of_scale(change)) for key, change in OF_SCALES),
    ("scale-in:float32", rounded_in(np.dtype(np.float32))),
)


# The difference and the result.


def wrapped_to_int16(node: Node, values: Array) -> Array:
    whole_kind(node)
    return np.asarray(np.mod(values + 2**15, 2**16) - 2**15)


def difference_in_signed(values: Array, kind: IntegerType) -> Array:
    if not kind.lowest:
        return wrapped_to(values, kind.bits, signed=True)
    raise NotImplementedError


DIFFERENCES: tuple[tuple[str, Change], ...] = (
    ("difference-in:float16", rounded_in(HALF)),
    ("difference-in:bfloat16", rounded_in(BFLOAT16)),
    ("difference-in:int16", wrapped_to_int16),
    ("difference-saturates-to:int16", whole(lambda values, kind: np.clip(values, -(2**15), 2**15 - 1))),
    ("difference-wraps-as-signed", whole(difference_in_signed)),
    ("difference-reversed", lambda node, values: -values),
    ("difference-not-below-zero", whole(lambda values, kind: np.maximum(values, 0))),
)
WRAPPED: tuple[tuple[str, Change], ...] = (  # singles of these are the operators' own
    ("difference-wraps", whole(lambda values, kind: wrapped_to(values, kind.bits, signed=kind.signed))),
    ("difference-saturates", whole(lambda values, kind: np.clip(values, kind.lowest, kind.highest))),
)


RESULTS: tuple[tuple[str, Change], ...] = (
    ("result-in:float16", rounded_in(HALF)),
    ("result-in:bfloat16", rounded_in(BFLOAT16)),
    ("truncates-to-bfloat16", lambda node, y: cut_to_bits(y, 8)),
    ("result-of-bits:11", lambda node, y: to_bits(y, 11)),
    ("result-of-digits:6", lambda node, y: to_digits(y, 6)),
    ("negative-to-zero", lambda node, y: np.where(y < 0, 0.0, y)),
    ("tiny-to-zero", lambda node, y: np.where(np.abs(y) < LEAST, 0.0, y)),
    ("result-saturates-in:float16", lambda node, y: rounded_to(np.clip(y, -65504, 65504), HALF)),
)


def after(arithmetic: Arithmetic, change: Change) -> Arithmetic:
    return lambda node, x, scale, zero: in_output_type(node, change(node, arithmetic(node, x, scale, zero)))


RIGHT = steps()
# Of two that explain equally much the earlier one is named.
SHARED: tuple[tuple[Cause, Arithmetic], ...] = (
    (Cause("flushes-scales", "product"), steps(scale=with_sign(own_flushed))),
    (Cause("flushes-scales:in the output's type", "product"), steps(scale=with_sign(flushed))),
    *((Cause(key, "product"), steps(product=change)) for key, change in flushing_outputs(output_flushed)),
    *((Cause(key, "product"), arithmetic) for key, arithmetic in KERNELS[:2]),
    *((Cause(key, "product"), steps(product=change)) for key, change in PRODUCTS),
    (Cause("result-half-for-odd-bfloat16", "product"), result_half_for_odd),
    (Cause("half-for-odd-bfloat16", "difference"), operands_half_for_odd(in_output_type)),
    (Cause("half-for-odd-bfloat16 + flushes-outputs", "difference"), operands_half_for_odd(output_flushed)),
    *((Cause(key, "difference"), steps(difference=change)) for key, change in DIFFERENCES),
    *((Cause(key, "product"), steps(scale=change)) for key, change in SCALES),
    *((Cause(key, "product"), arithmetic) for key, arithmetic in KERNELS[2:]),
    *((Cause(key, "difference"), steps(zero=change)) for key, change in ZERO_POINTS if key not in OF_OPERATORS),
    *((Cause(key, "difference"), steps(x=change)) for key, change in INPUTS),
    (Cause("input-flushed:to positive zero", "difference"), steps(x=small_flushed)),
    (Cause("unsigned-as-signed", "difference"), all_operands(as_signed)),
    (Cause("signed-as-unsigned", "difference"), all_operands(as_unsigned)),
    *((Cause(key, "product"), after(RIGHT, change)) for key, change in RESULTS),
    *((Cause(key, "product"), steps(scale=of_scale(change))) for key, change in GUARDED_SCALES),
)


# Two mistakes at once: of an operand, of the arithmetic, or of the result, but not two of one step.


def of_changed(arithmetic: Arithmetic, x: Change = same, zero: Change = same, scale: Change = same) -> Arithmetic:
    return lambda node, values, factor, zeros: arithmetic(node, x(node, values), scale(node, factor), zero(node, zeros))


def flushed_after(arithmetic: Arithmetic, change: Change) -> Arithmetic:
    return lambda node, x, scale, zero: change(node, arithmetic(node, x, scale, zero))


def arithmetics() -> Iterator[tuple[str, Arithmetic]]:
    yield "distributes-scale", distributed(fused=False)
    yield from KERNELS
    for key, change in PRODUCTS:
        yield key, steps(product=change)
    for key, change in flushing_outputs(output_flushed):
        yield key, steps(product=change)
    for key, change in (*WRAPPED, *DIFFERENCES):
        yield key, steps(difference=change)


def pairs() -> Iterator[tuple[Cause, Arithmetic]]:
    changes = [(key, {"zero": change}) for key, change in ZERO_POINTS]
    changes += [(key, {"x": change}) for key, change in INPUTS]
    changes += [(key, {"scale": change}) for key, change in SCALES]
    for second, arithmetic in arithmetics():
        for key, change in changes:
            yield Cause(f"{key}{JOINT}{second}", "difference"), of_changed(arithmetic, **change)
        for key, last in RESULTS:
            yield Cause(f"{second}{JOINT}{key}", "product"), after(arithmetic, last)
        if second in AFTER:
            for key, last in flushing_outputs(flushed):
                yield Cause(f"{second}{JOINT}{key}", "product"), flushed_after(arithmetic, last)
    for number, (key, change) in enumerate(changes):
        for other, second_change in changes[number + 1 :]:
            if not change.keys() & second_change.keys():
                yield Cause(f"{key}{JOINT}{other}", "difference"), of_changed(RIGHT, **change, **second_change)
        for result, last in RESULTS:
            yield Cause(f"{key}{JOINT}{result}", "difference"), after(of_changed(RIGHT, **change), last)
    for key, difference in (*WRAPPED, *DIFFERENCES):
        for other, last in PRODUCTS:
            yield Cause(f"{key}{JOINT}{other}", "difference"), steps(difference=difference, product=last)


PAIRS = tuple(pairs())
# With parameters from wrong places.
MISPLACED_PAIRS: tuple[tuple[str, Arithmetic], ...] = (
    *((key, steps(zero=change)) for key, change in ZERO_POINTS),
    *arithmetics(),
)
