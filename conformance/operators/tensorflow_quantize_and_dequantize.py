"""Testing `tensorflow.QuantizeAndDequantizeV4`: values beside the ties of any scale_factor, and its usual mistakes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators import tensorflow_quantize_and_dequantize_steps as steps
from tiebreak.conformance.operators.model import Absent, Axis, CaseConstraints, Cause, Mistake, OperatorUnderTest
from tiebreak.conformance.operators.path_probe import STEP, PathProbe, fake_quantize_values, multiples, step_classes
from tiebreak.conformance.operators.strategies import st
from tiebreak.golden.elements import FLOAT_TYPES, FloatType, decode, encode, neighbour
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import ALL_REAL_TYPES
from tiebreak.golden.problem import Array, along
from tiebreak.golden.samples.model import Tensor, bits

ROUND_MODES = {"ROUND_NEAREST_TOWARD_EVEN": "HALF_TO_EVEN", "ROUND_NEAREST_UPWARD": "HALF_UP"}


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    real = FLOAT_TYPES[wanted.real or draw(st.sampled_from(ALL_REAL_TYPES))]
    rank = draw(st.integers(0, 4)) if wanted.rank is None else wanted.rank
    shape = tuple(draw(st.lists(st.integers(0, 4), min_size=rank, max_size=rank)))
    mode = ROUND_MODES.get(wanted.round_mode) or draw(st.sampled_from(tuple(ROUND_MODES.values())))
    attributes: dict[str, Any] = {
        "signed_input": draw(st.booleans()),
        "num_bits": draw(st.one_of(st.integers(1, 12), st.integers(1, 62))),
        "range_given": draw(st.booleans()),
        "round_mode": mode,
        "narrow_range": draw(st.booleans()),
        "axis": draw(st.integers(-1, rank - 1)),
    }
    axis = attributes["axis"]
    limit_shape = () if axis < 0 else (shape[axis],)
    limits = [draw(ranges(real)) for _ in range(math.prod(limit_shape))] or [(0, 0)]
    values = draw(st.lists(values_in(real, attributes, limits[0], wanted.specials), min_size=1, max_size=16))
    count = math.prod(shape)
    x = bits(real.name, [values[i % len(values)] for i in range(count)], shape)
    ends = (bits(real.name, [pair[end] for pair in limits][: math.prod(limit_shape)], limit_shape) for end in (0, 1))
    return {"real": real.name, "attributes": attributes}, (x, *ends)


def ranges(real: FloatType) -> st.SearchStrategy[tuple[int, int]]:
    """Bits of input_min and input_max: around 0, on one side of 0, whole numbers, or not a valid range."""
    size = st.one_of(st.integers(1, 64).map(lambda n: Fraction(n, 8)), moderate(real))
    inside = st.tuples(size, size).map(lambda pair: (-pair[0], pair[1]))
    above = st.tuples(size, size).map(lambda pair: (pair[0], pair[0] + pair[1]))
    below = above.map(lambda pair: (-pair[1], -pair[0]))
    whole = st.integers(1, 8).map(lambda n: (Fraction(-(1 << n)), Fraction((1 << n) - 1)))
    none = st.sampled_from([(Fraction(0), Fraction(0)), (Fraction(1), Fraction(-1))])
    ends = st.one_of(whole, inside, above, below, st.just((Fraction(-1), Fraction(1))), none)
    return ends.map(lambda pair: (encode(pair[0], real), encode(pair[1], real)))


def moderate(real: FloatType) -> st.SearchStrategy[Fraction]:
    top = real.precision - 1
    codes = st.tuples(st.integers(-8, 8), st.integers(0, (1 << top) - 1)).map(
        lambda p: (p[0] + real.bias << top) | p[1]
    )
    return codes.map(lambda code: Fraction(decode(code, real)))


def values_in(
    real: FloatType, attributes: dict[str, Any], limits: tuple[int, int], specials: bool
) -> st.SearchStrategy[int]:
    """Bits of inputs: on or beside multiples of 1/2 divided by scale_factor, or arbitrary."""
    low, high = (Fraction(decode(end, real)) for end in limits)
    lowest, highest = integers_of(attributes)
    sides = [highest / high] if high > 0 else []
    sides += [lowest / low] if low < 0 and lowest else []
    factor = min(sides, default=Fraction(1)) or Fraction(1)
    bound = min(highest, 300)
    doubled = st.one_of(st.integers(-2 * bound - 4, 2 * bound + 4), st.integers(2 * lowest - 2, 2 * highest + 2))
    near = doubled.map(lambda twice: encode(twice / factor / 2, real))
    finite_near = near.filter(lambda code: code & ~(1 << (real.bits - 1)) <= real.largest_bits)
    beside = st.tuples(finite_near, st.integers(-2, 2)).map(lambda pair: neighbour(pair[0], real, pair[1]))
    anything = st.integers(0, (1 << real.bits) - 1)
    kept = anything if specials else anything.filter(lambda b: b & ~(1 << (real.bits - 1)) < real.infinity_bits)
    return st.one_of(beside, st.sampled_from(limits), kept)


def integers_of(attributes: Any) -> tuple[int, int]:
    width, signed = attributes.get("num_bits", 8), attributes.get("signed_input", True)
    highest = (1 << (width - bool(signed))) - 1
    return (-highest - (not attributes.get("narrow_range", False)) if signed else 0), highest


# The arithmetic of usual mistakes: arrays of one real type, with the range spread over the input's shape.


@dataclass(frozen=True)
class RoundTrip:
    """The arithmetic of a backend. The default is the document's, in working precision."""

    integers: Callable[[Any], tuple[int, int]] = integers_of
    rounded: Callable[[Array, str], Array] = lambda q, mode: rounded(q, mode)
    dtype: Any = None
    inverse: bool = False  # multiplies by side / integer instead of dividing
    reciprocal: bool = False  # multiplies by 1 / scale_factor
    divides: bool = False  # divides by 1 / scale_factor instead of multiplying
    flush: bool = False  # subnormal results become 0
    clamps: str = "updated"  # or "given", "never", "if given", "above", "below"
    side: str = "smaller"  # or "min", "max", "largest", "greater"


