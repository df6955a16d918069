"""Usual mistakes of `ocp.MXQuantize` as small NumPy backends.

A backend has five parts: the greatest magnitude of each block, the scale's exponent, the scale's code, the quotient and
the element. A mistake replaces one of them; what follows from it is computed as the documents say. Numbers are float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.onnx_cast_mistakes import on_grid
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.ocp_mx_quantize import BLOCK, MODES, largest_element, largest_power
from tiebreak.golden.problem import Array

LEAST, MOST = -127.0, 127.0  # exponents of E8M0
LEAST_NORMAL = 2.0**-126
Change = Callable[[Array], Array]
OfNode = Callable[[Node, Array], Array]


@dataclass(frozen=True)
class BlockParts:
    """`x` changes the input first. `amax` takes whole blocks, along the last axis, and the lengths that are there."""

    x: Change
    amax: Change
    exponent: OfNode
    code: Change
    divide: Callable[[Node, Array, Array], Array]
    element: OfNode


# The right parts


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


def nearest(node: Node, quotients: Array, step: Change = np.rint) -> Array:
    """Quotients on the grid of the element type, which goes on beyond its range."""
    kind = ELEMENT_TYPES[node.output_type]
    return on_grid(kind, quotients, step) if isinstance(kind, FloatType) else step(quotients * 64) / 64


def saturated(node: Node, values: Array) -> Array:
    return np.clip(values, -largest_element(node.output_type), largest_element(node.output_type))


def rounded(node: Node, quotients: Array) -> Array:
    return saturated(node, nearest(node, quotients))


RIGHT = BlockParts(as_it_is, greatest, by_mode, biased, divided, rounded)


def backend(parts: BlockParts) -> Mistake:
    def run(node: Node, x: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            blocks = blocked(np.nan_to_num(parts.x(x.astype(np.float64))))
            exponent = parts.exponent(node, parts.amax(blocks))
            quotients = parts.divide(node, blocks, exponent)
            elements = parts.element(node, quotients).reshape(*x.shape[:-1], blocks.shape[-2] * BLOCK)
            codes = parts.code(exponent).astype(np.uint8)
        return as_elements(node, elements[..., : x.shape[-1]]), codes.view(node.outputs[1].dtype)

    return run


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


def rounded_to(kind: str) -> Change:
    dtype = np.dtype(getattr(ml_dtypes, kind, kind))
    return lambda values: values.astype(np.float32).astype(dtype).astype(np.float64)


def amax_in(kind: str) -> Change:
    return lambda blocks: rounded_to(kind)(greatest(blocks))


def flushed(values: Array) -> Array:
    return np.where(np.abs(values) < LEAST_NORMAL, 0.0, values)


MEASURED: tuple[tuple[str, Change], ...] = (
    ("amax-of:the values without their magnitudes", of_values),
    ("amax-of:all but the first", some(slice(1, None))),
    ("amax-of:all but the last", some(slice(None, -1))),
    *((f"amax-of:the first {count}", some(slice(count))) for count in (1, 4, 8, 16)),
    ("one-scale-for:64 elements", shared(2)),
    ("one-scale-for:each row", shared(0)),
    ("one-scale-for:the tensor", of_all),
    ("amax-in:bfloat16", amax_in("bfloat16")),
    ("amax-in:float16", amax_in("float16")),
)
INPUTS: tuple[tuple[str, Change], ...] = (
    ("flushes-inputs", flushed),
    ("x-in:bfloat16", rounded_to("bfloat16")),
    ("x-in:float16", rounded_to("float16")),
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
    return ceil_log2(rounded_to("bfloat16")(amax / largest_element(node.output_type)))


def one_for_zeros(node: Node, amax: Array) -> Array:
    return np.where(amax == 0, 0.0, by_mode(node, amax))


EXPONENTS: tuple[tuple[str, OfNode], ...] = (
    *((f"scaling-mode:{mode}", as_mode(mode)) for mode in MODES),
    ("scale-log2-in-float32", log2_in_float32),
    ("scale-to-nearest-power", nearest_power),
    ("scale-quotient-in:bfloat16", quotient_in_bfloat16),
    ("scale-exponent:more", further(1)),
    ("scale-exponent:less", further(-1)),
    ("zero-block-scale-one", one_for_zeros),
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


SCALES: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("scale-exponent-wraps", {"exponent": endless, "code": wrapped, "divide": unclamped}),
    (
        "scale-exponent-wraps:the quotient in bfloat16",
        {"exponent": quotient_in_bfloat16, "code": wrapped, "divide": unclamped},
    ),
    ("least-scale-divides-as:2^-126", {"divide": least_as(-126)}),
    ("least-scale-divides-as:1", {"divide": least_as(0)}),
    ("least-scale-never", {"code": lambda exponent: np.maximum(biased(exponent), 1)}),
)

# The element


def half_away(values: Array) -> Array:
    return np.copysign(np.floor(np.abs(values) + 0.5), values)


def half_to_zero(values: Array) -> Array:
    return np.copysign(np.ceil(np.abs(values) - 0.5), values)


def half_up(values: Array) -> Array:
    return np.floor(values + 0.5)


def by_step(step: Change) -> OfNode:
    return lambda node, quotients: saturated(node, nearest(node, quotients, step))


def through(kind: str) -> OfNode:
    return lambda node, quotients: rounded(node, rounded_to(kind)(quotients))


def least_normal(node: Node) -> float:
    kind = ELEMENT_TYPES[node.output_type]
    if not isinstance(kind, FloatType):
        raise NotImplementedError
    return float(2.0**kind.emin)


def without_subnormals(node: Node, quotients: Array) -> Array:
    found = rounded(node, quotients)
    return np.where(np.abs(found) < least_normal(node), np.copysign(0.0, found), found)


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


ELEMENTS: tuple[tuple[str, OfNode], ...] = (
    ("element-ties:away from zero", by_step(half_away)),
    ("element-ties:toward zero", by_step(half_to_zero)),
    ("element-ties:upward", by_step(half_up)),
    ("elements-cut-off", by_step(np.trunc)),
    ("elements-rounded:down", by_step(np.floor)),
    ("elements-rounded:away from zero", by_step(lambda values: np.copysign(np.ceil(np.abs(values)), values))),
    ("quotient-in:bfloat16", through("bfloat16")),
    ("quotient-in:float16", through("float16")),
    ("elements-flushed", without_subnormals),
    ("beyond-elements:NaN", beyond_to(np.nan)),
    ("beyond-elements:infinity", beyond_to(np.inf)),
    ("elements-end-at-power", at_most_power),
    ("elements-without-sign", unsigned),
)


def tables() -> Iterator[tuple[tuple[str, str, Mapping[str, Any]], ...]]:
    """By part: the causes' ids, their roles, and the parts that they replace."""
    yield tuple((id_, "block", {"amax": part}) for id_, part in MEASURED)
    yield tuple((id_, "elements", {"x": part}) for id_, part in INPUTS)
    yield tuple((id_, "scales", {"exponent": part}) for id_, part in EXPONENTS)
    yield tuple((id_, "scales", parts) for id_, parts in SCALES)
    yield tuple((id_, "nearest", {"element": part}) for id_, part in ELEMENTS)


def single_mistakes() -> Iterator[tuple[Cause, Mistake]]:
    for table in reversed(list(tables())):
        for id_, role, parts in table:
            yield Cause(id_, role), backend(replace(RIGHT, **parts))


def pairs_of_mistakes() -> Iterator[tuple[Cause, Mistake]]:
    """Two mistakes, of the scale or its code and of another part."""
    *_, exponents, codes, elements = tables()
    for firsts, seconds in ((exponents, codes), (exponents, elements), (codes, elements)):
        for one, role, parts in firsts:
            for other, _, more in seconds:
                yield Cause(f"{one}{JOINT}{other}", role), backend(replace(RIGHT, **{**parts, **more}))


MISTAKES = tuple(single_mistakes())
PAIRS = tuple(pairs_of_mistakes())
