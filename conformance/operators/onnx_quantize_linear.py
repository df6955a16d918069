"""Testing `onnx.QuantizeLinear`: plain nodes per tensor or axis, all other nodes, and its usual mistakes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.judging.operands import QuantizationOperands
from tiebreak.conformance.operators import onnx_linear as linear
from tiebreak.conformance.operators.case_with_states import Situation
from tiebreak.conformance.operators.elementwise import quotient_operands
from tiebreak.conformance.operators.forbidden_call import INT8, M22, ForbiddenCall, S
from tiebreak.conformance.operators.model import AuditedSemantics, CaseConstraints, Cause, OperatorUnderTest, PlainNodes
from tiebreak.conformance.operators.path_probe import STEP, PathProbe, multiples, probe_values, scale_classes
from tiebreak.conformance.operators.quantize_mistakes import HYPOTHESES
from tiebreak.conformance.operators.quantize_pairs import finished, in_mode, joint, pairs_of
from tiebreak.conformance.operators.quantize_prediction import Predict, predicted
from tiebreak.conformance.operators.quantize_quotients import GUARDED, QUOTIENTS, Quotient
from tiebreak.conformance.operators.strategies import composite, st
from tiebreak.conformance.semantics.authorities import OF_QUANTIZE
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.conformance.semantics.facet_causes import mode_cause
from tiebreak.conformance.semantics.quantize import QuantizeArithmetic
from tiebreak.golden.elements import (
    ELEMENT_TYPES,
    FLOAT_TYPES,
    INTEGER_TYPES,
    SMALL_FLOAT_TYPES,
    FloatType,
    IntegerType,
    decode,
    encode,
    neighbour,
    numpy_dtype,
)
from tiebreak.golden.nodes import Node
from tiebreak.golden.onnx_types import CLASSIC_OUTPUTS, CLASSIC_REALS, FLOAT4, FLOAT6, LARGEST_FOR_INFINITY, ONE_ZERO
from tiebreak.golden.operators.onnx_linear import DEFAULT_AXIS
from tiebreak.golden.operators.onnx_quantize_linear import OUTPUTS, VERSIONS, WIDE
from tiebreak.golden.problem import Array, Elementwise
from tiebreak.golden.rounding import EVEN, ROUND_MODES
from tiebreak.golden.samples.model import Tensor, bits


def draw_plain_attributes(draw: st.DrawFn, rank: int, round_mode: str | None) -> dict[str, Any]:
    return {"axis": draw(st.integers(-rank, rank - 1))} if rank and draw(st.booleans()) else {}


def varying_axes(draw: st.DrawFn, given: Mapping[str, Any], shape: tuple[int, ...]) -> tuple[int, ...]:
    """No axis below rank 2, as in the document; without an axis attribute sometimes none either."""
    if len(shape) < 2 or ("axis" not in given and not draw(st.booleans())):
        return ()
    return (int(given.get("axis", DEFAULT_AXIS)) % len(shape),)


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    shape, scale_shape, given = draw(linear.scale_layouts(wanted.rank))
    early = draw(st.integers(0, 2)) == 0  # a node that the first versions allow, too, if the constraints permit
    real = wanted.real or draw(st.sampled_from(("float32", "int32") if early else WIDE))
    quantized = wanted.quantized or draw(st.sampled_from(("int8", "uint8") if early else OUTPUTS))
    scale_types = (real if real != "int32" else "float32", *WIDE, "float8_e8m0fnu")
    scale_type = "float32" if early else draw(st.sampled_from(scale_types))
    given |= {} if early else draw(other_attributes(quantized))
    opsets = linear.usable_opsets(VERSIONS, (real, scale_type, quantized), given, scale_shape)
    zero_point = "output_dtype" not in given or draw(st.booleans())
    node: dict[str, Any] = {"real": real, "quantized": quantized, "scale": scale_type, "attributes": given}
    node |= {"opset": draw(linear.opset_choice(opsets)), "zero_point": zero_point}
    scale = linear.parameter(draw, scale_type, linear.scale_codes(scale_type, specials=wanted.specials), scale_shape)
    zero = linear.parameter(draw, quantized, zero_codes(quantized), scale_shape)
    x = aimed_inputs(draw, real, quantized, shape, scale, zero, specials=wanted.specials)
    return node, (x, scale, zero) if zero_point else (x, scale)


@composite
def other_attributes(draw: st.DrawFn, quantized: str) -> dict[str, Any]:
    """Attributes other than axis and block_size; mostly none."""
    found: dict[str, Any] = {}
    if draw(st.integers(0, 3)) == 0:
        found["precision"] = draw(st.sampled_from(("float16", "bfloat16", "float32")))
    if draw(st.integers(0, 3)) == 0:
        found["output_dtype"] = quantized
    if quantized in SMALL_FLOAT_TYPES and draw(st.booleans()):
        found["saturate"] = draw(st.booleans())
    return found


def zero_codes(quantized: str) -> st.SearchStrategy[int]:
    """Codes of zero points: any for an integer type, mostly 0 for a float type."""
    if quantized in INTEGER_TYPES:
        return linear.any_code(quantized, specials=True)
    return st.sampled_from((0, 0, 0, 0, 0, 0, 0, 1))


def aimed_inputs(
    draw: st.DrawFn,
    real: str,
    quantized: str,
    shape: tuple[int, ...],
    scale: Tensor,
    zero: Tensor,
    *,
    specials: bool,
) -> Tensor:
    """Inputs whose quotients by one of the scales lie on or beside ties, midpoints and ends of the range."""
    count = math.prod(shape)
    divisors = [Fraction(v) for v in map(code_decoder(scale.type), scale.codes) if math.isfinite(v)] or [Fraction(1)]
    targets = draw(st.lists(target_quotients(quantized), min_size=1, max_size=8))
    steps = draw(st.lists(st.integers(-2, 2), min_size=1, max_size=5))
    codes = [
        nearest_code(targets[i % len(targets)] * divisors[i % len(divisors)], steps[i % len(steps)], real)
        for i in range(count)
    ]
    if count and draw(st.integers(0, 3)) == 0:
        codes[0] = draw(linear.any_code(real, specials=specials))
    if not specials and real in FLOAT_TYPES:
        codes = [code if linear.is_finite(code, FLOAT_TYPES[real]) else 0 for code in codes]
    return bits(real, codes, shape)


def code_decoder(name: str) -> Callable[[int], Fraction | float]:
    kind = ELEMENT_TYPES[name]
    return (lambda code: decode(code, kind)) if isinstance(kind, FloatType) else lambda code: Fraction(code)


def nearest_code(value: Fraction, steps: int, real: str) -> int:
    """The code nearest to a value, moved by some units in the last place."""
    if real == "int32":
        return max(-(2**31), min(2**31 - 1, round(value) + steps))
    return neighbour(encode(value, FLOAT_TYPES[real]), FLOAT_TYPES[real], steps)


def target_quotients(quantized: str) -> st.SearchStrategy[Fraction]:
    """Quotients: multiples of 1/2, or values and midpoints of a small float type, and values beyond its range."""
    if quantized in INTEGER_TYPES:
        kind = INTEGER_TYPES[quantized]
        span = kind.highest - kind.lowest
        return st.one_of(st.integers(-9, 9), st.integers(-2 * span - 4, 2 * span + 4)).map(lambda n: Fraction(n, 2))
    small = SMALL_FLOAT_TYPES[quantized]
    values = [Fraction(decode(code, small)) for code in range(small.largest_bits + 1)]
    points = [*values, *((a + b) / 2 for a, b in pairwise(values))]
    largest = values[-1]
    points += [largest * Fraction(n, 32) for n in (33, 34, 35, 36, 40, 64, 640)]
    return st.tuples(st.sampled_from(points), st.sampled_from((1, -1))).map(lambda p: p[0] * p[1])


# The arithmetic of usual mistakes: how x is divided, and how the quotient becomes the output.


def own_precision(node: Node, x: Array, scale: Array) -> str:
    named = node.attributes.get("precision") or scale.dtype.name
    return named if named in FLOAT_TYPES else "float64"


def divided(x: Array, scale: Array, precision: str) -> Array:
    dtype = numpy_dtype(precision)
    return np.asarray(x.astype(dtype) / scale.astype(dtype)).astype(np.float64)


def by_reciprocal(node: Node, x: Array, scale: Array) -> Array:
    dtype = numpy_dtype(own_precision(node, x, scale))
    return np.asarray(x.astype(dtype) * (dtype.type(1) / scale.astype(dtype))).astype(np.float64)


def right_quotient(node: Node, x: Array, scale: Array) -> Array:
    return divided(x, scale, own_precision(node, x, scale))


def whole_kind(node: Node) -> IntegerType:
    if node.output_type not in INTEGER_TYPES:
        raise NotImplementedError
    return INTEGER_TYPES[node.output_type]


def small_limits(node: Node) -> Any:
    if node.output_type in INTEGER_TYPES:
        raise NotImplementedError
    limits: Callable[[Any], Any] = ml_dtypes.finfo
    return limits(node.outputs[0].dtype)


def to_whole(node: Node, q: Array, zero: Array) -> Array:
    kind = whole_kind(node)
    return np.asarray(np.clip(np.rint(q) + zero, kind.lowest, kind.highest))


def added_first(node: Node, q: Array, zero: Array) -> Array:
    kind = whole_kind(node)
    return np.asarray(np.clip(np.rint(q + zero), kind.lowest, kind.highest))


def through_int32(node: Node, q: Array, zero: Array) -> Array:
    """A conversion to int32 as x86 does it: a value out of range becomes the lowest int32."""
    kind = whole_kind(node)
    rounded = np.rint(q)
    held = np.where(np.abs(rounded) < 2.0**31, rounded, -(2.0**31)).astype(np.int64) + zero.astype(np.int64)
    held = np.mod(held + 2**31, 2**32) - 2**31
    return np.clip(held, kind.lowest, kind.highest)


def lone_halves_through_int32(node: Node, x: Array, scale: Array, *rest: Array) -> tuple[Array, ...]:
    """4 bits: two elements of one scale and one byte are clamped first; what is alone is converted to int32 first."""
    if whole_kind(node).bits != 4:
        raise NotImplementedError
    numbers = linear.spread_over_input(node, np.arange(scale.size).reshape(scale.shape), x.shape).reshape(-1)
    places = np.arange(x.size)
    others = np.minimum(places ^ 1, x.size - 1)
    alone = (others == places) | (numbers[others] != numbers)
    (cast,), (clamped,) = (mistake(finish=finish)(node, x, scale, *rest) for finish in (through_int32, to_output))
    return (np.where(alone.reshape(x.shape), cast, clamped),)


def four_bits(node: Node, q: Array, zero: Array) -> Array:
    """Saturates to the range of 4 bits, then keeps the low 2 bits."""
    kind = whole_kind(node)
    if kind.bits != 2:
        raise NotImplementedError
    low = -8 if kind.signed else 0
    held = np.clip(np.rint(q) + zero, low, low + 15).astype(np.int64)
    return np.asarray(np.mod(held - kind.lowest, 4) + kind.lowest)


def saturates(node: Node) -> bool:
    """Whether numbers beyond the largest value become it; a type without NaN has nothing else."""
    return bool(node.attributes.get("saturate", True)) or SMALL_FLOAT_TYPES[node.output_type].nan_bits is None


def to_small(node: Node, q: Array, *, saturate: bool | None = None) -> Array:
    """A small float output, converted by ml_dtypes; clipped first if it saturates.

    Infinities are not clipped where the document makes them NaN, as ml_dtypes does, unless `saturate` is asked for.
    """
    dtype, largest = node.outputs[0].dtype, float(small_limits(node).max)
    if saturates(node) if saturate is None else saturate:
        older = saturate is None and node.output_type in ONE_ZERO and node.opset < LARGEST_FOR_INFINITY
        q = np.where(np.isinf(q) & older, q, np.clip(q, -largest, largest))
    return np.asarray(q.astype(np.float64).astype(dtype))


def through_float16(node: Node, q: Array, zero: Array) -> Array:
    return to_small(node, q.astype(np.float16).astype(np.float64))


def largest_is_the_end(node: Node, q: Array, zero: Array) -> Array:
    """Without saturation, every value beyond the largest is NaN or infinity, even one that rounds to the largest."""
    if saturates(node):
        raise NotImplementedError
    largest = float(small_limits(node).max)
    return to_small(node, np.where(np.abs(q) > largest, np.copysign(np.inf, q), q))


def step_beyond(node: Node, q: Array, zero: Array) -> Array:
    """float8_e4m3fn without saturation: 480, which would have NaN's pattern, and values up to 496 become 448."""
    if saturates(node) or node.output_type != "float8_e4m3fn":
        raise NotImplementedError
    return to_small(node, np.where((np.abs(q) >= 480) & (np.abs(q) < 496), np.copysign(448.0, q), q))


