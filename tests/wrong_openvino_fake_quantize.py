"""Wrong and right backends for openvino.FakeQuantize."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

from wrong_model import Array, WrongBackend

OPERATOR = "openvino.FakeQuantize"
F32 = (("float32", "float32"),)
NARROW = (("float16", "float16"), ("bfloat16", "bfloat16"))
ALL = (*F32, *NARROW, ("float64", "float64"))
SMALLEST_NORMAL = {"float16": 2.0**-14, "bfloat16": 2.0**-126, "float32": 2.0**-126, "float64": 2.0**-1022}
Element = Callable[..., Any]  # (x, input_low, input_high, output_low, output_high, levels - 1, its type) to a value


def elementwise(element: Element) -> Callable[..., tuple[Array, ...]]:
    """Each element by itself, with scalars of the node's type; levels - 1 as that type holds it."""

    def run(node: Any, x: Array, *limits: Array) -> tuple[Array, ...]:
        kind = x.dtype.type
        operands = [np.broadcast_to(p, x.shape) for p in (x, *limits)]
        n, found = kind(float(node.attributes["levels"] - 1)), np.empty(x.shape, x.dtype)
        for i in np.ndindex(*x.shape):
            found[i] = element(*(operand[i] for operand in operands), n, kind)
        return (found,)

    return run


def clipped(between: Element) -> Element:
    def element(x: Any, low: Any, high: Any, first: Any, last: Any, n: Any, kind: Any) -> Any:
        if x <= min(low, high):
            return first
        if x > max(low, high):
            return last
        return between(x, low, high, first, last, n, kind)

    return element


def nearest_even(q: Any, kind: Any) -> Any:
    """Through Python's round, which is half to even; NaN and infinities stay."""
    return kind(float(round(float(q)))) if math.isfinite(q) else q


def formula(x: Any, low: Any, high: Any, first: Any, last: Any, n: Any, kind: Any) -> Any:
    level = nearest_even((x - low) / (high - low) * n, kind)
    return level / n * (last - first) + first


right = clipped(formula)


def with_round(rounding: Callable[[Any, Any], Any]) -> Element:
    return clipped(lambda x, lo, hi, ol, oh, n, kind: rounding((x - lo) / (hi - lo) * n, kind) / n * (oh - ol) + ol)


def whole(function: Callable[[float], int]) -> Callable[[Any, Any], Any]:
    return lambda q, kind: kind(float(function(float(q)))) if math.isfinite(q) else q


def wide(kind: Any, element: Element) -> Element:
    """The same in another type, rounded to the node's by the caller."""
    return lambda x, lo, hi, ol, oh, n, _: element(*(kind(float(v)) for v in (x, lo, hi, ol, oh, n)), kind)


def affine(x: Any, low: Any, high: Any, first: Any, last: Any, n: Any, kind: Any) -> Any:
    """a * x + b with constants computed beforehand."""
    scale = n / (high - low)
    level = nearest_even(x * scale + -(low * scale), kind)
    return level * ((last - first) / n) + first


def interpolated(x: Any, low: Any, high: Any, first: Any, last: Any, n: Any, kind: Any) -> Any:
    """output_low * (1 - t) + output_high * t."""
    t = nearest_even((x - low) / (high - low) * n, kind) / n
    return first * (kind(1.0) - t) + last * t


def late_low(x: Any, low: Any, high: Any, first: Any, last: Any, n: Any, kind: Any) -> Any:
    """x / range - low / range."""
    level = nearest_even((x / (high - low) - low / (high - low)) * n, kind)
    return level / n * (last - first) + first


def levels_first(x: Any, low: Any, high: Any, first: Any, last: Any, n: Any, kind: Any) -> Any:
    level = nearest_even((x - low) * n / (high - low), kind)
    return level / n * (last - first) + first


def product_first(x: Any, low: Any, high: Any, first: Any, last: Any, n: Any, kind: Any) -> Any:
    level = nearest_even((x - low) / (high - low) * n, kind)
    return level * (last - first) / n + first


def no_branches(x: Any, low: Any, high: Any, first: Any, last: Any, n: Any, kind: Any) -> Any:
    return formula(max(min(x, high), low), low, high, first, last, n, kind)


def with_levels(change: Callable[[Any, Any], Any]) -> Element:
    return lambda x, lo, hi, ol, oh, n, kind: right(x, lo, hi, ol, oh, change(n, kind), kind)


def flushed(value: Any) -> Any:
    return value * value.dtype.type(float(abs(value) >= SMALLEST_NORMAL[value.dtype.name]))


def strict_low(x: Any, low: Any, high: Any, first: Any, last: Any, n: Any, kind: Any) -> Any:
    """x < min where the document has x <= min: nothing is left of binarization at the limit."""
    return first if x < min(low, high) else last if x >= max(low, high) else formula(x, low, high, first, last, n, kind)


