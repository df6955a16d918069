"""Usual mistakes of `tensorflow.UniformRequantize`: those of every requantizer, and those of its range and parameters.

Each element has a scale and a zero point of either side. Which ones it takes is a step too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tiebreak.conformance.operators import tflite_requantize_mistakes as rq
from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.tensorflow_uniform import IN_PLACE, PLACES
from tiebreak.conformance.operators.tensorflow_uniform_requantize_parameters import (
    Ends,
    Places,
    ends_of,
    input_ends_of,
    spread,
)
from tiebreak.conformance.operators.tensorflow_uniform_requantize_ratio import (
    by_ratio_and_shift,
    of_any_word,
    of_flushed_scales,
    ratio_and_shift_or_input,
)
from tiebreak.conformance.operators.wrong_steps import WrongStep, frequent, pairs_of_steps, single_steps, step
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

WORD = INTEGER_TYPES["int32"]
LANES = 4  # of a vector of 128 bits
ROLES = {"same": "ratio", "nearest": "nearest", "saturate": "range"}  # of the steps that every requantizer has


def to_ends(node: Node, whole: Array, zero_point: Array) -> Array:
    return np.asarray(np.clip(whole + zero_point, *ends_of(node)))


def divisible(scale: Array, other: Array) -> tuple[Array, Array]:
    """The scales, or 1 where results are open. A negative one is a number like others."""
    return (
        np.where(np.isfinite(scale), scale, 1.0),
        np.where(np.isfinite(other) & (other != 0), other, 1.0),
    )


def pipeline(places: Places = IN_PLACE, **steps: Any) -> Mistake:
    """A requantizer with the right steps unless others are given."""
    requantize = rq.Requantizer(**({"whole": rq.real, "out": to_ends, "usable": divisible} | steps))

    def run(node: Node, x: Array, *parameters: Array) -> tuple[Array, ...]:
        if places is not IN_PLACE and max(array.size for array in parameters) < 2:
            raise NotImplementedError
        return requantize(node, x, *spread(node, x, parameters, places))

    return run


# The input


def through_float32(x: Array) -> Array:
    """An int32 rounded to float32 and cast back, which gives the lowest for what is beyond."""
    if x.dtype != np.int32:
        raise NotImplementedError
    found = x.astype(np.float32).astype(np.float64)
    return np.where(found > WORD.highest, WORD.lowest, found).astype(np.int32)


def in_float32_before_subtracting(x: Array, zero_point: Array) -> Array:
    return np.asarray(x.astype(np.float32) - zero_point.astype(np.float32)).astype(np.float64)


def difference_in_int32(x: Array, zero_point: Array) -> Array:
    return rq.words(x.astype(np.int64) - zero_point.astype(np.int64)).astype(np.float64)


# The output


def sum_in_int32(node: Node, whole: Array, zero_point: Array) -> Array:
    """The whole number saturates to int32, and the sum wraps around there; then the ends."""
    held = np.clip(whole, WORD.lowest, WORD.highest).astype(np.int64)
    return np.asarray(np.clip(rq.words(held + zero_point.astype(np.int64)), *ends_of(node)))


def wraps_in_vectors(node: Node, x: Array, *parameters: Array) -> tuple[Array, ...]:
    """The difference wraps around in int32 only in whole vectors; the numbers after them are subtracted in 64 bits."""
    if x.dtype == np.int32:
        raise NotImplementedError
    (in_vectors,) = pipeline(**MULTIPLIED)(node, x, *parameters)
    wide = {**MULTIPLIED, "whole": partial(rq.once, wide=True), "difference": rq.difference}
    (after,) = pipeline(**wide)(node, x, *parameters)
    return (np.where(are_in_vectors(node, x), in_vectors, after),)


def are_in_vectors(node: Node, x: Array) -> Array:
    """A mask of x's elements that lie in whole vectors; none where slices have parameters of their own."""
    axes = (int(node.value(f"{side}_quantization_axis")) for side in ("input", "output"))
    length = x.size // LANES * LANES if max(axes) < 0 else 0
    return (np.arange(x.size) < length).reshape(x.shape)


def with_ends(change: Callable[[Ends, Ends], Ends]) -> Callable[[Node, Array, Array], Array]:
    """Other ends, from those of the attributes and those of the type."""

    def out(node: Node, whole: Array, zero_point: Array) -> Array:
        kind = INTEGER_TYPES[node.output_type]
        own = ends_of(node)
        if (other := change(own, (kind.lowest, kind.highest))) == own:
            raise NotImplementedError
        return np.asarray(np.clip(whole + zero_point, *other))

    return out


def wrapped_to_ends(node: Node, whole: Array, zero_point: Array) -> Array:
    """Cast to the type, which wraps around; then the ends, as in a kernel that clips what it has stored."""
    return np.asarray(np.clip(in_type_of(node, whole.astype(np.int64) + zero_point), *ends_of(node)))