def no_infinity(node: Node, q: Array, zero: Array) -> Array:
    """float8_e5m2 without saturation: values below 65536 that round up to it, beyond the type, become NaN."""
    if saturates(node) or node.output_type != "float8_e5m2":
        raise NotImplementedError
    found = to_small(node, q).astype(np.float64)
    return np.where(np.isinf(found) & (np.abs(q) < 65536), np.nan, found).astype(node.outputs[0].dtype)


def nan_is_lowest(node: Node, q: Array, zero: Array) -> Array:
    return to_small(node, np.where(np.isnan(q), -np.inf, q))


def without_subnormals(node: Node, q: Array, zero: Array) -> Array:
    smallest = float(small_limits(node).smallest_normal)
    found = to_small(node, q)
    return np.where(np.abs(found.astype(np.float64)) < smallest, np.zeros_like(found), found)


def to_output(node: Node, q: Array, zero: Array) -> Array:
    return to_whole(node, q, zero) if node.output_type in INTEGER_TYPES else to_small(node, q)


def mistake(
    divide: Callable[[Node, Array, Array], Array] = right_quotient,
    finish: Callable[[Node, Array, Array], Array] = to_output,
    how: str = "",
    how_zero: str = "",
) -> Callable[..., tuple[Array, ...]]:
    def run(node: Node, x: Array, scale: Array, *rest: Array) -> tuple[Array, ...]:
        zero = rest[0].reshape(scale.shape) if rest else np.zeros(scale.shape, np.int64)
        scales = linear.spread_over_input(node, scale, x.shape, how)
        zeros = linear.spread_over_input(node, zero, x.shape, how_zero)
        found = np.asarray(finish(node, divide(node, x, scales), zeros.astype(np.float64)))
        dtype = node.outputs[0].dtype
        whole = np.nan_to_num(found).astype(np.int64) if dtype.name in INTEGER_TYPES else found
        return (np.asarray(whole).astype(dtype),)

    return run