def drops_infinity(x: Any, low: Any, high: Any, first: Any, last: Any, n: Any, kind: Any) -> Any:
    return first if not math.isfinite(x) else right(x, low, high, first, last, n, kind)


def binary_only(x: Any, low: Any, high: Any, first: Any, last: Any, n: Any, kind: Any) -> Any:
    """Equal limits give output_low."""
    return first if low == high else right(x, low, high, first, last, n, kind)


def flat_is_zero(x: Any, low: Any, high: Any, first: Any, last: Any, n: Any, kind: Any) -> Any:
    return kind(0.0) if first == last else right(x, low, high, first, last, n, kind)


def int8_levels(x: Any, low: Any, high: Any, first: Any, last: Any, n: Any, kind: Any) -> Any:
    return right(x, low, high, first, last, min(n, kind(255.0)), kind)


def shaped(change: Callable[..., tuple[Array, ...]]) -> Callable[..., tuple[Array, ...]]:
    """The right arithmetic on limits that were changed as whole tensors."""

    def run(node: Any, x: Array, *limits: Array) -> tuple[Array, ...]:
        return elementwise(right)(node, x, *change(x, *limits))

    return run


def of_first(x: Array, *limits: Array) -> tuple[Array, ...]:
    return tuple(np.broadcast_to(p.reshape(-1)[:1].reshape(()), ()) if p.size else p for p in limits)


def axes_from_the_left(x: Array, *limits: Array) -> tuple[Array, ...]:
    """Shapes aligned at the first axis where that fits."""

    def aligned(p: Array) -> Array:
        shape = p.shape + (1,) * (x.ndim - p.ndim)
        fits = all(own in (1, size) for own, size in zip(shape, x.shape, strict=True))
        return p.reshape(shape) if fits else p

    return tuple(map(aligned, limits))


def like_the_first(x: Array, *limits: Array) -> tuple[Array, ...]:
    """Each limit's elements taken in row-major order at the places of input_low's."""
    low = limits[0]
    places = np.broadcast_to(np.arange(low.size).reshape(low.shape), x.shape)
    return tuple(p.reshape(-1)[places % p.size] if p.size else p for p in limits)


def tail_truncates(node: Any, x: Array, *limits: Array) -> tuple[Array, ...]:
    """The elements after the last whole vector of 16 are truncated."""
    (good,), (bad,) = elementwise(right)(node, x, *limits), elementwise(with_round(whole(math.floor)))(node, x, *limits)
    tail = np.arange(x.size).reshape(x.shape) >= x.size - x.size % 16 if x.size > 16 else np.zeros(x.shape, bool)
    return (np.where(tail, bad, good),)


def exact(node: Any, x: Array, *limits: Array) -> tuple[Array, ...]:
    """In fractions, rounded once; NaN where an operand is not finite and the document's branches don't decide."""
    operands = [np.broadcast_to(p, x.shape).astype(np.float64) for p in (x, *limits)]
    found, n = np.empty(x.shape, np.float64), node.attributes["levels"] - 1
    for i in np.ndindex(*x.shape):
        found[i] = exact_element(n, *(float(operand[i]) for operand in operands))
    return (narrowed(found, x.dtype),)


def exact_element(n: int, x: float, low: float, high: float, first: float, last: float) -> float:
    if math.isnan(low) or math.isnan(high) or math.isnan(x):
        return math.nan
    if x <= min(low, high) or x > max(low, high):
        return first if x <= min(low, high) else last
    if not all(map(math.isfinite, (low, high, first, last))):
        return math.nan
    level = round((Fraction(x) - Fraction(low)) * n / (Fraction(high) - Fraction(low)))
    value = (Fraction(first) * (n - level) + Fraction(last) * level) / n
    return odd(value)


def odd(value: Fraction) -> float:
    """A double that rounds to a narrower type as the value does: truncated, with an odd last bit if inexact."""
    near = float(value)
    if Fraction(near) == value:
        return near
    below = near if abs(Fraction(near)) < abs(value) else math.nextafter(near, 0.0)
    return below if math.frexp(below)[0] * 2**53 % 2 else math.nextafter(below, math.copysign(math.inf, below))


def narrowed(values: Array, dtype: Any) -> Array:
    """To bfloat16 by way of a float32 that is made odd where it is inexact, lest rounding twice goes wrong."""
    if dtype != ml_dtypes.bfloat16:
        return np.asarray(values.astype(dtype))
    single = values.astype(np.float32)
    away = np.abs(single.astype(np.float64)) > np.abs(values)
    below = np.where(away, np.nextafter(single, np.float32(0)), single)
    inexact = below.astype(np.float64) != values
    return np.asarray((below.view(np.uint32) | inexact.astype(np.uint32)).view(np.float32).astype(dtype))


def vectorized(node: Any, x: Array, *limits: Array) -> tuple[Array, ...]:
    """Whole arrays in the node's type."""
    low, high, first, last = (np.broadcast_to(p, x.shape) for p in limits)
    n = x.dtype.type(float(node.attributes["levels"] - 1))
    between = np.rint((x - low) / (high - low) * n) / n * (last - first) + first
    inside = (x > np.minimum(low, high)) & (x <= np.maximum(low, high))
    ends = np.where(x > np.maximum(low, high), last, first)
    return (np.where(inside, between, ends).astype(x.dtype),)


