"""Weights of 2, 4 or 8 bits in bytes, quantized in blocks, as com.microsoft's MatMulNBits has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from tiebreak.golden.elements import FloatType
from tiebreak.golden.problem import Array


def unpacked(packed: Array, bits: int, count: int) -> Array:
    """The first `count` integers (int64) of each row of bytes, along the last axis: lower bits come first."""
    places = np.arange(0, 8, bits, dtype=np.uint8)
    each = (packed[..., np.newaxis] >> places) & np.uint8((1 << bits) - 1)
    return np.asarray(each.reshape(*packed.shape[:-1], -1)[..., :count].astype(np.int64))


def packed(codes: Array, bits: int) -> Array:
    """The bytes (uint8) that hold the integers of each row, along the last axis; the last byte is filled with zeros."""
    held = 8 // bits
    filled = np.zeros((*codes.shape[:-1], -(-codes.shape[-1] // held) * held), np.int64)
    filled[..., : codes.shape[-1]] = codes
    parts = filled.reshape(*codes.shape[:-1], -1, held) << np.arange(0, 8, bits)
    return np.asarray(parts.sum(axis=-1).astype(np.uint8))


@dataclass(frozen=True)
class Weights:
    """Quantized weights of N outputs: `codes` (N, K), `points` and `scales` (N, blocks), of blocks of that `size`."""

    codes: Array
    points: Array
    scales: Array
    size: int

    def block_of(self, k: Array) -> Array:
        return k // self.size

    def in_working_precision(self) -> Array:
        """The weights (N, K) in the scales' type: the difference and the product rounded."""
        at = self.block_of(np.arange(self.codes.shape[1]))
        kind = self.scales.dtype
        with np.errstate(all="ignore"):
            difference = (self.codes - self.points[:, at].astype(np.float64)).astype(kind)
            return np.asarray(difference * self.scales[:, at])

    def weight(self, n: int, k: int) -> Fraction:
        """A weight in real arithmetic; its zero point and scale are finite."""
        point, scale = (each[n, k // self.size] for each in (self.points, self.scales))
        return (int(self.codes[n, k]) - Fraction(float(point))) * Fraction(float(scale))


def exact_sum(products: list[tuple[Fraction, Fraction]], kind: FloatType) -> bool:
    """Whether products of a number and a weight have one sum in a type, in any order and with any fused steps.

    So it is where all of them, and the weights, are multiples of one power of two, of which the type holds as many as
    their magnitudes have together.
    """
    terms = [number * weight for number, weight in products]
    return held([abs(term) for term in terms], kind) and all(held([abs(weight)], kind) for _, weight in products)


def held(magnitudes: list[Fraction], kind: FloatType) -> bool:
    """Whether a type holds any sum of some of the magnitudes."""
    whole = lcm(*(value.denominator for value in magnitudes))
    numbers = [int(value * whole) for value in magnitudes]
    shared = gcd(*numbers)
    unit = Fraction(shared & -shared, whole) if shared else Fraction(1)
    total = sum(magnitudes)
    least = Fraction(2) ** (kind.emin - kind.precision + 1)
    return unit >= least and total < Fraction(2) ** (kind.emax + 1) and total <= unit * (1 << kind.precision)


def places_of(marked: Array) -> Iterator[tuple[int, list[int]]]:
    """The rows of a matrix (bool) that have several marks, with the columns of the marks."""
    for row in np.flatnonzero(marked.sum(axis=1) > 1):
        yield int(row), [int(column) for column in np.flatnonzero(marked[row])]