def by_range(node: Node, x: Array, scale: Array, *rest: Array) -> tuple[Array, ...]:
    """As a FakeQuantize with the range's ends: x * factor + shift in float32, whose ties are then rounded to even."""
    kind, single = whole_kind(node), np.float32
    zero = rest[0].reshape(scale.shape) if rest else np.zeros(scale.shape, np.int64)
    scales, zeros = (linear.spread_over_input(node, p, x.shape).astype(single) for p in (scale, zero))
    low, high = ((single(end) - zeros) * scales for end in (kind.lowest, kind.highest))
    factor = single(kind.highest - kind.lowest) / (high - low)
    held = np.clip(x.astype(single), np.minimum(low, high), np.maximum(low, high))
    level = (held.astype(np.float64) * factor - (low * factor).astype(np.float64)).astype(single)
    found = np.clip(np.nan_to_num(np.rint(level)) + kind.lowest, kind.lowest, kind.highest)
    return (np.asarray(found.astype(np.int64).astype(node.outputs[0].dtype)),)


def by_divided_range(node: Node, x: Array, scale: Array, *rest: Array) -> tuple[Array, ...]:
    """As a FakeQuantize with the range's ends: (x - low) / (high - low) * steps in float32, rounded to even."""
    kind, single = whole_kind(node), np.float32
    zero = rest[0].reshape(scale.shape) if rest else np.zeros(scale.shape, np.int64)
    scales, zeros = (linear.spread_over_input(node, p, x.shape).astype(single) for p in (scale, zero))
    low, high = ((single(end) - zeros) * scales for end in (kind.lowest, kind.highest))
    held = np.clip(x.astype(single), np.minimum(low, high), np.maximum(low, high))
    level = (held - low) / (high - low) * single(kind.highest - kind.lowest)
    found = np.clip(np.nan_to_num(np.rint(level)) + kind.lowest, kind.lowest, kind.highest)
    return (np.asarray(found.astype(np.int64).astype(node.outputs[0].dtype)),)


