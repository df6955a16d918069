"""Usual mistakes of `onnx.DynamicQuantizeLinear` as small NumPy backends.

A backend has four parts: the range that it measures, the scale, the zero point, and y. A mistake replaces one of them;
what follows from it is computed as the document says. Each mistake has two forms: all steps in float32, or in float64
but for what the mistake rounds and for y_scale, which is a float32.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

STEPS, F = np.float32(255), np.float32
LEAST_NORMAL = np.finfo(F).tiny
RAISED = F(2.0**-23)


@dataclass(frozen=True)
class Given:
    """What y is computed from: x, both ends of its range, the scale and the zero point, an integer; all float32."""

    x: Array
    low: Any
    high: Any
    scale: Any = 0
    point: Any = 0


Range = Callable[[Array], tuple[Any, Any]]
Part = Callable[[Given], Any]


@dataclass(frozen=True)
class Parts:
    """The parts of a backend. `x` changes the input before everything else."""

    x: Callable[[Array], Array]
    range: Range
    scale: Part
    point: Part
    y: Part


# The right parts


def as_it_is(x: Array) -> Array:
    return x


def range_with_zero(x: Array) -> tuple[Any, Any]:
    return np.min(x, initial=F(0)), np.max(x, initial=F(0))


def width_over_steps(g: Given) -> Any:
    return (g.high - g.low) / STEPS


def rounded_point(g: Given) -> Any:
    return np.rint(np.clip(-(g.low / g.scale), 0, STEPS))


def rounded_first(g: Given) -> Any:
    return np.rint(g.x / g.scale) + g.point


RIGHT = Parts(as_it_is, range_with_zero, width_over_steps, rounded_point, rounded_first)


def saturated(values: Any) -> Array:
    return np.asarray(np.clip(np.nan_to_num(values, nan=0.0), 0, STEPS).astype(np.uint8))


def backend(parts: Parts, finish: Callable[[Any], Array] = saturated, real: type = F) -> Mistake:
    """A backend of these parts, whose steps are of the type `real`; `finish` makes uint8 of y's values."""

    def run(node: Node, x: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            given = Given(parts.x(x).astype(real), *map(real, parts.range(parts.x(x))))
            given = replace(given, scale=real(F(parts.scale(given))))
            given = replace(given, point=real(saturated(parts.point(given))))
            outputs = finish(parts.y(given)), np.asarray(F(given.scale)), saturated(given.point)
        shapes: tuple[tuple[int, ...], ...] = (x.shape, (), ())
        return tuple(np.asarray(output).reshape(shape) for output, shape in zip(outputs, shapes, strict=True))

    return run


# The input and its range


def rounded_to(kind: str) -> Callable[[Any], Any]:
    dtype = np.dtype(getattr(ml_dtypes, kind, kind))
    return lambda values: np.asarray(values, F).astype(dtype).astype(F)


def flushed(values: Any) -> Any:
    return np.where(np.abs(values) < LEAST_NORMAL, F(0), values)


def bare_range(x: Array) -> tuple[Any, Any]:
    return np.min(x), np.max(x)


def symmetric_range(x: Array) -> tuple[Any, Any]:
    greatest = np.max(np.abs(x), initial=F(0))
    return -greatest, greatest


def range_of(some: Callable[[Array], Array]) -> Range:
    """The range of some elements of the flat input; ValueError where that is all of them, or none."""

    def found(x: Array) -> tuple[Any, Any]:
        flat = x.reshape(-1)
        chosen = some(flat)
        if chosen.size in (0, flat.size):
            raise ValueError("there is nothing to mistake")
        return range_with_zero(chosen)

    return found


def whole_vectors(width: int) -> Callable[[Array], Array]:
    return lambda flat: flat[: flat.size // width * width]


def first(count: int) -> Callable[[Array], Array]:
    return lambda flat: flat[:count]


def range_in(kind: str) -> Range:
    def found(x: Array) -> tuple[Any, Any]:
        low, high = map(rounded_to(kind), range_with_zero(x))
        return low, high

    return found


RANGES: tuple[tuple[str, Range], ...] = (
    ("range-stays", bare_range),
    ("range-made-symmetric", symmetric_range),
    ("range-in:bfloat16", range_in("bfloat16")),
    ("range-in:float16", range_in("float16")),
    ("measures-all-but:the first", range_of(lambda flat: flat[1:])),
    ("measures-all-but:the last", range_of(lambda flat: flat[:-1])),
    *((f"measures-all-but:the tail of a vector loop of {n}", range_of(whole_vectors(n))) for n in (4, 8, 16, 32, 64)),
    *((f"measures-only-first:{n}", range_of(first(n))) for n in (1, 4, 8, 16, 32, 64)),
)
INPUTS: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("x-in:bfloat16", rounded_to("bfloat16")),
    ("x-in:float16", rounded_to("float16")),
    ("flushes-inputs", flushed),
)

# The scale


def over(steps: float) -> Part:
    return lambda g: (g.high - g.low) / F(steps)


def by_reciprocal_of_steps(g: Given) -> Any:
    return (g.high - g.low) * F(1 / STEPS)


def reciprocal_of_quotient(g: Given) -> Any:
    return 1 / F(STEPS / (g.high - g.low))


def ends_divided_apart(g: Given) -> Any:
    return g.high / STEPS - g.low / STEPS


def then(change: Callable[[Any], Any]) -> Part:
    return lambda g: change(width_over_steps(g))


def power_of_two_above(scale: Any) -> Any:
    return np.exp2(np.ceil(np.log2(np.float64(scale))))


def cut_off(kind: int) -> Callable[[Any], Any]:
    mask = np.uint32(0xFFFFFFFF << kind & 0xFFFFFFFF)
    return lambda values: (np.asarray(values, F).reshape(1).view(np.uint32) & mask).view(F)[0]


def lower_by_an_ulp(scale: Any) -> Any:
    return np.nextafter(F(scale), F(0))


def higher_by_an_ulp(scale: Any) -> Any:
    return np.nextafter(F(scale), F(np.inf))


SCALES: tuple[tuple[str, Part], ...] = (
    ("range-over-steps-by-reciprocal", by_reciprocal_of_steps),
    ("reciprocal-of-steps-over-range", reciprocal_of_quotient),
    ("ends-divided-apart", ends_divided_apart),
    ("levels-as-steps", over(256)),
    ("counts-one-step-less", over(254)),
    ("narrower-by-one-bit", over(127)),
    ("scale-in:bfloat16", then(rounded_to("bfloat16"))),
    ("scale-in:float16", then(rounded_to("float16"))),
    ("scale-cut-off-to:bfloat16", then(cut_off(16))),
    ("scale-to-power-of-two-above", then(power_of_two_above)),
    ("scale-raised", then(lambda scale: np.maximum(scale, RAISED))),
    ("flushes-scales", then(flushed)),
    ("scale-one-ulp:less", then(lower_by_an_ulp)),
    ("scale-one-ulp:more", then(higher_by_an_ulp)),
)

# The zero point


def point_by(round_: Callable[[Any], Any]) -> Part:
    return lambda g: round_(np.clip(-(g.low / g.scale), 0, STEPS))


def half_away(values: Any) -> Any:
    wide = np.asarray(values, np.float64)
    return np.trunc(wide + np.copysign(0.5, wide))


def point_by_reciprocal(g: Given) -> Any:
    return np.rint(np.clip(-(g.low * F(1 / g.scale)), 0, STEPS))


def point_of_real_scale(g: Given) -> Any:
    return np.rint(np.clip(-g.low * np.float64(255) / (np.float64(g.high) - np.float64(g.low)), 0, 255))


def point_of_steps_over_range(g: Given) -> Any:
    return np.rint(np.clip(-g.low * F(STEPS / (g.high - g.low)), 0, STEPS))


def point_of_quotient_by_width(g: Given) -> Any:
    return np.rint(np.clip(-(g.low / (g.high - g.low) * STEPS), 0, STEPS))


def point_from_max(g: Given) -> Any:
    return np.rint(np.clip(STEPS - g.high / g.scale, 0, STEPS))


def no_point(g: Given) -> Any:
    return F(0)


def middle_point(g: Given) -> Any:
    return F(128)


POINTS: tuple[tuple[str, Part], ...] = (
    ("zero-point-rounds:ties away from zero", point_by(half_away)),
    ("zero-point-rounds:down", point_by(np.floor)),
    ("zero-point-rounds:up", point_by(np.ceil)),
    ("zero-point-by-reciprocal", point_by_reciprocal),
    ("zero-point-of-real-scale", point_of_real_scale),
    ("zero-point-of-steps-over-range", point_of_steps_over_range),
    ("zero-point-after-width", point_of_quotient_by_width),
    ("zero-point-from-max", point_from_max),
    ("ignores-zero-point", no_point),
    ("zero-point-in-the-middle", middle_point),
)

# y


def sum_first(g: Given) -> Any:
    return np.rint(g.x / g.scale + g.point)


def sum_of_unrounded(g: Given) -> Any:
    return np.rint(g.x / g.scale + -(g.low / g.scale))


def from_min(g: Given) -> Any:
    return np.rint((g.x - g.low) / g.scale)


def by_reciprocal(g: Given) -> Any:
    return np.rint(g.x * F(1 / g.scale)) + g.point


def reciprocal_and_sum_first(g: Given) -> Any:
    return np.rint(g.x * F(1 / g.scale) + g.point)


def reciprocal_and_fused_sum(g: Given) -> Any:
    return np.rint((np.float64(g.x) * np.float64(F(1 / g.scale)) + g.point).astype(F))


def by_steps_over_range(g: Given) -> Any:
    return np.rint(g.x * F(STEPS / (g.high - g.low))) + g.point


def product_first(g: Given) -> Any:
    return np.rint(g.x * STEPS / (g.high - g.low)) + g.point


def quotient_by_width_first(g: Given) -> Any:
    return np.rint(g.x / (g.high - g.low) * STEPS) + g.point


def by_reciprocal_of_width(g: Given) -> Any:
    return np.rint(g.x * STEPS * F(1 / (g.high - g.low))) + g.point


def by_real_scale(g: Given) -> Any:
    return np.rint(np.float64(g.x) * 255 / (np.float64(g.high) - np.float64(g.low))) + g.point


def quotient_by(round_: Callable[[Any], Any]) -> Part:
    return lambda g: round_(g.x / g.scale) + g.point


def half_more(values: Any) -> Any:
    return np.floor(F(values) + F(0.5))


def half_added(values: Any) -> Any:
    return np.trunc(F(values) + F(0.5))


def half_to_magnitude(values: Any) -> Any:
    return np.trunc(F(values) + np.copysign(F(0.5), F(values)))


def quotient_in(kind: str) -> Part:
    return lambda g: np.rint(rounded_to(kind)(g.x / g.scale)) + g.point


def without_sign_first(g: Given) -> Any:
    return np.clip(np.rint(g.x / g.scale), 0, STEPS) + g.point


def steps_from_low(g: Given) -> Any:
    """A FakeQuantize of the range: the level counted from its lower end."""
    return np.rint((g.x - g.low) / (g.high - g.low) * STEPS)


RESULTS: tuple[tuple[str, Part], ...] = (
    ("zero-point-first", sum_first),
    ("own-reciprocal", by_reciprocal),
    ("steps-over-range", by_steps_over_range),
    ("steps-before-width", product_first),
    ("steps-before-reciprocal-of-width", by_reciprocal_of_width),
    ("steps-after-width", quotient_by_width_first),
    ("divides-by-real-scale", by_real_scale),
    ("y-rounds:ties away from zero", quotient_by(half_away)),
    ("y-rounds:toward zero", quotient_by(np.trunc)),
    ("y-rounds:down", quotient_by(np.floor)),
    ("y-rounds:up", quotient_by(np.ceil)),
    ("adds-half-and-truncates", quotient_by(half_added)),
    ("floor-of-half-more", quotient_by(half_more)),
    ("half-added-to-magnitude", quotient_by(half_to_magnitude)),
    ("reciprocal-plus-zero-point", reciprocal_and_sum_first),
    ("reciprocal-plus-zero-point-fused", reciprocal_and_fused_sum),
    ("zero-point-not-rounded", sum_of_unrounded),
    ("counts-from-min", from_min),
    ("range-formula", steps_from_low),
    ("clamps-before-zero-point", without_sign_first),
    ("quotient-in:bfloat16", quotient_in("bfloat16")),
    ("quotient-in:float16", quotient_in("float16")),
    ("flushes-quotients", lambda g: np.rint(flushed(g.x / g.scale)) + g.point),
    ("subtracts-zero-point", lambda g: np.rint(g.x / g.scale) - g.point),
)


def wrapped(values: Any) -> Array:
    return np.asarray(np.nan_to_num(values, nan=0.0, posinf=0, neginf=0).astype(np.int64).astype(np.uint8))


def one_less(values: Any) -> Array:
    return np.minimum(saturated(values), np.uint8(254))


def as_signed(values: Any) -> Array:
    return np.minimum(saturated(values), np.uint8(127))


FINISHES = (("wraps", wrapped), ("highest-never", one_less), ("highest-of-signed", as_signed))

Change = tuple[str, str, dict[str, Any]]  # a cause's id, its role, and the parts that it replaces
RANGE_CHANGES: tuple[Change, ...] = (
    *((id_, "range", {"range": part}) for id_, part in RANGES),
    *((id_, "range", {"x": part}) for id_, part in INPUTS),
)
SCALE_CHANGES: tuple[Change, ...] = tuple((id_, "scale", {"scale": part}) for id_, part in SCALES)
POINT_CHANGES: tuple[Change, ...] = tuple((id_, "zero-point", {"point": part}) for id_, part in POINTS)
RESULT_CHANGES: tuple[Change, ...] = tuple((id_, "round-first", {"y": part}) for id_, part in RESULTS)


# In float64 these are others of the table, or their sentences have no place for a form.
IN_FLOAT32_ALONE = (
    "steps-before-width",
    "steps-after-width",
    "zero-point-after-width",
    "zero-point-not-rounded",
    "x-in",
    "range-in",
    "scale-in",
    "quotient-in",
)


def single_mistakes() -> Iterator[tuple[Cause, Mistake]]:
    changes = (*SCALE_CHANGES, *POINT_CHANGES, *RESULT_CHANGES, *RANGE_CHANGES)
    for real, form in ((F, ""), (np.float64, "the rest in float64")):
        for id_, role, parts in changes:
            if not form or not id_.startswith(IN_FLOAT32_ALONE):
                yield Cause(in_form(id_, form), role), backend(replace(RIGHT, **parts), real=real)
        for id_, finish in FINISHES:
            yield Cause(in_form(id_, form), "saturate"), backend(RIGHT, finish, real)
        yield Cause(in_form("flushes-all", form), "scale"), backend(all_flushed(), real=real)


def in_form(id_: str, form: str) -> str:
    """The id in a form of the formulas: behind the colon, or behind the parameter that is there."""
    return id_ if not form else f"{id_}, {form}" if ":" in id_ else f"{id_}:{form}"


def all_flushed() -> Parts:
    return replace(RIGHT, x=flushed, scale=then(flushed), y=lambda g: np.rint(flushed(g.x / g.scale)) + g.point)


def pairs_of_mistakes() -> Iterator[tuple[Cause, Mistake]]:
    """Two mistakes in different parts, the earlier part's role. A wrong range is likely alone."""
    of_input = tuple(change for change in RANGE_CHANGES if "x" in change[2])
    for first, second in combinations((of_input, SCALE_CHANGES, POINT_CHANGES, RESULT_CHANGES), 2):
        for one, role, parts in first:
            for other, _, further in second:
                yield Cause(f"{one}{JOINT}{other}", role), backend(replace(RIGHT, **parts, **further))


# What compilers make of the divisions by the scale, which is itself a product.
TOGETHER = ("zero-point-after-width", "steps-after-width")
COMPILED = (
    ("zero-point-by-reciprocal", "own-reciprocal"),
    ("zero-point-by-reciprocal", "steps-over-range"),
    ("zero-point-by-reciprocal", "steps-before-width"),
    ("zero-point-by-reciprocal", "steps-before-reciprocal-of-width"),
    TOGETHER,
)


def reciprocals_for_divisions() -> Iterator[tuple[Cause, Mistake]]:
    """Compilers that divide by constants and computed scales in other ways: three mistakes at once.

    A scalar is its own minimum and maximum. What divides by the width first has another expression to simplify there,
    so TOGETHER says nothing of scalars.
    """
    changes = {id_: parts for id_, _, parts in (*SCALE_CHANGES, *POINT_CHANGES, *RESULT_CHANGES)}
    for other in COMPILED:
        ids = ("range-over-steps-by-reciprocal", *other)
        parts = {name: part for id_ in ids for name, part in changes[id_].items()}
        mistake = backend(replace(RIGHT, **parts))
        yield Cause(JOINT.join(ids), "scale"), from_rank_one(mistake) if other is TOGETHER else mistake


def from_rank_one(mistake: Mistake) -> Mistake:
    """The mistake for all inputs but scalars; ValueError for these."""

    def run(node: Node, x: Array) -> tuple[Array, ...]:
        if not x.ndim:
            raise ValueError("there is nothing to mistake")
        return mistake(node, x)

    return run


MISTAKES = tuple(single_mistakes())
PAIRS = (*reciprocals_for_divisions(), *pairs_of_mistakes())