def rounded(q: Array, mode: str) -> Array:
    wide = q.astype(np.float64)
    whole = np.rint(wide) if mode == "HALF_TO_EVEN" else np.floor(wide) + (wide - np.floor(wide) >= 0.5)
    return np.asarray(whole, q.dtype)


def half_up_in_type(q: Array, mode: str) -> Array:
    if mode == "HALF_TO_EVEN":
        return rounded(q, mode)
    return np.asarray(np.floor((q + np.asarray(0.5, q.dtype)).astype(q.dtype)), q.dtype)


def half_more(q: Array, mode: str) -> Array:
    """floor(q + 0.5) whatever round_mode says."""
    return half_up_in_type(q, "")


def away(q: Array, mode: str) -> Array:
    wide = q.astype(np.float64)
    return np.asarray(np.copysign(np.floor(np.abs(wide) + 0.5), wide), q.dtype)


def truncated(q: Array, mode: str) -> Array:
    return np.asarray(np.trunc(q.astype(np.float64)), q.dtype)


def always(mode: str) -> Callable[[Array, str], Array]:
    return lambda q, asked: rounded(q, mode)


def run_round_trip(fake: RoundTrip, node: Node, x: Array, low: Array, high: Array) -> Array:
    kind = np.dtype(fake.dtype or x.dtype)
    x, low, high = (np.asarray(a, kind) for a in (x, low, high))
    lowest, highest = (np.asarray(end, kind) for end in fake.integers(node.attributes))
    factor, inverse, low_end, high_end = scaled(fake, low, high, lowest, highest)
    if fake.clamps == "updated" or (fake.clamps == "if given" and node.attributes.get("range_given", False)):
        x = np.minimum(np.maximum(x, low_end), high_end)
    elif fake.clamps in ("above", "below"):
        x = np.minimum(x, high_end) if fake.clamps == "above" else np.maximum(x, low_end)
    elif fake.clamps == "given":
        x = np.minimum(np.maximum(x, low), high)
    quotient = x / (np.asarray(1, kind) / factor) if fake.divides else x * factor
    steps = fake.rounded(np.asarray(quotient, kind), str(node.attributes.get("round_mode", "HALF_TO_EVEN")))
    if fake.inverse:
        return np.asarray(steps * inverse, kind)
    found = np.asarray(steps * (np.asarray(1, kind) / factor) if fake.reciprocal else steps / factor, kind)
    return without_subnormals(found) if fake.flush else found