def negated(node: Node, q: Array, zero: Array) -> Array:
    return to_output(node, q, -zero)


def in_scale_type(node: Node, x: Array, scale: Array) -> Array:
    return divided(x, scale, scale.dtype.name)


def always_saturated(node: Node, q: Array, zero: Array) -> Array:
    if saturates(node):
        raise NotImplementedError
    return to_small(node, q, saturate=True)


def as_divided(divide: Quotient) -> Callable[[Node, Array, Array], Array]:
    def run(node: Node, x: Array, scale: Array) -> Array:
        dtype = numpy_dtype(own_precision(node, x, scale))
        return divide(x.astype(dtype), scale.astype(dtype))

    return run


def by_hypothesis(predict: Predict, how: str = "", how_zero: str = "") -> Callable[..., tuple[Array, ...]]:
    """A mistake of every quantizer, in the type in which the node divides."""

    def run(node: Node, x: Array, scale: Array, *rest: Array) -> tuple[Array, ...]:
        kind, dtype = whole_kind(node), numpy_dtype(own_precision(node, x, scale))
        zero = rest[0].reshape(scale.shape) if rest else np.zeros(scale.shape, np.int64)
        scales = linear.spread_over_input(node, scale.astype(dtype), x.shape, how).reshape(-1)
        zeros = linear.spread_over_input(node, zero, x.shape, how_zero).reshape(-1)
        own = QuantizationOperands(
            x.astype(dtype).reshape(-1), scales, zeros.astype(np.int64), kind.lowest, kind.highest, EVEN
        )
        return (predicted(predict, own, node.outputs[0].dtype).reshape(x.shape),)

    return run


