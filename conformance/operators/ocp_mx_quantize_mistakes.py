"""Usual mistakes of `ocp.MXQuantize` as small NumPy backends.

The pipeline has five steps: the greatest magnitude of each block, the scale's exponent, the scale's code, the quotient
and the element. What follows from a wrong step is computed as the documents say. Numbers are float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.model import Mistake
from tiebreak.conformance.operators.wrong_steps import WrongStep, frequent, pairs_of_steps, single_steps, step
from tiebreak.conformance.semantics.places import flush_subnormals
from tiebreak.conformance.semantics.type_grids import on_grid
from tiebreak.conformance.variants import conversions
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.ocp_mx_quantize import BLOCK, MODES, largest_element, largest_power
from tiebreak.golden.problem import Array

LEAST, MOST = -127.0, 127.0  # exponents of E8M0
EMIN = -126  # of float32
Change = Callable[[Array], Array]
OfNode = Callable[[Node, Array], Array]


# The right steps


def as_it_is(values: Array) -> Array:
    return values


def greatest(blocks: Array) -> Array:
    return np.asarray(np.abs(blocks).max(axis=-1))


def floor_log2(values: Array) -> Array:
    """floor(log2(values)), of 0 an exponent below all."""
    exponent = np.frexp(values)[1].astype(np.float64) - 1
    return np.where(values > 0, exponent, -1000.0)


def ceil_log2(values: Array) -> Array:
    below = floor_log2(values)
    return below + (values > np.ldexp(1.0, below.astype(np.int64)))


def emax(node: Node) -> float:
    return float(np.log2(largest_power(node.output_type)))


def by_mode(node: Node, amax: Array, mode: str = "") -> Array:
    """The scale's exponent by the node's scaling mode, or by another."""
    mode = mode or node.value("scaling_mode")
    if mode == "rceil":
        return np.maximum(of_quotient(node, amax), LEAST)
    if mode == "ceil":
        return ceil_log2(amax) - emax(node)
    return floor_log2(to_precision(node, amax) if mode == "even" else amax) - emax(node)


def of_quotient(node: Node, amax: Array) -> Array:
    """The exponent of rceil, which no range ends."""
    return ceil_log2((amax / largest_element(node.output_type)).astype(np.float32).astype(np.float64))


def to_precision(node: Node, values: Array) -> Array:
    kind = ELEMENT_TYPES[node.output_type]
    bits = kind.precision if isinstance(kind, FloatType) else 7
    part, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.rint(np.ldexp(part, bits)), exponent - bits))


def biased(exponent: Array) -> Array:
    return np.clip(exponent, LEAST, MOST) + 127


def divided(node: Node, blocks: Array, exponent: Array) -> Array:
    return np.ldexp(blocks, -np.clip(exponent, LEAST, MOST).astype(np.int64)[..., None])


def nearest(node: Node, quotients: Array, whole: Change = np.rint) -> Array:
    """Quotients on the grid of the element type, which goes on beyond its range."""
    kind = ELEMENT_TYPES[node.output_type]
    return on_grid(quotients, kind, whole) if isinstance(kind, FloatType) else whole(quotients * 64) / 64


def saturated(node: Node, values: Array) -> Array:
    return np.clip(values, -largest_element(node.output_type), largest_element(node.output_type))


def rounded(node: Node, quotients: Array) -> Array:
    return saturated(node, nearest(node, quotients))


@dataclass(frozen=True)
class BlockPipeline:
    """Steps in order, the right ones unless given. `x` changes the input first; `amax` takes whole blocks."""

    x: Change = as_it_is
    amax: Change = greatest
    exponent: OfNode = by_mode
    code: Change = biased
    divide: Callable[[Node, Array, Array], Array] = divided
    element: OfNode = rounded

    def __call__(self, node: Node, x: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            blocks = blocked(np.nan_to_num(self.x(x.astype(np.float64))))
            exponent = self.exponent(node, self.amax(blocks))
            quotients = self.divide(node, blocks, exponent)
            elements = self.element(node, quotients).reshape(*x.shape[:-1], blocks.shape[-2] * BLOCK)
            codes = self.code(exponent).astype(np.uint8)
        return as_elements(node, elements[..., : x.shape[-1]]), codes.view(node.outputs[1].dtype)


def pipeline(**steps: Any) -> Mistake:
    return BlockPipeline(**steps)


def blocked(x: Array) -> Array:
    """Blocks along a new last axis, the last of each row filled with zeros."""
    blocks = -(-x.shape[-1] // BLOCK)
    whole = np.zeros((*x.shape[:-1], blocks * BLOCK))
    whole[..., : x.shape[-1]] = x
    return whole.reshape(*x.shape[:-1], blocks, BLOCK)


def as_elements(node: Node, values: Array) -> Array:
    dtype = node.outputs[0].dtype
    return (values * 64).astype(np.int64).astype(dtype) if dtype == np.int8 else values.astype(dtype)


# What is measured


def some(*places: slice) -> Change:
    """The greatest magnitude of those elements of each block alone."""
    return lambda blocks: np.asarray(np.max([np.abs(blocks[..., place]).max(axis=-1) for place in places], axis=0))


def of_values(blocks: Array) -> Array:
    return np.asarray(np.abs(blocks.max(axis=-1)))


def shared(blocks_each: int) -> Change:
    """One magnitude for so many neighbouring blocks; 0 is a whole row. ValueError where there is but one."""

    def found(blocks: Array) -> Array:
        own = greatest(blocks)
        count = own.shape[-1]
        if count < 2:
            raise ValueError("there is nothing to mistake")
        starts = np.arange(count) // (blocks_each or count)
        first = np.unique(starts, return_index=True)[1]
        return np.maximum.reduceat(own, first, axis=-1)[..., starts]

    return found


def of_all(blocks: Array) -> Array:
    own = greatest(blocks)
    return np.broadcast_to(own.max(initial=0), own.shape)


def amax_in(change: Change) -> Change:
    return lambda blocks: change(greatest(blocks))


PLUS = "to positive zero"  # as a comparison gives it that puts 0, where one of bits keeps the sign


def plus_zero(values: Array) -> Array:
    """Every zero without its sign."""
    return np.where(values == 0, np.zeros_like(values), values)


flushed: Change = partial(flush_subnormals, emin=EMIN)
MEASURED = (
    step("amax-of:the values without their magnitudes", "block", amax=of_values),
    step("amax-of:all but the first", "block", amax=some(slice(1, None))),
    step("amax-of:all but the last", "block", amax=some(slice(None, -1))),
    *(step(f"amax-of:the first {count}", "block", amax=some(slice(count))) for count in (1, 4, 8, 16)),
    step("one-scale-for:64 elements", "block", amax=shared(2)),
    step("one-scale-for:each row", "block", amax=shared(0)),
    step("one-scale-for:the tensor", "block", amax=of_all),
    step("amax-in:bfloat16", "block", amax=amax_in(conversions.in_bfloat16)),
    step("amax-in:float16", "block", amax=amax_in(conversions.in_float16)),
)
INPUTS = (
    step("flushes-inputs", "elements", x=flushed),
    step(f"flushes-inputs:{PLUS}", "elements", x=lambda x: plus_zero(flushed(x))),
    step("x-in:bfloat16", "elements", x=conversions.in_bfloat16),
    step("x-in:float16", "elements", x=conversions.in_float16),
)

# The scale's exponent


def as_mode(mode: str) -> OfNode:
    def found(node: Node, amax: Array) -> Array:
        if node.value("scaling_mode") == mode or node.output_type == "int8":
            raise NotImplementedError
        return by_mode(node, amax, mode)

    return found


def further(step: int) -> OfNode:
    return lambda node, amax: by_mode(node, amax) + step


def log2_in_float32(node: Node, amax: Array) -> Array:
    """The exponent by a logarithm that is rounded to float32 before it is cut off."""
    mode, largest = node.value("scaling_mode"), largest_element(node.output_type)
    if mode == "rceil":
        return np.asarray(np.ceil(np.log2((amax / largest).astype(np.float32))), np.float64)
    given = (to_precision(node, amax) if mode == "even" else amax).astype(np.float32)
    return np.asarray((np.ceil if mode == "ceil" else np.floor)(np.log2(given)), np.float64) - emax(node)


def nearest_power(node: Node, amax: Array) -> Array:
    return np.asarray(np.rint(np.log2(amax / largest_element(node.output_type))))


def quotient_in_bfloat16(node: Node, amax: Array) -> Array:
    """The exponent of rceil by a quotient that is rounded to bfloat16, which may become zero."""
    return ceil_log2(conversions.in_bfloat16(amax / largest_element(node.output_type)))


def one_for_zeros(node: Node, amax: Array) -> Array:
    return np.where(amax == 0, 0.0, by_mode(node, amax))


EXPONENTS = (
    *(frequent(f"scaling-mode:{mode}", "scales", exponent=as_mode(mode)) for mode in MODES),
    frequent("scale-log2-in-float32", "scales", exponent=log2_in_float32),
    frequent("scale-to-nearest-power", "scales", exponent=nearest_power),
    frequent("scale-quotient-in:bfloat16", "scales", exponent=quotient_in_bfloat16),
    frequent("scale-exponent:more", "scales", exponent=further(1)),
    frequent("scale-exponent:less", "scales", exponent=further(-1)),
    frequent("zero-block-scale-one", "scales", exponent=one_for_zeros),
)

# The scale's code, the quotient


def or_one(exponent: Array) -> Array:
    """The exponent, of zero that of 1."""
    return np.where(exponent < -500, 0.0, exponent)


def wrapped(exponent: Array) -> Array:
    return np.asarray(np.mod(or_one(exponent) + 127, 256))


def endless(node: Node, amax: Array) -> Array:
    return of_quotient(node, amax) if node.value("scaling_mode") == "rceil" else by_mode(node, amax)


def unclamped(node: Node, blocks: Array, exponent: Array) -> Array:
    return np.ldexp(blocks, -or_one(exponent).astype(np.int64)[..., None])


def least_as(power: int) -> Callable[[Node, Array, Array], Array]:
    """The least scale stands for another power in the division."""
    return lambda node, blocks, exponent: divided(node, blocks, np.where(exponent <= LEAST, power, exponent))


WRAPS: dict[str, Any] = {"code": wrapped, "divide": unclamped}
SCALES = (
    frequent("scale-exponent-wraps", "scales", exponent=endless, **WRAPS),
    frequent("scale-exponent-wraps:the quotient in bfloat16", "scales", exponent=quotient_in_bfloat16, **WRAPS),
    frequent("least-scale-divides-as:2^-126", "scales", divide=least_as(-126)),
    frequent("least-scale-divides-as:1", "scales", divide=least_as(0)),
    frequent("least-scale-never", "scales", code=lambda exponent: np.maximum(biased(exponent), 1)),
)

# The element


def by_whole(whole: Change) -> OfNode:
    return lambda node, quotients: saturated(node, nearest(node, quotients, whole))


def through(change: Change) -> OfNode:
    return lambda node, quotients: rounded(node, change(quotients))


def least_normal(node: Node) -> float:
    kind = ELEMENT_TYPES[node.output_type]
    if not isinstance(kind, FloatType):
        raise NotImplementedError
    return float(2.0**kind.emin)


def without_subnormals(node: Node, quotients: Array) -> Array:
    found = rounded(node, quotients)
    return np.where(np.abs(found) < least_normal(node), np.copysign(0.0, found), found)


def without_signed_subnormals(node: Node, quotients: Array) -> Array:
    return plus_zero(without_subnormals(node, quotients))


def without_lowest_bit(whole: Array) -> Array:
    """Numbers of least steps, rounded to even ones toward zero after they were rounded."""
    return np.asarray(np.trunc(np.rint(whole) / 2) * 2)


def with_mantissa(element: OfNode) -> OfNode:
    """NotImplementedError for elements that are integers."""

    def found(node: Node, quotients: Array) -> Array:
        least_normal(node)
        return element(node, quotients)

    return found


def at_most_half(node: Node, quotients: Array) -> Array:
    half = largest_element(node.output_type) / 2
    return np.clip(nearest(node, quotients), -half, half)


def beyond_to(value: float) -> OfNode:
    """What rounds beyond the largest element is something else; NotImplementedError where a type lacks that."""

    def found(node: Node, quotients: Array) -> Array:
        kind = ELEMENT_TYPES[node.output_type]
        if not isinstance(kind, FloatType) or kind.nan_bits is None:
            raise NotImplementedError
        values = nearest(node, quotients)
        beyond = np.abs(values) > largest_element(node.output_type)
        return np.where(beyond, np.copysign(value, values), values)

    return found


def at_most_power(node: Node, quotients: Array) -> Array:
    """Elements end at the type's largest power of two."""
    return np.clip(nearest(node, quotients), -largest_power(node.output_type), largest_power(node.output_type))