def scaled(
    fake: RoundTrip, low: Array, high: Array, lowest: Array, highest: Array
) -> tuple[Array, Array, Array, Array]:
    """scale_factor, its inverse computed from the range, and the updated ends of the range."""
    none = np.asarray(np.inf, low.dtype)
    from_min = np.where(low < 0, lowest / low, none).astype(low.dtype)
    from_max = np.where(high > 0, highest / high, none).astype(low.dtype)
    if fake.side == "largest":  # one size for both sides
        size = np.maximum(np.abs(low), np.abs(high))
        return highest / size, size / highest, -size, size
    if fake.side == "largest, range updated":
        size = np.maximum(np.abs(low), np.abs(high))
        from_low, factor = from_min < from_max, np.asarray(highest / size, low.dtype)
        ends = np.where(from_low, low, lowest / factor), np.where(from_low, highest / factor, high)
        return factor, size / highest, *ends
    by_min = {
        "smaller": from_min < from_max,
        "greater": (from_min > from_max) & (low < 0) & (high > 0),
        "min": low < 0,
        "max": ~(high > 0),
    }[fake.side]
    factor = np.where(by_min, from_min, from_max).astype(low.dtype)
    inverse = np.where(by_min, low / lowest, high / highest).astype(low.dtype)
    if fake.inverse:
        return factor, inverse, np.where(by_min, low, lowest * inverse), np.where(by_min, highest * inverse, high)
    return factor, inverse, np.where(by_min, low, lowest / factor), np.where(by_min, highest / factor, high)


