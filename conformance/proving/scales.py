"""The scales of a float type in blocks of neighbouring bit patterns, and which of them stand for others.

All numbers of most sides are proportional to the scale, or do not depend on it. Rounding commutes with powers of two on
the normal range, so twice the scale gives the same codes there. One exponent then stands for all others; those near the
ends of the range are tried themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tiebreak.conformance.proving.scalars import LINEAR, MAX, MEAN, Scalar
from tiebreak.conformance.theorems.scale_blocks import significant_bits as bits_of_magnitudes
from tiebreak.golden.elements import FLOAT_TYPES, FloatType, numpy_dtype
from tiebreak.golden.patterns.graph import DEQUANTIZE
from tiebreak.golden.problem import Array

BLOCK = 1 << 16
WORDS = {16: np.uint16, 32: np.uint32}


@dataclass(frozen=True)
class ScaleSpan:
    """`count` scales whose bit patterns follow each other from `first`; all have one sign."""

    first: int
    count: int

    def scales(self, real: str) -> Array:
        kind = FLOAT_TYPES[real]
        words = np.arange(self.first, self.first + self.count, dtype=np.uint64).astype(WORDS[kind.bits])
        return words.view(numpy_dtype(real))


@dataclass(frozen=True)
class Sizes:
    """Bounds of the numbers that are proportional to a scale of [1, 2): all nonzero ones lie between two powers of two.

    `grain`: each is a multiple of 2^grain.
    """

    least: int
    most: int
    grain: int


def sizes_of(number: Scalar, numbers: int, real: str, inputs: Sizes | None = None) -> dict[Scalar, Sizes] | None:
    """Bounds of every number that a side computes; None if it is not proportional to its one scale.

    `numbers` is the greatest magnitude of a difference of a code and the zero point; `inputs` bounds a real operand.
    """
    found: dict[Scalar, Sizes] = {}

    def visit(one: Scalar) -> bool:
        if not all(visit(part) for part in one.inputs):
            return False
        if one.is_code:
            return True
        inner = [found[part] for part in one.inputs if not part.is_code]
        dequantized = Sizes(0, numbers.bit_length() + 1, 1 - FLOAT_TYPES[real].precision)
        sizes = sizes_after(one, inner, dequantized, inputs)
        if sizes is None:
            return False
        found[one] = sizes
        return True

    return found if visit(number) else None


def sizes_after(one: Scalar, parts: Sequence[Sizes], dequantized: Sizes, inputs: Sizes | None) -> Sizes | None:
    if not one.operation:
        return inputs
    if one.operation == DEQUANTIZE:
        return dequantized
    if one.operation in ("Relu", MAX):
        return Sizes(min(p.least for p in parts), max(p.most for p in parts), min(p.grain for p in parts))
    grain = {"Add": 0, "Sub": 0, MEAN: 1, LINEAR: 2}.get(one.operation)
    if grain is None:  # a curve, Clip with numbers of its own, or a product, which is proportional to a square
        return None
    least = min(p.grain for p in parts) - grain
    return Sizes(least, max(p.most for p in parts) + 1, least)


def every_scale(real: str, sign: str) -> Iterator[ScaleSpan]:
    """All finite scales of a type but zero, of one sign."""
    kind = FLOAT_TYPES[real]
    yield from split(1, kind.largest_bits + 1, kind, sign)


@dataclass(frozen=True)
class Standing:
    """Blocks of scales that stand for all scales with exponents from `low` to `high`, or for all there are."""

    blocks: list[ScaleSpan]
    low: int
    high: int


def standing_scales(real: str, sign: str, extent: str, sizes: Sequence[Sizes]) -> Standing:
    """Scales of one exponent stand for those with which no number leaves the normal range: the extent "normal".

    The extent "all" adds each other finite scale. No exponent fits if `low` is above `high`.
    """
    kind = FLOAT_TYPES[real]
    low = max([kind.emin, *(kind.emin + 1 - one.least for one in sizes)])
    high = min([kind.emax, *(kind.emax - one.most for one in sizes)])
    exponents = [min(max(0, low), high)] if low <= high else []
    if extent == "all":
        exponents += [e for e in range(kind.emin - 1, kind.emax + 1) if not low <= e <= high]
    return Standing([block for e in exponents for block in of_exponent(e, kind, sign)], low, high)


def of_exponent(exponent: int, kind: FloatType, sign: str) -> Iterator[ScaleSpan]:
    """The scales of one exponent; of emin - 1 the subnormal ones."""
    size = 1 << (kind.precision - 1)
    first = (exponent - kind.emin + 1) * size
    yield from split(max(first, 1), first + size, kind, sign)


def split(first: int, end: int, kind: FloatType, sign: str) -> Iterator[ScaleSpan]:
    """Blocks that end where a multiple of BLOCK does."""
    bit = 0 if sign == "positive" else 1 << (kind.bits - 1)
    while first < end:
        stop = min((first // BLOCK + 1) * BLOCK, end)
        yield ScaleSpan(first | bit, stop - first)
        first = stop


def significant_bits(words: Array, real: str) -> Array:
    """How many bits the significand of each scale has without its trailing zeros; scales are bit patterns."""
    kind = FLOAT_TYPES[real]
    return bits_of_magnitudes(words.astype(np.int64) & ((1 << (kind.bits - 1)) - 1), kind)


def value_of(word: int, real: str) -> Fraction:
    """What a finite bit pattern stands for."""
    kind = FLOAT_TYPES[real]
    scale = np.array(word, WORDS[kind.bits]).view(numpy_dtype(real))
    return Fraction(float(scale))