def unsigned(node: Node, quotients: Array) -> Array:
    return np.abs(rounded(node, quotients))


ELEMENTS = (
    frequent("element-ties:away from zero", "nearest", element=by_whole(ws.away)),
    frequent("element-ties:toward zero", "nearest", element=by_whole(ws.toward_zero)),
    frequent("element-ties:upward", "nearest", element=by_whole(ws.upward)),
    frequent("elements-cut-off", "nearest", element=by_whole(np.trunc)),
    frequent("elements-rounded:down", "nearest", element=by_whole(np.floor)),
    frequent("elements-rounded:away from zero", "nearest", element=by_whole(ws.from_zero)),
    frequent("quotient-in:bfloat16", "nearest", element=through(conversions.in_bfloat16)),
    frequent("quotient-in:float16", "nearest", element=through(conversions.in_float16)),
    frequent("elements-flushed", "nearest", element=without_subnormals),
    step(f"elements-flushed:{PLUS}", "nearest", element=without_signed_subnormals),
    step("lowest-bit-lost", "nearest", element=with_mantissa(by_whole(without_lowest_bit))),
    frequent("beyond-elements:NaN", "nearest", element=beyond_to(np.nan)),
    frequent("beyond-elements:infinity", "nearest", element=beyond_to(np.inf)),
    frequent("elements-end-at-power", "nearest", element=at_most_power),
    step("ends-at:half the highest value", "nearest", element=with_mantissa(at_most_half)),
    frequent("elements-without-sign", "nearest", element=unsigned),
)
STEPS: tuple[WrongStep, ...] = (*ELEMENTS, *SCALES, *EXPONENTS, *INPUTS, *MEASURED)
MISTAKES = single_steps(pipeline, STEPS)
PAIRS = pairs_of_steps(pipeline, (*EXPONENTS, *SCALES, *ELEMENTS))
