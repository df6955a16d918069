"""Usual mistakes of `gguf.Quantize` as small NumPy backends.

The pipeline has six steps: each block's number of greatest magnitude, the scale, the scale as it is put out, what
stands for 1 / d, the product and the element. What follows from a wrong step is computed as the document says, each
step in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.model import Mistake
from tiebreak.conformance.operators.wrong_steps import WrongStep, frequent, pairs_of_steps, single_steps, step
from tiebreak.conformance.semantics.places import flush_subnormals
from tiebreak.conformance.variants import conversions
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.gguf_quantize import BLOCK, DIVISORS
from tiebreak.golden.problem import Array

EMIN = -126  # of float32
ONE, HALF_MORE, LEAST_HALF, MOST_HALF = np.float32(1), np.float32(8.5), 2.0**-14, np.float32(65504)
Change = Callable[[Array], Array]
Divided = Callable[[Array, np.float32], Array]  # of the numbers of greatest magnitude, by a divisor
Reciprocal = Callable[[Array, Array, Array, np.float32], Array]  # of scales: also as put out, of what, by which divisor
Product = Callable[[Array, Array, Array], Array]  # of blocks, what stands for 1 / d, and d
Element = Callable[[Array, Node], Array]  # of products

# The right steps


def as_it_is(values: Array) -> Array:
    return values


def first_greatest(blocks: Array) -> Array:
    place = np.abs(blocks).argmax(axis=-1, keepdims=True)
    return np.asarray(np.take_along_axis(blocks, place, axis=-1)[..., 0])


def divided(top: Array, divisor: np.float32) -> Array:
    return np.asarray((np.abs(top) if divisor > 0 else top) / divisor)


def in_half(scale: Array) -> Array:
    return scale.astype(np.float16)


def one_over(scale: Array, put_out: Array, top: Array, divisor: np.float32) -> Array:
    return np.where(scale == 0, np.float32(0), ONE / scale)


def times(blocks: Array, factor: Array, scale: Array) -> Array:
    return np.asarray(blocks * factor)


def to_integers(products: Array, node: Node) -> Array:
    if is_nibble(node):
        return np.minimum(np.trunc(products + HALF_MORE), 15)
    return ws.away(products)


def is_nibble(node: Node) -> bool:
    return node.output_type == "uint4"


@dataclass(frozen=True)
class GgufPipeline:
    """Steps in order, the right ones unless given. `x` changes the input first; `top` takes whole blocks."""

    x: Change = as_it_is
    top: Change = first_greatest
    divisor: Callable[[Node], int] = lambda node: DIVISORS[node.output_type]
    scale: Divided = divided
    put_out: Change = in_half
    reciprocal: Reciprocal = one_over
    product: Product = times
    element: Element = to_integers

    def __call__(self, node: Node, x: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            blocks = blocked(np.nan_to_num(self.x(x)))
            top, divisor = self.top(blocks), np.float32(self.divisor(node))
            scale = self.scale(top, divisor)
            put_out = self.put_out(scale)
            factor = self.reciprocal(scale, put_out, top, divisor)[..., None]
            found = self.element(self.product(blocks, factor, scale[..., None]), node)
            kept = found.reshape(*x.shape[:-1], blocks.shape[-2] * BLOCK)[..., : x.shape[-1]]
            return as_integers(kept, node), put_out.astype(np.float16)


def pipeline(**steps: Any) -> Mistake:
    return GgufPipeline(**steps)


def as_integers(values: Array, node: Node) -> Array:
    """Whole numbers in the node's type: 4 bits wrap around, 8 bits saturate, NaN to the lowest, as x86's vectors do."""
    whole = np.nan_to_num(values, nan=-128, posinf=-128, neginf=-128).clip(-(2**31), 2**31).astype(np.int64)
    return (whole & 15).astype(node.outputs[0].dtype) if is_nibble(node) else np.clip(whole, -128, 127).astype(np.int8)


def blocked(x: Array) -> Array:
    """Blocks along a new last axis, the last of each row filled with zeros."""
    count = -(-x.shape[-1] // BLOCK)
    whole = np.zeros((*x.shape[:-1], count * BLOCK), np.float32)
    whole[..., : x.shape[-1]] = x
    return whole.reshape(*x.shape[:-1], count, BLOCK)


# What is measured


def last_greatest(blocks: Array) -> Array:
    return first_greatest(blocks[..., ::-1])


def some(*places: slice) -> Change:
    """The number of greatest magnitude among those of each block alone."""
    return lambda blocks: first_greatest(np.concatenate([blocks[..., place] for place in places], axis=-1))


def of_values(blocks: Array) -> Array:
    return np.asarray(blocks.max(axis=-1))


def shared(blocks_each: int) -> Change:
    """One number for so many neighbouring blocks; 0 is a whole row. ValueError where there is but one."""

    def found(blocks: Array) -> Array:
        own = first_greatest(blocks)
        count = own.shape[-1]
        if count < 2:
            raise ValueError("there is nothing to mistake")
        each = blocks_each or count
        groups = [own[..., start : start + each] for start in range(0, count, each)]
        spread = [np.broadcast_to(first_greatest(group)[..., None], group.shape) for group in groups]
        return np.concatenate(spread, axis=-1)

    return found


def changed_top(change: Change) -> Change:
    return lambda blocks: change(first_greatest(blocks))


def without_subnormals(values: Array) -> Array:
    return flush_subnormals(values, EMIN)


MEASURED = (
    step("last-of-equals", "first", top=last_greatest),
    step("amax-of:the values without their magnitudes", "block", top=of_values),
    step("amax-of:all but the first", "block", top=some(slice(1, None))),
    step("amax-of:all but the last", "block", top=some(slice(None, -1))),
    step("amax-of:the first 16", "block", top=some(slice(16))),
    step("amax-of:the last 16", "block", top=some(slice(16, None))),
    step("one-scale-for:64 elements", "block", top=shared(2)),
    step("one-scale-for:each row", "block", top=shared(0)),
    step("amax-in:bfloat16", "block", top=changed_top(conversions.in_bfloat16)),
    step("amax-in:float16", "block", top=changed_top(conversions.in_float16)),
)
INPUTS = (
    step("flushes-inputs", "elements", x=without_subnormals),
    step("x-in:bfloat16", "elements", x=conversions.in_bfloat16),
    step("x-in:float16", "elements", x=conversions.in_float16),
)

# The scale


def without_sign(top: Array, divisor: np.float32) -> Array:
    return np.asarray(np.abs(top) / np.abs(divisor))


def times_reciprocal(top: Array, divisor: np.float32) -> Array:
    return divided(top, divisor) if divisor < 0 else np.asarray(np.abs(top) * (ONE / divisor))


def divides_by(byte: int, nibble: int) -> Callable[[Node], int]:
    return lambda node: nibble if is_nibble(node) else byte


def cut_off(scale: Array) -> Array:
    return np.asarray(conversions.cut_off(scale.astype(np.float64), np.float16)).astype(np.float16)


def flushed(scale: Array) -> Array:
    found = in_half(scale)
    return np.where(np.abs(found) < LEAST_HALF, np.float16(0), found)


def saturated(scale: Array) -> Array:
    return np.clip(scale, -MOST_HALF, MOST_HALF).astype(np.float16)


def through_bfloat16(scale: Array) -> Array:
    return conversions.in_bfloat16(scale).astype(np.float16)


SCALES = (
    frequent("step-without-sign", "scale-4", scale=without_sign),
    frequent("step-divisor:128, of Q4_0 by -7", "scale-8", divisor=divides_by(128, -7)),
    step("step-times-reciprocal", "scale-8", scale=times_reciprocal),
    step("scale-rounded:toward zero", "scale-nearest", put_out=cut_off),
    step("subnormal-scales-flushed", "scale-nearest", put_out=flushed),
    step("beyond-scales:65504", "scale-nearest", put_out=saturated),
    step("scale-in:bfloat16", "scale-nearest", put_out=through_bfloat16),
)

# The product


def over_top(scale: Array, put_out: Array, top: Array, divisor: np.float32) -> Array:
    """127 / amax, as ggml's vectorized quantize_row_q8_0 has it."""
    return np.where(top == 0, np.float32(0), divisor / (np.abs(top) if divisor > 0 else top))