def spread_range(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """The ends of the range, given or measured, as they broadcast to x."""
    axis = node.attributes.get("axis", -1)
    axes = () if axis < 0 else (axis,)
    if not node.attributes.get("range_given", False):
        others = tuple(a for a in range(x.ndim) if a not in axes)
        low, high = (np.asarray(extreme(x, axis=others), x.dtype) for extreme in (np.min, np.max))
    low, high = (along(np.asarray(end), axes, x.shape) for end in (low, high))
    return (low if node.attributes.get("signed_input", True) else np.zeros_like(low)), high


def mistake(fake: RoundTrip) -> Mistake:
    def run(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        if not x.size:
            return (x,)
        with np.errstate(all="ignore"):
            low, high = spread_range(node, x, low, high)
            return (np.broadcast_to(run_round_trip(fake, node, x, low, high), x.shape).astype(node.outputs[0].dtype),)

    return run


def flushing_kernel(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    """The arithmetic of TensorFlow's kernel where subnormals count as 0; a range without a side has its last factor."""
    with np.errstate(all="ignore"):
        x, low, high = (without_subnormals(a) for a in (x, low, high))
        low, high = spread_range(node, x, low, high)
        lowest, highest = (np.asarray(end, x.dtype) for end in integers_of(node.attributes))
        real = FLOAT_TYPES[x.dtype.name]
        none = float(decode(real.largest_bits, real))
        from_min = np.where(lowest * low > 0, lowest / low, none).astype(x.dtype)
        from_max = np.where(highest * high > 0, highest / high, none).astype(x.dtype)
        by_min = from_min < from_max
        factor = without_subnormals(np.where(by_min, from_min, from_max))
        inverse = without_subnormals(np.where(by_min, low / lowest, high / highest).astype(x.dtype))
        if node.attributes.get("range_given", False):
            least, most = np.where(by_min, low, lowest * inverse), np.where(by_min, highest * inverse, high)
            x = np.where(x > most, most, np.where(x < least, least, x))
        mode = str(node.attributes.get("round_mode", "HALF_TO_EVEN"))
        steps = half_up_in_type(without_subnormals(np.asarray(x * factor, x.dtype)), mode)
        return (np.asarray(without_subnormals(np.asarray(steps * inverse, x.dtype)), node.outputs[0].dtype),)


def without_subnormals(values: Array) -> Array:
    """Values with subnormal ones as 0 of the same sign."""
    tiny = np.asarray(2.0 ** FLOAT_TYPES[values.dtype.name].emin, values.dtype)
    return np.where(np.abs(values) < tiny, np.copysign(np.zeros_like(values), values), values)


def with_attributes(run: Mistake, **changed: Any) -> Mistake:
    def changed_run(node: Node, *inputs: Array) -> tuple[Array, ...]:
        return run(replace(node, attributes={**node.attributes, **changed}), *inputs)

    return changed_run


def one_range(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    """The widest range is used for every slice."""
    if low.ndim and low.size:
        low, high = np.asarray(low.min(), low.dtype), np.asarray(high.max(), high.dtype)
    return with_attributes(PLAIN, axis=-1)(node, x, low, high)


def always_measured(node: Node, *inputs: Array) -> tuple[Array, ...]:
    return with_attributes(PLAIN, range_given=False)(node, *inputs)


def levels_off_by_one(attributes: Any) -> tuple[int, int]:
    lowest, highest = integers_of(attributes)
    return lowest, highest + 1


def bits_less(attributes: Any) -> tuple[int, int]:
    return integers_of({**attributes, "num_bits": max(attributes.get("num_bits", 8) - 1, 1)})


def symmetric_off_by_one(attributes: Any) -> tuple[int, int]:
    return integers_of({**attributes, "narrow_range": False})


def first_range(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    """The first slice's range, given or measured, is used for every slice."""
    if node.attributes.get("axis", -1) < 0 or not x.size:
        raise ValueError("there is nothing to mistake")
    if not node.attributes.get("range_given", False):
        low, high = spread_range(node, x, low, high)
    first = (np.asarray(end.reshape(-1)[0], x.dtype) for end in (low, high))
    return with_attributes(PLAIN, axis=-1, range_given=True)(node, x, *first)


def first_axis(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    """Slices take the ranges in turn along axis 0."""
    if node.attributes.get("axis", -1) < 0 or not x.size:
        raise ValueError("there is nothing to mistake")
    if not node.attributes.get("range_given", False):
        low, high = spread_range(node, x, low, high)
    ends = (np.resize(end.reshape(-1), x.shape[0]) for end in (low, high))
    return with_attributes(PLAIN, axis=0, range_given=True)(node, x, *ends)


PLAIN = mistake(RoundTrip())
LARGEST = "largest, range updated"
STEPS: tuple[tuple[Cause, Mistake], ...] = (
    (Cause("floor-of-half-more", "half-up", 1), mistake(RoundTrip(rounded=half_more))),
    (Cause("divides-by-step", "quotient", 1), mistake(RoundTrip(divides=True))),
    (Cause("one-over-factor + ties-away", "quotient", 1), mistake(RoundTrip(reciprocal=True, rounded=away))),
    (Cause("does-not-clamp-below", "clamp", 1), mistake(RoundTrip(clamps="above"))),
    (Cause("does-not-clamp-above", "clamp", 1), mistake(RoundTrip(clamps="below"))),
    (Cause("one-size-for-both-sides", "side", 1), mistake(RoundTrip(side=LARGEST))),
    (
        Cause("one-size-for-both-sides + ignores:narrow_range", "side", 1),
        mistake(RoundTrip(side=LARGEST, integers=symmetric_off_by_one)),
    ),
    (Cause("one-bit-less", "width", 1), mistake(RoundTrip(integers=bits_less))),
    (Cause("flushes-outputs", "quotient", 1), mistake(RoundTrip(flush=True))),
    (Cause("one-for-all:first range", "axis", 1), first_range),
    (Cause("ranges-along:the first axis", "axis", 1), first_axis),
    (Cause("computes-in:float16", "type", 1), mistake(RoundTrip(dtype=np.float16))),
    (Cause("computes-in:bfloat16", "type", 1), mistake(RoundTrip(dtype=ml_dtypes.bfloat16))),
    (Cause("computes-in:float64", "type", 1), mistake(RoundTrip(dtype=np.float64))),
)
MISTAKES: tuple[tuple[Cause, Mistake], ...] = (
    (
        Cause("side-over-integer-measured", "quotient"),
        mistake(RoundTrip(inverse=True, clamps="if given", rounded=half_up_in_type)),
    ),
    (Cause("side-over-integer-measured + flushes", "quotient"), flushing_kernel),
    (
        Cause("side-over-integer", "quotient", 1),
        mistake(RoundTrip(inverse=True)),
    ),
    (Cause("one-over-factor", "quotient", 1), mistake(RoundTrip(reciprocal=True))),
    (Cause("ties-away", "product", 1), mistake(RoundTrip(rounded=away))),
    (Cause("ties-upward-always", "half-to-even", 1), mistake(RoundTrip(rounded=always("HALF_UP")))),
    (Cause("ties-even-always", "half-up", 1), mistake(RoundTrip(rounded=always("HALF_TO_EVEN")))),
    (Cause("floor-of-half-more", "half-up", 1), mistake(RoundTrip(rounded=half_up_in_type))),
    (Cause("truncates", "product", 1), mistake(RoundTrip(rounded=truncated))),
    (Cause("clamps-before-update", "clamp", 1), mistake(RoundTrip(clamps="given"))),
    (Cause("clamps-given-only", "clamp", 1), mistake(RoundTrip(clamps="if given"))),
    (Cause("does-not-clamp", "clamp", 1), mistake(RoundTrip(clamps="never"))),
    (Cause("ignores:narrow_range", "narrow", 1), with_attributes(PLAIN, narrow_range=False)),
    (Cause("narrow-range", "narrow", 1), with_attributes(PLAIN, narrow_range=True)),
    (Cause("greater-factor", "scale", 1), mistake(RoundTrip(side="greater"))),
    (Cause("one-end-alone:input_max", "side", 1), mistake(RoundTrip(side="max"))),
    (Cause("one-end-alone:input_min", "side", 1), mistake(RoundTrip(side="min"))),
    (Cause("one-size-for-both-sides", "side", 1), mistake(RoundTrip(side="largest"))),
    (Cause("ignores:signed_input", "signed", 1), with_attributes(PLAIN, signed_input=True)),
    (Cause("ignores:num_bits", "width", 1), with_attributes(PLAIN, num_bits=8)),
    (Cause("one-integer-more", "signed", 1), mistake(RoundTrip(integers=levels_off_by_one))),
    (Cause("measures-although-given", "range-given", 1), always_measured),
    (Cause("takes-although-not-given", "measured", 1), with_attributes(PLAIN, range_given=True)),
    (Cause("one-for-all:range", "axis", 1), one_range),
    (Cause("computes-in:float32", "type", 1), mistake(RoundTrip(dtype=np.float32))),
    *STEPS,
)  # fmt: skip
ENDS = (-128 * STEP, 127 * STEP)
UP = {"real": "float64", "attributes": {"range_given": True, "round_mode": "HALF_UP"}}

TESTED = OperatorUnderTest(
    id="tensorflow.QuantizeAndDequantizeV4",
    plain_nodes=Absent("its results are real"),
    draw=draw,
    mistakes=(*MISTAKES, *steps.MISTAKES),
    pairs=steps.PAIRS,
    path_probes=(
        PathProbe("even", {"attributes": {"range_given": True}}, ENDS, fake_quantize_values(), 2),
        PathProbe("up-float64", UP, ENDS, fake_quantize_values(smallest=1074)),
        *(
            PathProbe(
                f"{found.name}-even",
                {"attributes": {"range_given": True}},
                (-128 * found.scale, 127 * found.scale),
                multiples(found.scale),
                constants_only=True,
            )
            for found in step_classes(255)
        ),
    ),
    axis=Axis("axis"),
    forbidden_calls=Absent(
        "its document excludes no call in words: it leaves open the widths (TQD-U5), reversed ranges (TQD-U3) and the "
        "ranges' shapes (TQD-U7), and says of axis only what it is for (TQD-X1)"
    ),
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=Absent("no table of facets describes a scale_factor that is computed from the range"),
)