def wrong(name: str, element: Element, flag: str, types: Any = F32) -> WrongBackend:
    return WrongBackend(f"fake quantize: {name}", OPERATOR, elementwise(element), flag, types)


def tensorwise(name: str, run: Callable[..., tuple[Array, ...]], flag: str, types: Any = F32) -> WrongBackend:
    return WrongBackend(f"fake quantize: {name}", OPERATOR, run, flag, types)


WRONG = (
    wrong("truncates", with_round(whole(math.floor)), "NearTie", ALL),
    wrong("rounds up", with_round(whole(math.ceil)), "NearTie", ALL),
    wrong("adds a half in the type", with_round(lambda q, kind: whole(math.floor)(q + kind(0.5), kind)), "NearTie"),
    wrong("no round", with_round(lambda q, kind: q), "NearTie", ALL),
    wrong("scale and shift beforehand", clipped(affine), "PrecisionSensitive"),
    wrong("scale and shift, nothing clipped exactly", lambda x, lo, hi, *rest:
          affine(min(max(x, lo), hi), lo, hi, *rest), "InputEdge"),
    wrong("interpolates the output", clipped(interpolated), "OutputStep"),
    wrong("multiplies by levels - 1 before dividing", clipped(levels_first), "Overflow"),
    wrong("in bfloat16", wide(ml_dtypes.bfloat16, right), "NearTie"),
    wrong("in float16", wide(np.float16, right), "NearTie"),
    wrong("in float32 for float64", wide(np.float32, right), "NearTie", (("float64", "float64"),)),
    wrong("levels for levels - 1", with_levels(lambda n, kind: n + kind(1.0)), "OutputStep"),
    wrong("levels - 2", with_levels(lambda n, kind: max(n - kind(1.0), kind(1.0))), "OutputStep"),
    wrong("at most 256 levels", int8_levels, "ManyLevels", (*F32, ("float16", "float16"))),
    wrong("no clipping", formula, "InputEdge", ALL),
    wrong("clips to [input_low, input_high] in that order", no_branches, "ReversedInput"),
    wrong("clips first, divides by zero", no_branches, "EqualLimits", ALL),
    wrong("limits sorted", lambda x, lo, hi, *rest: right(x, min(lo, hi), max(lo, hi), *rest), "ReversedInput", ALL),
    wrong("limits swapped with their outputs", lambda x, lo, hi, ol, oh, *rest:
          right(x, lo, hi, ol, oh, *rest) if lo <= hi else right(x, hi, lo, oh, ol, *rest), "ReversedInput"),
    wrong("equal outputs give zero", flat_is_zero, "ReversedOutput"),
    wrong("equal limits give output_low", binary_only, "EqualLimits"),
    wrong("x at the limit counted above it", strict_low, "EqualLimits", ALL),
    wrong("infinite x gives output_low", drops_infinity, "InfiniteInput"),
    wrong("flushes subnormal x and limits", lambda *v: right(*map(flushed, v[:5]), *v[5:]), "Subnormal"),
    wrong("flushes subnormal outputs", lambda *v: flushed(v[-1](right(*v))), "Subnormal"),
    wrong("output_low forgotten", clipped(lambda x, lo, hi, ol, oh, *r: formula(x, lo, hi, ol, oh, *r) - ol),
          "OutputStep"),
    wrong("output_high for the range", clipped(lambda x, lo, hi, ol, oh, n, kind:
          nearest_even((x - lo) / (hi - lo) * n, kind) / n * oh + ol), "Cancellation"),
    tensorwise("one limit for all", shaped(of_first), "PerAxis", ALL),
    tensorwise("one limit for all, several axes", shaped(of_first), "MultiAxis"),
    tensorwise("shapes aligned from the left", shaped(axes_from_the_left), "PerAxis"),
    tensorwise("all limits spread as input_low is", shaped(like_the_first), "MixedShapes", ALL),
    tensorwise("the tail truncates", tail_truncates, "Lane"),
)  # fmt: skip
# Another order of the document's steps: no deviation.
OTHER_ORDERS = (
    wrong("divides x and low apart", clipped(late_low), "ScaleAndShift"),
    wrong("multiplies by the output range before dividing", clipped(product_first), "OutputStep"),
)
RIGHT = (
    wrong(
        "outputs sorted",
        lambda x, lo, hi, ol, oh, *rest: right(x, lo, hi, *((oh, ol) if ol > oh else (ol, oh)), *rest),
        "",
        ALL,
    ),
    wrong("step by step, element by element", right, "", ALL),
    tensorwise("step by step, whole arrays", vectorized, "", ALL),
    tensorwise("fractions, rounded once", exact, "", (*F32, *NARROW)),
)