def in_type_of(node: Node, values: Array) -> Array:
    return np.asarray(values.astype(node.outputs[0].dtype).astype(np.int64))


def clamped_to_type_first(node: Node, whole: Array, zero_point: Array) -> Array:
    """Clamped to the type before the sum, which wraps around there; then the ends."""
    held = rq.saturated(node, whole, rq.none(zero_point)).astype(np.int64)
    return wrapped_to_ends(node, held, zero_point)


def clamped_first(node: Node, whole: Array, zero_point: Array) -> Array:
    return to_ends(node, np.clip(whole, *ends_of(node)), zero_point)


def clipped_input(node: Node, x: Array) -> Array:
    """The input between both of its ends first."""
    return np.asarray(np.clip(x, *input_ends_of(node)))


def of_clipped_input(node: Node, x: Array, *parameters: Array) -> tuple[Array, ...]:
    return RIGHT(node, clipped_input(node, x), *parameters)


RIGHT = pipeline()
OF_ENDS: tuple[tuple[str, Callable[[Ends, Ends], Ends]], ...] = (
    ("ignores:quantization_min_val and quantization_max_val", lambda own, kind: kind),
    ("ignores:quantization_min_val", lambda own, kind: (kind[0], own[1])),
    ("ignores:quantization_max_val", lambda own, kind: (own[0], kind[1])),
)
ENDS_LAST = "then clips to the range"
DIFFERENCES = (
    frequent("x-in:float32", "difference", x=through_float32),
    frequent("difference-wraps-in:int32", "difference", difference=difference_in_int32),
    frequent("converts-before-subtracting", "difference", difference=in_float32_before_subtracting),
)
OUTPUTS = (
    step(f"wraps:{ENDS_LAST}", "range", out=wrapped_to_ends),
    step(f"clamps-before-zero-point-and-wraps:{ENDS_LAST}", "range", out=clamped_to_type_first),
    frequent("wraps", "range", out=rq.wrapped),
    frequent("clamps-before-zero-point", "range", out=clamped_first),
    frequent("sum-wraps-in:int32", "range", out=sum_in_int32),
    *(step(key, "narrow", out=with_ends(change)) for key, change in OF_ENDS),
)
OF_NODES = ("real-result-rounded", "shifts-left")  # what begins so depends on attributes that tflite.Requantize has
SHARED = tuple(
    replace(one, role=ROLES[one.role]) for one in (*rq.WHOLE, *rq.INPUTS, *rq.SCALES) if not one.id.startswith(OF_NODES)
)
ROUNDINGS: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("toward zero", np.trunc),
    ("down", np.floor),
    ("up", np.ceil),
    ("away from zero", rq.from_zero),
)
WHOLE = tuple(
    step(f"real-result-rounded:{name}", "nearest", whole=partial(rq.real, whole=whole)) for name, whole in ROUNDINGS
)
STEPS: tuple[WrongStep, ...] = (*DIFFERENCES, *OUTPUTS, *WHOLE, *SHARED)
OF_PLACES = tuple((Cause(key, "projection"), pipeline((first, last))) for key, first, last in PLACES)
IN_VECTORS = "a difference beyond int32 only in whole vectors of 4"
MULTIPLIED: dict[str, Any] = {"whole": rq.once, "difference": difference_in_int32, "out": sum_in_int32}
OWN: tuple[tuple[Cause, Mistake], ...] = (
    (Cause("multiplier-of-31-bits-in-int32", "ratio"), pipeline(**MULTIPLIED)),
    (
        Cause(f"x-in:float32{JOINT}multiplier-of-31-bits-in-int32", "difference"),
        pipeline(x=through_float32, **MULTIPLIED),
    ),
    (Cause(f"multiplier-of-31-bits-in-int32:{IN_VECTORS}", "ratio"), wraps_in_vectors),
    (Cause("ratio-and-shift-or-input", "ratio"), ratio_and_shift_or_input),
    (Cause(f"flushes-scales{JOINT}ratio-and-shift-or-input", "ratio"), of_flushed_scales),
    (Cause(f"no-ends-of-int32{JOINT}ratio-and-shift-or-input", "range"), of_any_word),
    (Cause("ratio-and-shift-in-float32", "ratio"), partial(by_ratio_and_shift, False)),
    (Cause("ratio-and-shift-in-float32:fused", "ratio"), partial(by_ratio_and_shift, True)),
    (Cause("clips-input", "input-range"), of_clipped_input),
)
MISTAKES: tuple[tuple[Cause, Mistake], ...] = (*OF_PLACES, *OWN, *single_steps(pipeline, STEPS))
PAIRS: tuple[tuple[Cause, Mistake], ...] = pairs_of_steps(pipeline, STEPS)
