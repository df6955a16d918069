"""Testing `openvino.FakeQuantize`: any type, levels, ranges and shapes of limits, and its usual mistakes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators import openvino_fake_quantize_steps as steps
from tiebreak.conformance.operators.case_with_states import Situation, holds_for_limits
from tiebreak.conformance.operators.compiled_fake_quantize import KERNELS, output_high_misplaced, output_high_overrun
from tiebreak.conformance.operators.drawn_tensors import repeat
from tiebreak.conformance.operators.elementwise import broadcast_operands
from tiebreak.conformance.operators.forbidden_call import M22, V3, ForbiddenCall, S
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    Axis,
    CaseConstraints,
    Cause,
    Mistake,
    OperatorUnderTest,
)
from tiebreak.conformance.operators.path_probe import (
    HIGH,
    LOW,
    STEP,
    PathProbe,
    fake_quantize_values,
    multiples,
    step_classes,
)
from tiebreak.conformance.operators.scale_and_zero_point import by_scale_and_zero_point
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.semantics.authorities_fake import OF_FAKE_QUANTIZE
from tiebreak.conformance.semantics.fake_quantize import FakeQuantizeArithmetic
from tiebreak.conformance.semantics.fake_quantize_facets import STEPS_FLUSHED, divide_multiply, level_divided
from tiebreak.conformance.semantics.precisions import OF_TYPE
from tiebreak.golden.elements import FLOAT_TYPES, FloatType, decode, encode, neighbour
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import ALL_REAL_TYPES
from tiebreak.golden.problem import Array
from tiebreak.golden.samples.model import Tensor, bits

Aim = tuple[int, int, int]  # twice the argument of round, units in the last place beside it, arbitrary bits
EXACT_LEVELS = (2, 3, 5, 9, 17, 65)  # a range of 1, 2, 4 or 8 has exact steps, hence exact ties
FEW_LEVELS = (4, 15, 16, 100, 255, 256)
MANY_LEVELS = (257, 1000, 2049, 4096, 65536, (1 << 24) + 2, (1 << 40) + 5)


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    real = wanted.real or draw(st.sampled_from(ALL_REAL_TYPES))
    kind = FLOAT_TYPES[real]
    shape = draw(input_shapes(wanted.rank))
    rule = draw(st.sampled_from(["numpy", "numpy", "numpy", "none"]))
    levels = draw(
        st.one_of(
            st.sampled_from(EXACT_LEVELS),
            st.sampled_from(FEW_LEVELS),
            st.integers(2, 300),
            st.sampled_from(MANY_LEVELS),
        )
    )
    ranges = [limits for _ in range(2) for limits in draw_ranges(draw, kind, wanted.specials)]
    tensors = []
    for values in ranges:
        kept = shape if rule == "none" else draw_projection(draw, shape)
        tensors.append(bits(real, repeat(values, math.prod(kept)), kept))
    x = aimed_bits(kind, shape, levels, tensors, draw(st.lists(aims(kind, wanted.specials), min_size=1, max_size=12)))
    node = {"real": real, "attributes": {"levels": levels, "auto_broadcast": rule}}
    return node, (bits(real, x, shape), *tensors)


def input_shapes(rank: int | None) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of the given rank, or of rank 0 to 4; at most 256 elements, sometimes none."""
    low, high = (0, 4) if rank is None else (rank, rank)
    sizes = st.one_of(st.integers(1, 4), st.integers(1, 4), st.integers(0, 4))
    return st.lists(sizes, min_size=low, max_size=high).map(tuple)


