"""A mistake of a cast: exponent and significand moved field by field, as Triton's interpreter does it.

The exponent is held in the field's range. To a narrower type the significand is cut off, and the first bit that is
lost is added, so ties go away from zero. A carry is joined to the exponent by OR, so it is lost where that is odd. A
result below the normal range is shifted once more and cut off; a subnormal input there keeps its significand's bits.
Nothing looks for infinities, NaN or the largest value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.make_node import node_from_key
from tiebreak.golden.nodes import Node
from tiebreak.golden.onnx_types import E8M0, FLOAT4, FLOAT6, FLOAT8, ONE_ZERO
from tiebreak.golden.problem import Array

WIDE = ("float32", "float16", "bfloat16")
MOST_BITS = 16  # of a source type whose every number is tried
MOST = 62  # bits by which a word of 64 is shifted: all that is left of it is zero


@dataclass(frozen=True)
class Fields:
    """The bits of a type: in all, of the exponent, of the significand; the exponent's bias; and if -0 is NaN."""

    bits: int
    exponent: int
    significand: int
    bias: int
    one_zero: bool


def fields_of(name: str) -> Fields:
    kind = ELEMENT_TYPES[name]
    if not isinstance(kind, FloatType) or name in (*FLOAT4, *FLOAT6, *E8M0, "float64"):
        raise NotImplementedError
    significand = kind.precision - 1
    exponent = kind.bits - significand - 1
    one_zero = name in ONE_ZERO
    return Fields(kind.bits, exponent, significand, (1 << (exponent - 1)) - (not one_zero), one_zero)


def right(word: Array, by: Array | int) -> Array:
    return np.asarray(word >> np.clip(by, 0, MOST))


def read(word: Array, kind: Fields) -> tuple[Array, Array]:
    """The exponent as a normal number of the type would have it, and the significand's field. Zero has exponent 0."""
    significand = word & ((1 << kind.significand) - 1)
    exponent = word >> kind.significand & ((1 << kind.exponent) - 1)
    below = (exponent == 0) & (significand != 0)
    highest = np.frexp(significand.astype(np.float64))[1]  # which is 1 more than the place of the highest bit
    by = np.where(below, kind.significand + 1 - highest, 0)
    normal = (significand << by) & ((1 << kind.significand) - 1)
    return np.where(below, 1 - by, exponent), np.where(below, normal, significand)


def moved_fields(word: Array, given: Fields, wanted: Fields) -> Array:
    """Words (int64) of one type as words of another."""
    if given.bits <= wanted.bits and given.significand > wanted.significand:
        raise NotImplementedError  # the interpreter fails
    sign, zero = word >> (given.bits - 1), word & ((1 << (given.bits - 1)) - 1) == 0
    exponent, significand = read(word, given)
    place = np.clip(exponent - given.bias + wanted.bias, 0, (1 << wanted.exponent) - 1)
    place = np.where(zero, 0, place)
    lost, narrows = given.significand - wanted.significand, given.bits > wanted.bits
    found = (significand >> lost) + (significand >> (lost - 1) & 1) if narrows else significand << -lost
    field = word >> given.significand & ((1 << given.exponent) - 1)
    below = (place == 0) & (field != 0)
    by = 1 - wanted.bias - (field - given.bias)
    leading = np.where(by <= wanted.significand, right(np.array(1 << wanted.significand), by), 0)
    found = np.where(below, right(found, by) | leading, found)
    if wanted.one_zero:
        is_nan = zero & (sign == 1) & given.one_zero  # whose word is that of the other type's NaN, too
        sign = np.where((place == 0) & (found == 0) & ~is_nan, 0, sign)
    return np.asarray(sign << (wanted.bits - 1) | place << wanted.significand | found)


def moved(node: Node, x: Array) -> Array:
    given, wanted = fields_of(node.input_type), fields_of(node.output_type)
    word = np.ascontiguousarray(x).view(f"uint{8 * x.itemsize}").astype(np.int64)
    found = moved_fields(word, given, wanted)
    dtype = node.outputs[0].dtype
    return found.astype(f"uint{8 * dtype.itemsize}").view(dtype).reshape(x.shape)


def to_types(*names: str) -> Mistake:
    def run(node: Node, x: Array) -> tuple[Array, ...]:
        if node.output_type not in names:
            raise NotImplementedError
        return (moved(node, x),)

    return run


def to_wider(node: Node, x: Array) -> tuple[Array, ...]:
    """Only where some number becomes another: of NaN and infinities alone, `nan-code-as-number` says what there is."""
    if node.output_type not in WIDE or not changes_a_number(node.key):
        raise NotImplementedError
    return (moved(node, x),)


@lru_cache(maxsize=64)
def changes_a_number(key: str) -> bool:
    """Whether moved fields make another number of some finite one; always if it has too many bits to try all."""
    node = node_from_key(key)
    bits, dtype = fields_of(node.input_type).bits, node.inputs[0].dtype
    if bits > MOST_BITS:
        return True
    every = np.arange(1 << bits, dtype=f"uint{8 * dtype.itemsize}").view(dtype)
    with np.errstate(all="ignore"):
        finite = every[np.isfinite(every.astype(np.float64))]
        return not np.array_equal(moved(node, finite), finite.astype(node.outputs[0].dtype))


def mistakes() -> Iterator[tuple[Cause, Mistake]]:
    yield Cause("fields-moved", "float8"), to_types(*FLOAT8)
    yield Cause("fields-moved:to 16 bits and more", "exact"), to_wider


MOVED_FIELDS = tuple(mistakes())