# What becomes of a quotient in a small float type.


def nearest_on_grid(node: Node, q: Array, step: Callable[[Array], Array]) -> Array:
    """Quotients moved to a multiple of their distance to the next value of the output's type, which `step` chooses."""
    limits = small_limits(node)
    exponent = np.floor(np.log2(np.abs(q)))
    least = np.log2(float(limits.smallest_normal))
    unit = np.exp2(np.maximum(np.where(np.isfinite(exponent), exponent, least), least) - limits.nmant)
    return np.asarray(step(q / unit) * unit)


def on_grid(step: Callable[[Array], Array]) -> Callable[[Node, Array, Array], Array]:
    return lambda node, q, zero: to_small(node, nearest_on_grid(node, q, step))


def away_on_grid(position: Array) -> Array:
    return np.copysign(np.floor(np.abs(position) + 0.5), position)


def outward_on_grid(position: Array) -> Array:
    return np.copysign(np.ceil(np.abs(position)), position)


def ties_up_on_grid(position: Array) -> Array:
    return np.copysign(np.floor(position + 0.5), position)


def ties_inward_on_grid(position: Array) -> Array:
    return np.copysign(np.ceil(np.abs(position) - 0.5), position)


GRID_STEPS: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("ties-up-to-type", ties_up_on_grid),
    ("ties-toward-zero-to-type", ties_inward_on_grid),
    ("away-to-type", outward_on_grid),
    ("down-to-type", np.floor),
    ("up-to-type", np.ceil),
)


def without_minus_zero(node: Node, q: Array, zero: Array) -> Array:
    found = to_small(node, q)
    return np.where(found == 0, np.zeros_like(found), found)


def without_lowest_bit(position: Array) -> Array:
    return np.trunc(np.rint(position) / 2) * 2


def nan_becomes(end: Callable[[Node], float]) -> Callable[[Node, Array, Array], Array]:
    return lambda node, q, zero: to_small(node, np.where(np.isnan(q), end(node), q))


def largest(node: Node) -> float:
    return float(small_limits(node).max)


def infinity_stays(node: Node, q: Array, zero: Array) -> Array:
    found = to_small(node, q)
    return np.where(np.isinf(q), to_small(node, q, saturate=False), found).astype(found.dtype)


def infinity_to_largest(node: Node, q: Array, zero: Array) -> Array:
    """Before operator set 24, what came with it: with saturate an infinity is the largest value."""
    if node.output_type not in ONE_ZERO or node.opset >= LARGEST_FOR_INFINITY or not saturates(node):
        raise NotImplementedError
    return to_small(node, q, saturate=True)


def ends_at(end: Callable[[float], float]) -> Callable[[Node, Array, Array], Array]:
    """Results end at a value below the type's highest; beyond it they saturate, or are infinite or NaN."""

    def finish(node: Node, q: Array, zero: Array) -> Array:
        highest, found = end(largest(node)), to_small(node, q)
        last = np.copysign(highest if saturates(node) else np.inf, q)
        beyond = (np.abs(found.astype(np.float64)) > highest) | (np.abs(q) > largest(node))
        return np.where(beyond, to_small(node, last), found).astype(found.dtype)

    return finish


