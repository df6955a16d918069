"""Usual mistakes of `onnx.DynamicQuantizeLinear`: a wrong step each, and two or three at once.

Each has two forms: all steps in float32, or in float64 but for what the mistake rounds and for y_scale.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tiebreak.conformance.operators import onnx_dynamic_quantize_linear_steps as own
from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.wrong_steps import WrongStep, frequent, pairs_of_steps, single_steps, step
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.conformance.variants import conversions

SCALE, POINT, QUOTIENT, RANGE = "scale", "zero-point", "round-first", "range"  # roles
WIDE = "the rest in float64"
SCALES = (
    frequent("range-over-steps-by-reciprocal", SCALE, scale=own.by_reciprocal_of_steps),
    frequent("reciprocal-of-steps-over-range", SCALE, scale=own.reciprocal_of_quotient),
    frequent("ends-divided-apart", SCALE, scale=own.ends_divided_apart),
    frequent("levels-as-steps", SCALE, scale=own.over(256)),
    frequent("counts-one-step-less", SCALE, scale=own.over(254)),
    frequent("narrower-by-one-bit", SCALE, scale=own.over(127)),
    frequent("scale-in:bfloat16", SCALE, scale=own.then(conversions.in_bfloat16)),
    frequent("scale-in:float16", SCALE, scale=own.then(conversions.in_float16)),
    frequent("scale-cut-off-to:bfloat16", SCALE, scale=own.then(conversions.cut_to_bfloat16)),
    frequent("scale-to-power-of-two-above", SCALE, scale=own.then(own.power_of_two_above)),
    frequent("scale-raised", SCALE, scale=own.then(lambda scale: np.maximum(scale, np.float32(conversions.EPSILON)))),
    frequent("flushes-scales", SCALE, scale=own.then(own.flushed)),
    frequent("scale-one-ulp:less", SCALE, scale=own.then(own.toward(0))),
    frequent("scale-one-ulp:more", SCALE, scale=own.then(own.toward(np.inf))),
)
POINTS = (
    frequent("zero-point-rounds:ties away from zero", POINT, point=own.point_by(ws.away)),
    frequent("zero-point-rounds:down", POINT, point=own.point_by(np.floor)),
    frequent("zero-point-rounds:up", POINT, point=own.point_by(np.ceil)),
    frequent("zero-point-by-reciprocal", POINT, point=own.point_by_reciprocal),
    frequent("zero-point-of-real-scale", POINT, point=own.point_of_real_scale),
    frequent("zero-point-of-steps-over-range", POINT, point=own.point_of_steps_over_range),
    frequent("zero-point-after-width", POINT, point=own.point_after_width),
    frequent("zero-point-from-max", POINT, point=own.point_from_max),
    frequent("ignores-zero-point", POINT, point=own.always(0)),
    frequent("zero-point-in-the-middle", POINT, point=own.always(128)),
)
RESULTS = (
    frequent("zero-point-first", QUOTIENT, y=own.sum_first),
    frequent("own-reciprocal", QUOTIENT, y=own.by_reciprocal),
    frequent("steps-over-range", QUOTIENT, y=own.by_steps_over_range),
    frequent("steps-before-width", QUOTIENT, y=own.product_first),
    frequent("steps-before-reciprocal-of-width", QUOTIENT, y=own.by_reciprocal_of_width),
    frequent("steps-after-width", QUOTIENT, y=own.width_first),
    frequent("divides-by-real-scale", QUOTIENT, y=own.by_real_scale),
    frequent("y-rounds:ties away from zero", QUOTIENT, y=own.quotient_by(ws.away)),
    frequent("y-rounds:toward zero", QUOTIENT, y=own.quotient_by(np.trunc)),
    frequent("y-rounds:down", QUOTIENT, y=own.quotient_by(np.floor)),
    frequent("y-rounds:up", QUOTIENT, y=own.quotient_by(np.ceil)),
    frequent("adds-half-and-truncates", QUOTIENT, y=own.quotient_by(own.half_added)),
    frequent("floor-of-half-more", QUOTIENT, y=own.quotient_by(own.half_more)),
    frequent("half-added-to-magnitude", QUOTIENT, y=own.quotient_by(own.half_to_magnitude)),
    frequent("reciprocal-plus-zero-point", QUOTIENT, y=own.reciprocal_and_sum_first),
    frequent("reciprocal-plus-zero-point-fused", QUOTIENT, y=own.reciprocal_and_fused_sum),
    frequent("zero-point-not-rounded", QUOTIENT, y=own.sum_of_unrounded),
    frequent("counts-from-min", QUOTIENT, y=own.from_min),
    frequent("range-formula", QUOTIENT, y=own.levels_from_min),
    frequent("clamps-before-zero-point", QUOTIENT, y=own.clamped_first),
    step("clamps-before-zero-point-and-wraps", QUOTIENT, y=own.clamped_first, finish=own.wrapped),
    step("ignores-zero-point:in y alone", QUOTIENT, y=own.quotient_alone),
    frequent("quotient-in:bfloat16", QUOTIENT, y=own.quotient_in(conversions.in_bfloat16)),
    frequent("quotient-in:float16", QUOTIENT, y=own.quotient_in(conversions.in_float16)),
    frequent("flushes-quotients", QUOTIENT, y=own.quotient_in(own.flushed)),
    frequent("subtracts-zero-point", QUOTIENT, y=own.point_subtracted),
)
INPUTS = (
    frequent("x-in:bfloat16", RANGE, x=conversions.in_bfloat16),
    frequent("x-in:float16", RANGE, x=conversions.in_float16),
    frequent("flushes-inputs", RANGE, x=own.flushed),
)
VECTORS = "the tail of a vector loop of {}"
RANGES = (  # likely alone, so in no pairs
    step("range-stays", RANGE, range=own.bare_range),
    step("range-made-symmetric", RANGE, range=own.symmetric_range),
    step("range-in:bfloat16", RANGE, range=own.range_in(conversions.in_bfloat16)),
    step("range-in:float16", RANGE, range=own.range_in(conversions.in_float16)),
    step("measures-all-but:the first", RANGE, range=own.range_of(lambda flat: flat[1:])),
    step("measures-all-but:the last", RANGE, range=own.range_of(lambda flat: flat[:-1])),
    *(
        step(f"measures-all-but:{VECTORS.format(n)}", RANGE, range=own.range_of(own.whole_vectors(n)))
        for n in (4, 8, 16, 32, 64)
    ),
    *(step(f"measures-only-first:{n}", RANGE, range=own.range_of(own.first(n))) for n in (1, 4, 8, 16, 32, 64)),
)
ENDS = (
    step("wraps", "saturate", finish=own.wrapped),
    step("highest-never", "saturate", finish=own.at_most(254)),
    step("highest-of-signed", "saturate", finish=own.at_most(127)),
)
ALL_FLUSHED = step("flushes-all", SCALE, x=own.flushed, scale=own.then(own.flushed), y=own.quotient_in(own.flushed))
STEPS: tuple[WrongStep, ...] = (*SCALES, *POINTS, *RESULTS, *INPUTS, *RANGES, *ENDS, ALL_FLUSHED)

# In float64 these are others of the table, or their sentences have no place for a form.
IN_FLOAT32_ALONE = (
    *("steps-before-width", "steps-after-width", "zero-point-after-width", "zero-point-not-rounded"),
    *("x-in", "range-in", "scale-in", "quotient-in"),
)


def in_float64() -> Iterator[WrongStep]:
    for one in STEPS:
        if not one.id.startswith(IN_FLOAT32_ALONE):
            yield replace(one, id=in_form(one.id), fields={**one.fields, "real": np.float64})


def in_form(id_: str, form: str = WIDE) -> str:
    """The id in a form of the formulas: behind the colon, or behind the parameter that is there."""
    return f"{id_}, {form}" if ":" in id_ else f"{id_}:{form}"


# What compilers make of divisions by a scale that is itself a product. A scalar is its own minimum and maximum, so what
# divides by the width has another expression to simplify there: the last says nothing of scalars.
COMPILED: tuple[tuple[tuple[str, str], dict[str, Any]], ...] = (
    (("zero-point-by-reciprocal", "own-reciprocal"), {}),
    (("zero-point-by-reciprocal", "steps-over-range"), {}),
    (("zero-point-by-reciprocal", "steps-before-width"), {}),
    (("zero-point-by-reciprocal", "steps-before-reciprocal-of-width"), {}),
    (("zero-point-after-width", "steps-after-width"), {"any_rank": False}),
)


def three_at_once() -> Iterator[tuple[Cause, Mistake]]:
    by_id = {one.id: one.fields for one in STEPS}
    for others, more in COMPILED:
        ids = ("range-over-steps-by-reciprocal", *others)
        fields = {name: value for id_ in ids for name, value in by_id[id_].items()}
        yield Cause(JOINT.join(ids), SCALE), own.pipeline(**fields, **more)


MISTAKES = single_steps(own.pipeline, (*STEPS, *in_float64()))
PAIRS = (*three_at_once(), *pairs_of_steps(own.pipeline, STEPS))