def of_stored(scale: Array, put_out: Array, top: Array, divisor: np.float32) -> Array:
    return one_over(put_out.astype(np.float32), put_out, top, divisor)


def quotient(blocks: Array, factor: Array, scale: Array) -> Array:
    return np.where(scale == 0, np.float32(0), blocks / scale)


PRODUCTS = (
    frequent("factor-over-amax", "elements", reciprocal=over_top),
    frequent("reciprocal-of-stored-scale", "put-out", reciprocal=of_stored),
    frequent("divides-by-scale", "elements", product=quotient),
)

# The element


def rounded(whole: Change) -> Element:
    return lambda products, node: np.minimum(whole(products) + 8, 15) if is_nibble(node) else whole(products)


def wrapped(products: Array, node: Node) -> Array:
    return np.trunc(products + HALF_MORE) if is_nibble(node) else to_integers(products, node)


def half_added(products: Array, node: Node) -> Array:
    """floor(x + 0.5), in Q4_0 before 8 is added."""
    whole = np.floor(products + np.float32(0.5))
    return np.minimum(whole + 8, 15) if is_nibble(node) else whole


ELEMENTS = (
    frequent("element-ties:to even", "nearest", element=rounded(np.rint)),
    frequent("element-ties:away from zero", "cut-off", element=rounded(ws.away)),
    frequent("element-ties:toward zero", "nearest", element=rounded(ws.toward_zero)),
    frequent("elements-cut-off", "nearest", element=rounded(np.trunc)),
    frequent("elements-rounded:down", "nearest", element=rounded(np.floor)),
    step("floor-of-half-more", "nearest", element=half_added),
    step("beyond-elements:0", "saturate", element=wrapped),
)
STEPS: tuple[WrongStep, ...] = (*ELEMENTS, *PRODUCTS, *SCALES, *INPUTS, *MEASURED)
MISTAKES = single_steps(pipeline, STEPS)
PAIRS = pairs_of_steps(pipeline, (*PRODUCTS, *SCALES, *ELEMENTS))