def draw_projection(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts to `shape`: of the same or a lower rank, some sizes 1."""
    kept = shape[draw(st.integers(0, len(shape))) :]
    return tuple(size if draw(st.booleans()) else 1 for size in kept)


def draw_ranges(draw: st.DrawFn, kind: FloatType, specials: bool) -> tuple[list[int], list[int]]:
    """Bits of lower and upper limits, mostly a drawn width apart; the width may be negative or 0."""
    triples = st.tuples(limit(kind, specials), range_widths(), limit(kind, specials))
    pairs = draw(st.lists(triples, min_size=1, max_size=4))
    low = [first for first, _, _ in pairs]
    return low, [upper(kind, first, width, other) for first, width, other in pairs]


def range_widths() -> st.SearchStrategy[Fraction | None]:
    """The distance from the lower to the upper limit; None means an independent upper limit."""
    whole = st.integers(-8, 300).map(Fraction)
    exact = st.sampled_from([1, 2, 4, 8]).map(Fraction)
    return st.one_of(exact, exact, whole, st.fractions(-2, 8, max_denominator=100), st.none())


def upper(kind: FloatType, low: int, width: Fraction | None, other: int) -> int:
    start = decode(low, kind)
    return other if width is None or not isinstance(start, Fraction) else encode(start + width, kind)


def limit(kind: FloatType, specials: bool) -> st.SearchStrategy[int]:
    """Bits of a limit: 0, up to 40 eighths, up to 300 hundredths, or arbitrary."""
    eighths = st.integers(-40, 40).map(lambda n: encode(Fraction(n, 8), kind))
    decimals = st.integers(-300, 300).map(lambda n: encode(Fraction(n, 100), kind))
    return st.one_of(st.just(0), eighths, eighths, decimals, anything(kind, specials))


def anything(kind: FloatType, specials: bool) -> st.SearchStrategy[int]:
    codes = st.integers(0, (1 << kind.bits) - 1)
    return codes if specials else codes.filter(lambda b: b & ~(1 << (kind.bits - 1)) < kind.infinity_bits)


def aims(kind: FloatType, specials: bool) -> st.SearchStrategy[Aim]:
    """Ties and levels with their neighbours, the ends of the range, and arbitrary bits (marked by a second of 3)."""
    near = st.tuples(st.one_of(st.integers(-2, 12), st.integers(-9, 600)), st.integers(-2, 2), st.just(0))
    return st.one_of(near, st.tuples(st.just(0), st.just(3), anything(kind, specials)))


def aimed_bits(
    kind: FloatType, shape: tuple[int, ...], levels: int, limits: list[Tensor], aims: list[Aim]
) -> list[int]:
    """The bits of x: elements take the aims in turn, within their own input limits, one level further each round."""
    spread = [np.broadcast_to(np.array(t.codes, object).reshape(t.shape), shape).reshape(-1) for t in limits[:2]]
    found = []
    for i, (low, high) in enumerate(zip(*(s.tolist() for s in spread), strict=True)):
        (twice, steps, code), turn = aims[i % len(aims)], i // len(aims)
        start, end = decode(low, kind), decode(high, kind)
        if steps <= 2 and isinstance(start, Fraction) and isinstance(end, Fraction):
            at = (twice + 2 * turn) % (2 * levels)
            code = neighbour(encode(start + (end - start) * at / (2 * (levels - 1)), kind), kind, steps)
        found.append(code)
    return found


# The arithmetic of usual mistakes. Each takes the number of levels, x and the four limits, of x's shape and type.

Arithmetic = Callable[..., Array]


def mistake(arithmetic: Arithmetic) -> Mistake:
    def run(node: Node, x: Array, *limits: Array) -> tuple[Array, ...]:
        spread = (np.broadcast_to(p, x.shape) for p in limits)
        return (np.asarray(arithmetic(node.attributes["levels"], x, *spread)).astype(x.dtype).reshape(x.shape),)

    return run


def clipped(result: Array, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """The document's branches: the output limits outside the input range, `result` inside."""
    above = np.where(x > np.maximum(low, high), last, np.asarray(result).astype(x.dtype))
    return np.where(x <= np.minimum(low, high), first, above)


def stepwise(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """The document's formula step by step, in x's type."""
    n = as_type_of(levels - 1, x)
    level = np.rint((x - low) / (high - low) * n)
    return clipped(level / n * (last - first) + first, x, low, high, first, last)


def as_type_of(count: int, x: Array) -> Any:
    return np.asarray(float(count)).astype(x.dtype)[()]


def folded(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array, *, fused: bool) -> Array:
    """x * scale - low * scale, rounded; then level * step + output_low, with a single rounding if fused."""
    n = as_type_of(levels - 1, x)
    scale, step = n / (high - low), (last - first) / n
    level = np.rint(np.minimum(np.maximum(x, low), high) * scale - low * scale)
    return multiplied_and_added(level, step, first) if fused else np.asarray(level * step + first)


def multiplied_and_added(a: Array, b: Array, c: Array) -> Array:
    """a * b + c with a single rounding."""
    return np.asarray((a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)).astype(a.dtype))


def rebuilt_limits(levels: int, first: Array, last: Array) -> tuple[Array, Array]:
    """The output limits, converted to a zero point and a scale of 4 or 8 bits and back.

    Symmetric limits of 255 levels need no zero point and stay as they are. Equal limits have scale 0 and become 0.
    """
    steps, zero = as_type_of({15: 255, 16: 15, 255: 255, 256: 255}.get(levels, levels - 1), first), as_type_of(0, first)
    width = last - first
    scale, point = width / steps, np.where(width == 0, zero, (zero * last - steps * first) / width)
    kept = np.logical_or(levels not in (15, 16, 255, 256), (levels == 255) & (first == -last))
    return np.where(kept, first, (zero - point) * scale), np.where(kept, last, (steps - point) * scale)


def folded_rebuilt(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array, *, fused: bool) -> Array:
    return folded(levels, x, low, high, *rebuilt_limits(levels, first, last), fused=fused)


def compiled(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array, *, fused: bool) -> Array:
    """As folded_rebuilt in OpenVINO: limits that are all reversed take the document's way, with output limits rebuilt.

    So do equal ones with 2 levels. With 16 levels the output's step is at least 1e-32.
    """
    tiny = (np.abs(last - first) < as_type_of(15, x) * np.asarray(1e-32, x.dtype)) & (levels == 16) & (first != last)
    first, last = rebuilt_limits(levels, first, last)
    if x.size and ((low > high) | ((low == high) & (levels == 2))).all():
        return stepwise(levels, x, low, high, first, last)
    inside = np.maximum(np.minimum(x, high), low)
    scale, step = as_type_of(levels - 1, x) / (high - low), (last - first) / as_type_of(levels - 1, x)
    level = np.rint(inside * scale - low * scale)
    found = multiplied_and_added(level, step, first) if fused else level * step + first
    return np.where(tiny, (level - levels // 2) * np.asarray(1e-32, x.dtype), found)


def compiled_flushing(levels: int, x: Array, *limits: Array, fused: bool) -> Array:
    flushed = [without_subnormals(limit) for limit in limits]
    return without_subnormals(compiled(levels, without_subnormals(x), *flushed, fused=fused))


def folded_wide(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """Scale, shift and step are rounded to x's type and used in float32."""
    n = as_type_of(levels - 1, x)
    scale, step = n / (high - low), (last - first) / n
    wide = [v.astype(np.float32) for v in (np.minimum(np.maximum(x, low), high), scale, low * scale, step, first)]
    return np.asarray(np.rint(wide[0] * wide[1] - wide[2]) * wide[3] + wide[4])


def unrounded(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """Scales and shifts, but never rounds to a level."""
    n = as_type_of(levels - 1, x)
    scale, step = n / (high - low), (last - first) / n
    wide = [v.astype(np.float32) for v in (np.minimum(np.maximum(x, low), high), scale, low * scale, step, first)]
    return np.asarray((wide[0] * wide[1] - wide[2]) * wide[3] + wide[4])


def output_step(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    n = as_type_of(levels - 1, x)
    level = np.rint((x - low) / (high - low) * n)
    return clipped(level * ((last - first) / n) + first, x, low, high, first, last)


def input_scale(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    n = as_type_of(levels - 1, x)
    level = np.rint((x - low) * (n / (high - low)))
    return clipped(level / n * (last - first) + first, x, low, high, first, last)


def both_scales(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    n = as_type_of(levels - 1, x)
    level = np.rint((x - low) * (n / (high - low)))
    return clipped(level * ((last - first) / n) + first, x, low, high, first, last)


def through(kind: Any, arithmetic: Arithmetic) -> Arithmetic:
    """The arithmetic in another type; the result is rounded to x's type."""
    return lambda levels, x, *limits: arithmetic(levels, x.astype(kind), *(p.astype(kind) for p in limits))


def unclipped(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    n = as_type_of(levels - 1, x)
    return np.asarray(np.rint((x - low) / (high - low) * n) / n * (last - first) + first)


def always_divided(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """Clips x first, then evaluates the formula everywhere: equal limits are no special case."""
    return unclipped(levels, np.clip(x, np.minimum(low, high), np.maximum(low, high)), low, high, first, last)


def unordered_branches(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """Branches that take input_low as the lower limit and input_high as the upper one, even if they are reversed."""
    return np.where(x <= low, first, np.where(x > high, last, unclipped(levels, x, low, high, first, last)))


def low_wins(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """max(min(x, input_high), input_low), then the formula: output_low everywhere if the limits are reversed."""
    return unclipped(levels, np.maximum(np.minimum(x, high), low), low, high, first, last)


def high_wins(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    return unclipped(levels, np.minimum(np.maximum(x, low), high), low, high, first, last)


def sorted_limits(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    return stepwise(levels, x, np.minimum(low, high), np.maximum(low, high), first, last)


def sorted_outputs(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    return stepwise(levels, x, low, high, np.minimum(first, last), np.maximum(first, last))


def add_half(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """floor(q + 0.5), with the sum rounded to x's type."""
    n, half = as_type_of(levels - 1, x), np.asarray(0.5).astype(x.dtype)[()]
    level = np.floor((x - low) / (high - low) * n + half)
    return clipped(level / n * (last - first) + first, x, low, high, first, last)


def zero_point(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """An integer zero point: round(x / step) + round(-low / step)."""
    n = as_type_of(levels - 1, x)
    step, out_step = (high - low) / n, (last - first) / n
    level = np.rint(np.clip(x, np.minimum(low, high), np.maximum(low, high)) / step) - np.rint(low / step)
    return clipped(level * out_step + first, x, low, high, first, last)


def dequantized(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """A quantize and a dequantize: (level - zero_point) * step with zero_point = -output_low / step."""
    n = as_type_of(levels - 1, x)
    scale, step = n / (high - low), (last - first) / n
    level = np.rint(np.minimum(np.maximum(x, low), high) * scale - low * scale)
    return np.asarray((level - -first / step) * step)


def unshifted(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """A quantize and a dequantize without a zero point: round(x * s) * step."""
    n = as_type_of(levels - 1, x)
    scale, step = n / (high - low), (last - first) / n
    return np.asarray(np.rint(np.minimum(np.maximum(x, low), high) * scale) * step)


@dataclass(frozen=True)
class Formula:
    """The document's three branches and its expression, each step rounded to one type. A field says what is wrong."""

    position: str = ""
    result: str = ""
    ends: str = ""
    dtype: Any = None
    rounded: Callable[[Array], Array] = np.rint
    levels: Callable[[int], int] = lambda levels: levels
    flush: str = ""

    def __call__(self, levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
        x = without_subnormals(x) if self.flush == "x" else x
        found = self.with_ends(self.levels(levels), x, low, high, first, last)
        return without_subnormals(found) if self.flush == "output" else found

    def with_ends(self, levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
        least, most = np.minimum(low, high), np.maximum(low, high)
        kept = np.clip(x, least, most) if self.ends == "computed" else x
        inside = self.inside(levels, kept, low, high, first, last).astype(x.dtype)
        below = {"low computed": x < least}.get(self.ends, x <= least) & (self.ends not in ("computed", "none"))
        above = {"high included": x >= most}.get(self.ends, x > most)
        above = above & (self.ends not in ("computed", "none", "none above"))
        first, last = (last, first) if self.ends == "exchanged" else (first, last)
        return np.where(below, first, np.where(above, last, inside))

    def inside(self, levels: int, x: Array, *limits: Array) -> Array:
        kind = self.dtype or x.dtype
        x, low, high, first, last = (np.asarray(a).astype(kind) for a in (x, *limits))
        n = as_type_of(levels - 1, x)
        level = self.rounded(POSITIONS[self.position](x, low, high - low, n))
        return np.asarray(RESULTS[self.result](level, first, last, n))


def fused(a: Array, b: Array, c: Array) -> Array:
    return multiplied_and_added(*np.broadcast_arrays(a, b, c))


POSITIONS: dict[str, Callable[[Array, Array, Array, Array], Array]] = {
    "": lambda x, low, width, n: (x - low) / width * n,
    "factor": lambda x, low, width, n: (x - low) * (n / width),
    "factor and shift": lambda x, low, width, n: x * (n / width) - low * (n / width),
    "fused": lambda x, low, width, n: fused(x, n / width, -(low * (n / width))),
    "step": lambda x, low, width, n: (x - low) / (width / n),
    "multiply, divide": lambda x, low, width, n: (x - low) * n / width,
    "reciprocal of range": lambda x, low, width, n: (x - low) * (one_of(n) / width) * n,
    "without input_low": lambda x, low, width, n: x / width * n,
}
RESULTS: dict[str, Callable[[Array, Array, Array, Array], Array]] = {
    "": lambda level, first, last, n: level / n * (last - first) + first,
    "step": lambda level, first, last, n: level * ((last - first) / n) + first,
    "fused": lambda level, first, last, n: fused(level, (last - first) / n, first),
    "multiply, divide": lambda level, first, last, n: level * (last - first) / n + first,
    "reciprocal of steps": lambda level, first, last, n: level * (one_of(n) / n) * (last - first) + first,
    "quotient first, fused": lambda level, first, last, n: fused(level / n, last - first, first),
    "between the limits": lambda level, first, last, n: (one_of(n) - level / n) * first + level / n * last,
    "without output_low": lambda level, first, last, n: level / n * (last - first),
}


def one_of(n: Any) -> Any:
    return np.asarray(1).astype(n.dtype)[()]


def half_away(q: Array) -> Array:
    wide = q.astype(np.float64)
    return np.asarray(np.copysign(np.floor(np.abs(wide) + 0.5), wide)).astype(q.dtype)


def half_more(q: Array) -> Array:
    return np.asarray(np.floor(q + np.asarray(0.5).astype(q.dtype)))


def without_subnormals(values: Array) -> Array:
    tiny = 2.0 ** FLOAT_TYPES[values.dtype.name].emin
    return np.where(np.abs(values.astype(np.float64)) < tiny, np.zeros_like(values), values)


def limits_changed(change: Callable[[Array, Array, Array, Array], tuple[Array, ...]]) -> Arithmetic:
    return lambda levels, x, *limits: stepwise(levels, x, *change(*limits))


def in_bfloat16(limit: Array) -> Array:
    return np.asarray(limit.astype(ml_dtypes.bfloat16).astype(limit.dtype))


def equal_limits_up(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    return np.where((x == low) & (low == high), last, stepwise(levels, x, low, high, first, last))


def flushed_range(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """A subnormal width of the input range counts as 0."""
    width, n = without_subnormals(high - low), as_type_of(levels - 1, x)
    level = np.rint((x - low) / width * n)
    return clipped(level / n * (last - first) + first, x, low, high, first, last)


def repeated(node: Node, x: Array, *limits: Array) -> tuple[Array, ...]:
    """Limits repeat along the flat array."""
    spread = (np.resize(limit.reshape(-1), x.shape) for limit in limits)
    return (np.asarray(stepwise(node.attributes["levels"], x, *spread)).astype(x.dtype).reshape(x.shape),)


def high_at_low(node: Node, x: Array, *limits: Array) -> tuple[Array, ...]:
    """output_high is read at output_low's place."""
    if node.value("auto_broadcast") != "numpy":
        raise ValueError("limits have x's shape")
    return (output_high_misplaced(node.attributes["levels"], x, *limits),)


def high_overrun(node: Node, x: Array, *limits: Array) -> tuple[Array, ...]:
    """output_high is read beyond its values."""
    if node.value("auto_broadcast") != "numpy":
        raise ValueError("limits have x's shape")
    return (output_high_overrun(node.attributes["levels"], x, *limits),)


def by_parameters(levels: int, x: Array, *limits: Array, **how: Any) -> Array:
    """A scale and a zero point say the limits of the input and the output at once."""
    low, high, first, last = limits
    if not (np.array_equal(low, first) and np.array_equal(high, last)):
        raise ValueError("one scale for limits that differ")
    return by_scale_and_zero_point(x, low, high, (0, levels - 1), **how)


def next_power_of_two(levels: int) -> int:
    return 1 << (levels - 1).bit_length()


def subnormals_flushed(levels: int, x: Array, *limits: Array) -> Array:
    return without_subnormals(stepwise(levels, without_subnormals(x), *map(without_subnormals, limits)))


def steps_flushed(levels: int, x: Array, *limits: Array) -> Array:
    """The document's formula with each operand and each step's result flushed."""
    step = STEPS_FLUSHED.step_in(OF_TYPE[x.dtype.name])
    x, low, high, first, last = map(without_subnormals, (x, *limits))
    n = as_type_of(levels - 1, x)
    level = np.rint(divide_multiply(step, x, low, high, n))
    return clipped(level_divided(step, level, first, last, n), x, low, high, first, last)


def first_of(parameter: Array) -> Array:
    return np.broadcast_to(parameter.reshape(-1)[:1].reshape(()), parameter.shape) if parameter.size else parameter


def one_limit_for_all(levels: int, x: Array, *limits: Array) -> Array:
    return stepwise(levels, x, *map(first_of, limits))


MISTAKES: tuple[tuple[Cause, Arithmetic], ...] = (
    (Cause("folded", "quotient"),
     lambda *a: folded(*a, fused=False)),
    (Cause("folded-fused", "quotient"),
     lambda *a: folded(*a, fused=True)),
    (Cause("folded-in-float32", "quotient"),
     through(np.float32, lambda *a: folded(*a, fused=True))),
    (Cause("folded-wide", "quotient"), folded_wide),
    (Cause("folded-rebuilt", "quotient"),
     through(np.float32, lambda *a: folded_rebuilt(*a, fused=True))),
    (Cause("folded-rebuilt-unfused", "quotient"),
     through(np.float32, lambda *a: folded_rebuilt(*a, fused=False))),
    (Cause("folded-rebuilt", "quotient"), through(np.float32, lambda *a: compiled(*a, fused=True))),
    (Cause("folded-rebuilt-unfused", "quotient"), through(np.float32, lambda *a: compiled(*a, fused=False))),
    (Cause("folded-rebuilt + flushes", "quotient"), through(np.float32, lambda *a: compiled_flushing(*a, fused=True))),
    (Cause("folded-rebuilt-unfused + flushes", "quotient"),
     through(np.float32, lambda *a: compiled_flushing(*a, fused=False))),
    *((Cause(key, role), kernel) for key, role, kernel in KERNELS),
    (Cause("scale-and-zero-point-in:float32", "quotient"), by_parameters),
    (Cause("scale-and-zero-point-in:float64 + casts-to-int64", "quotient"),
     partial(by_parameters, product=np.float64, casts=True)),
    (Cause("does-not-round", "nearest"), unrounded),
    (Cause("quantize-and-dequantize", "sum"), dequantized),
    (Cause("quantize-and-dequantize-unshifted", "sum"), unshifted),
    (Cause("flushes-range", "quotient"), flushed_range),
    (Cause("output-step-first", "fraction"), output_step),
    (Cause("input-scale-first", "quotient"), input_scale),
    (Cause("scale-and-step-first", "quotient"), both_scales),
    (Cause("quantize-and-dequantize-in:float32", "sum"), through(np.float32, dequantized)),
    (Cause("computes-in:float32", "quotient"), through(np.float32, stepwise)),
    (Cause("computes-in:bfloat16", "quotient"), through(ml_dtypes.bfloat16, stepwise)),
    (Cause("computes-in:float16", "quotient"), through(np.float16, stepwise)),
    (Cause("flushes", "quotient"), subnormals_flushed),
    (Cause("flushes-every-step", "quotient"), steps_flushed),
    (Cause("divides-by-zero", "equal-limits"), always_divided),
    (Cause("clips-low-last", "reversed"), low_wins),
    (Cause("clips-high-last", "reversed"), high_wins),
    (Cause("clips-unordered", "reversed"), unordered_branches),
    (Cause("sorts-input-limits", "reversed"), sorted_limits),
    (Cause("sorts-output-limits", "falling"), sorted_outputs),
    (Cause("one-for-all:limit", "projection"), one_limit_for_all),
    (Cause("levels-not-steps", "position"), lambda levels, *a: stepwise(levels + 1, *a)),
    (Cause("does-not-clamp", "above"), unclipped),
    (Cause("floor-of-half-more", "nearest"), add_half),
    (Cause("rounds-zero-point", "quotient"), zero_point),
    (Cause("position:factor and shift", "quotient"), Formula("factor and shift")),
    (Cause("position:fused", "quotient"), Formula("fused")),
    (Cause("position:step", "quotient"), Formula("step")),
    (Cause("position:multiply, divide", "quotient"), Formula("multiply, divide")),
    (Cause("position:reciprocal of range", "quotient"), Formula("reciprocal of range")),
    (Cause("position:without input_low", "quotient"), Formula("without input_low")),
    (Cause("result:fused", "product"), Formula(result="fused")),
    (Cause("result:multiply, divide", "product"), Formula(result="multiply, divide")),
    (Cause("result:reciprocal of steps", "product"), Formula(result="reciprocal of steps")),
    (Cause("result:quotient first, fused", "product"), Formula(result="quotient first, fused")),
    (Cause("result:between the limits", "product"), Formula(result="between the limits")),
    (Cause("result:without output_low", "product"), Formula(result="without output_low")),
    (Cause("one-level-fewer", "position"), Formula(levels=lambda levels: max(levels - 1, 2))),
    (Cause("always-256-levels", "position"), Formula(levels=lambda levels: 256)),
    (Cause("power-of-two-levels", "position"), Formula(levels=next_power_of_two)),
    (Cause("clamped-goes-through", "above"), Formula(ends="computed")),
    (Cause("high-limit-is-above", "above"), Formula(ends="high included")),
    (Cause("low-limit-is-inside", "below"), Formula(ends="low computed")),
    (Cause("does-not-clamp", "above"), Formula(ends="none")),
    (Cause("does-not-clamp-above", "above"), Formula(ends="none above")),
    (Cause("ends-exchanged", "above"), Formula(ends="exchanged")),
    (Cause("equal-limits-go-up", "equal-limits"), equal_limits_up),
    (Cause("truncates", "nearest"), Formula(rounded=np.trunc)),
    (Cause("ties-away", "nearest"), Formula(rounded=half_away)),
    (Cause("truncates + one-level-fewer", "nearest"),
     Formula(rounded=np.trunc, levels=lambda levels: max(levels - 1, 2))),
    (Cause("clamped-goes-through + result:quotient first, fused", "above"),
     Formula(ends="computed", result="quotient first, fused")),
    (Cause("computes-in:float32", "quotient"), Formula(dtype=np.float32)),
    (Cause("computes-in:float16", "quotient"), Formula(dtype=np.float16)),
    (Cause("computes-in:bfloat16", "quotient"), Formula(dtype=ml_dtypes.bfloat16)),
    (Cause("computes-in:float64", "quotient"), Formula(dtype=np.float64)),
    (Cause("flushes-inputs", "quotient"), Formula(flush="x")),
    (Cause("flushes-outputs", "quotient"), Formula(flush="output")),
    (Cause("takes-input-limits-for-output", "product"), limits_changed(lambda low, high, *_: (low, high, low, high))),
    (Cause("output-limits-in-bfloat16", "product"),
     limits_changed(lambda low, high, first, last: (low, high, in_bfloat16(first), in_bfloat16(last)))),
    (Cause("one-for-all:output limit", "projection"),
     limits_changed(lambda low, high, first, last: (low, high, first_of(first), first_of(last)))),
)  # fmt: skip
OUTPUTS = Fraction(-7, 10), Fraction(13, 10)
PATH_PROBES = (
    PathProbe("256", {"attributes": {"levels": 256}}, (LOW, HIGH, *OUTPUTS), fake_quantize_values(LOW), 2),
    PathProbe("16", {"attributes": {"levels": 16}}, (LOW, LOW + 15 * STEP, *OUTPUTS), fake_quantize_values(LOW)),
    *(
        PathProbe(
            f"{found.name}-2",
            {"attributes": {"levels": 2}},
            (0, found.scale, 0, found.scale),
            multiples(found.scale),
            constants_only=True,
        )
        for found in step_classes(1)
    ),
)
ZERO_LOWS = {1: 0.0, 3: 0.0}
SCALARS = (M22, S, S, S, S)


def enlarging(place: int) -> tuple[tuple[int, ...], ...]:
    """The shapes of X and scalar limits, but for one limit of a higher rank than X."""
    return tuple((3, 2, 2) if i == place else shape for i, shape in enumerate(SCALARS))


NO_BROADCAST = {"attributes": {"levels": 256, "auto_broadcast": "none"}}
FORBIDDEN_CALLS = (
    *(
        ForbiddenCall(
            "OVF-S1", f"{name} of a shape that enlarges X", enlarging(place), {"attributes": {"levels": 2}},
            values=ZERO_LOWS,
        )
        for place, name in enumerate(("input_low", "input_high", "output_low", "output_high"), start=1)
    ),
    *(
        ForbiddenCall(
            "OVF-L1", f"levels {n}", SCALARS, {"attributes": {"levels": 2}}, {"levels": n}, values=ZERO_LOWS
        )
        for n in (-1, 0, 1)
    ),
    ForbiddenCall(
        "OVF-A1", "limits of 3 for X of 2 by 2", (M22, V3, V3, V3, V3), {"attributes": {"levels": 256}},
        values=ZERO_LOWS,
    ),
    ForbiddenCall("OVF-A2", "auto_broadcast none and scalar limits", SCALARS, NO_BROADCAST, values=ZERO_LOWS),
)  # fmt: skip
SITUATIONS: dict[str, Situation] = {
    "equal limits": lambda s: holds_for_limits(s, 1, np.equal),
    "reversed limits": lambda s: holds_for_limits(s, 1, np.greater),
    "output limits that are equal or reversed": lambda s: holds_for_limits(s, 3, np.greater_equal),
}

TESTED = OperatorUnderTest(
    id="openvino.FakeQuantize",
    plain_nodes=Absent("its results are real"),
    draw=draw,
    mistakes=(
        *((cause, mistake(arithmetic)) for cause, arithmetic in MISTAKES),
        (Cause("limits-repeat", "projection"), repeated),
        (Cause("output-high-at-output-low", "projection"), high_at_low),
        (Cause("output-high-beyond-its-values", "projection"), high_overrun),
        *steps.MISTAKES,
    ),
    pairs=steps.PAIRS,
    path_probes=PATH_PROBES,
    axis=Axis(broadcast=True),
    forbidden_calls=FORBIDDEN_CALLS,
    situations=SITUATIONS,
    semantics=AuditedSemantics(
        FakeQuantizeArithmetic, broadcast_operands, defaults={"levels": 256}, authorities=OF_FAKE_QUANTIZE
    ),
)