def below_normal_cut_off(node: Node, q: Array, zero: Array) -> Array:
    """Results below the smallest normal value are cut off, others rounded."""
    below = np.abs(q) < float(small_limits(node).smallest_normal)
    return to_small(node, np.where(below, nearest_on_grid(node, q, np.trunc), q))


def last_step(highest: float, dtype: Any) -> float:
    """The value below the largest."""
    return float(np.nextafter(dtype.type(highest), dtype.type(0)))


def largest_never(node: Node, q: Array, zero: Array) -> Array:
    found = to_small(node, q).astype(np.float64)
    end = last_step(largest(node), node.outputs[0].dtype)
    return np.where(np.isfinite(found), np.clip(found, -end, end), found).astype(node.outputs[0].dtype)


OWN = (
    *((cause, mistake(how=scale, how_zero=zero)) for cause, scale, zero in linear.PARAMETER_MISTAKES),
    (Cause("ignores-precision", "precision"), mistake(in_scale_type)),
    (
        Cause("divides-in:float32, whatever precision says", "scale-precision"),
        mistake(lambda n, x, s: divided(x, s, "float32")),
    ),
    (Cause("divides-in-x-type", "scale-precision"), mistake(lambda n, x, s: divided(x, s, x.dtype.name))),
    (Cause("reciprocal-of-scale", "quotient"), mistake(by_reciprocal)),
    (Cause("zero-point-first", "round-first"), mistake(finish=added_first)),
    (
        Cause("divides-in:float64 + casts-to-int32", "range"),
        mistake(lambda n, x, s: divided(x, s, "float64"), through_int32),
    ),
    (Cause("lone-halves-of-bytes-cast-to-int32", "range"), lone_halves_through_int32),
    (Cause("saturates-to-4-bits", "two-bits"), mistake(finish=four_bits)),
    (Cause("through-float16", "float8"), mistake(finish=through_float16)),
    (Cause("always-saturates", "no-saturate"), mistake(finish=always_saturated)),
    (Cause("never-saturates", "saturate"), mistake(finish=lambda n, q, z: to_small(n, q, saturate=False))),
    (Cause("largest-is-the-end", "no-saturate"), mistake(finish=largest_is_the_end)),
    (Cause("step-beyond-largest", "no-saturate"), mistake(finish=step_beyond)),
    (Cause("nan-below-infinity", "no-saturate"), mistake(finish=no_infinity)),
    (Cause("nan-to-lowest", "float8-nan"), mistake(finish=nan_is_lowest)),
    (Cause("nan-to-zero", "float8-nan"), mistake(finish=nan_becomes(lambda node: 0.0))),
    (Cause("nan-to-highest", "float8-nan"), mistake(finish=nan_becomes(largest))),
    (Cause("flushes-outputs", "float8"), mistake(finish=without_subnormals)),
    (Cause("infinity-stays", "saturate"), mistake(finish=infinity_stays)),
    (Cause("infinity-to-largest:as from operator set 24 on", "float8-infinity"), mistake(finish=infinity_to_largest)),
    (Cause("ends-at:240", "float8"), mistake(finish=ends_at(lambda highest: min(240.0, highest)))),
    (Cause("ends-at:half the highest value", "float8"), mistake(finish=ends_at(lambda highest: highest / 2))),
    (Cause("largest-never", "float8"), mistake(finish=largest_never)),
    (Cause("below-normal-cut-off", "float8"), mistake(finish=below_normal_cut_off)),
    (Cause("cuts-off", "float8"), mistake(finish=on_grid(np.trunc))),
    (Cause("ties-away-to-type", "float8"), mistake(finish=on_grid(away_on_grid))),
    *((Cause(key, "float8"), mistake(finish=on_grid(step))) for key, step in GRID_STEPS),
    (Cause("minus-zero-lost", "float8"), mistake(finish=without_minus_zero)),
    (Cause("lowest-bit-lost", "float8"), mistake(finish=on_grid(without_lowest_bit))),
    (Cause("ignores-zero-point", "add"), mistake(finish=lambda n, q, z: to_output(n, q, 0 * z))),
    (Cause("subtracts-zero-point", "add"), mistake(finish=negated)),
    *((Cause(key, "quotient"), mistake(as_divided(divide))) for key, divide in (*QUOTIENTS, *GUARDED)),
    (Cause("factor-and-shift-in:float32", "quotient"), by_range),
)  # fmt: skip
OF_OWN = frozenset(cause.id for cause, _ in OWN)
MISTAKES = (
    *OWN,
    *((cause, by_hypothesis(predict)) for cause, predict in HYPOTHESES if cause.id not in OF_OWN),
    (Cause("range-formula-in:float32, x clipped first", "quotient"), by_divided_range),
)
SMALL_STEPS = (  # of a quotient to a small float
    *(
        ("cuts-off", on_grid(np.trunc)),
        ("ties-away-to-type", on_grid(away_on_grid)),
        *((key, on_grid(step)) for key, step in GRID_STEPS),
        ("flushes-outputs", without_subnormals),
    ),
    *(("always-saturates", always_saturated), ("through-float16", through_float16), ("largest-never", largest_never)),
)
PAIRS = (
    *((cause, by_hypothesis(predict)) for cause, predict in pairs_of(EVEN)),
    *(
        (Cause(f"{key}{JOINT}{second}", "quotient"), mistake(divide, finish))
        for key, divide in (("reciprocal-of-scale", by_reciprocal), *((k, as_divided(one)) for k, one in QUOTIENTS))
        for second, finish in SMALL_STEPS
    ),
    *(
        (joint(cause, mode_cause(EVEN, mode).id), by_hypothesis(partial(in_mode, mode, finished), scale, zero))
        for cause, scale, zero in linear.PARAMETER_MISTAKES
        for mode in ROUND_MODES
        if mode != EVEN
    ),
)
HALF = {"real": "float16", "quantized": "uint8"}
PATH_PROBES = (
    PathProbe("float32-uint8", {"quantized": "uint8"}, (STEP, 101), probe_values(), 4),
    PathProbe("float32-int8", {"quantized": "int8"}, (STEP, -3), probe_values()),
    PathProbe("float16-uint8", HALF, (STEP, 101), probe_values(far=60000, smallest=24)),
    PathProbe("float32-int4", {"quantized": "int4"}, (STEP, -3), probe_values()),
    PathProbe("float32-uint4", {"quantized": "uint4"}, (STEP, 6), probe_values()),
    PathProbe("float32-int2", {"quantized": "int2"}, (STEP, -1), probe_values()),
    *(
        PathProbe(
            f"{found.name}-uint8",
            {"quantized": "uint8"},
            (found.scale, 101),
            multiples(found.scale),
            constants_only=True,
        )
        for found in scale_classes()
    ),
    *(
        PathProbe(f"{found.name}-float16", HALF, (found.scale, 101), multiples(found.scale), constants_only=True)
        for found in scale_classes(24, -14, 15)
    ),
)
TWO_TYPES = ForbiddenCall(
    "ONQ-O1", "output_dtype uint8 and an int8 zero point", (M22, S, S), INT8, {"output_dtype": "uint8"}, output="uint8"
)
SITUATIONS: dict[str, Situation] = {
    "a precision": lambda s: bool(s.case.node.attributes.get("precision")),
    "another type of scale": lambda s: s.case.node.input_type != s.case.node.inputs[1].dtype.name,
    "a float 6 or float 4 output": lambda s: s.case.node.output_type in (*FLOAT6, *FLOAT4),
    "a small float output": lambda s: s.case.node.output_type in SMALL_FLOAT_TYPES,
}


def with_one_division(problem: Elementwise) -> bool:
    """Not where a result needs several readings to agree: of neighbours the first and the third may have one."""
    return bool(problem.constants["division"])


TESTED = OperatorUnderTest(
    id="onnx.QuantizeLinear",
    plain_nodes=PlainNodes(draw_plain_attributes, varying_axes, CLASSIC_REALS, CLASSIC_OUTPUTS),
    draw=draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    path_probes=PATH_PROBES,
    axis=linear.AXIS,
    forbidden_calls=(*linear.forbidden_linear_calls("ONQ"), TWO_TYPES),
    situations=SITUATIONS,
    semantics=AuditedSemantics(
        QuantizeArithmetic, quotient_operands, witnesses_of="ngraph.Quantize", authorities=OF_QUANTIZE
    ),
    monotone=with_one_division,
)
