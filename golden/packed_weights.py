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


def sums_in_float64(rows: Array, weights: Weights, terms: Array, kind: FloatType) -> tuple[Array, Array] | None:
    """The sums of each row's products after its first, of each column, and where they are exact as above (bool).

    `terms` are one more number for each column. None where float64 does not hold each number on the way.
    """
    at = weights.block_of(np.arange(weights.codes.shape[1]))
    points, scales = (part.astype(np.float64)[:, at] for part in (weights.points, weights.scales))
    codes, a = weights.codes.astype(np.float64), rows.astype(np.float64)
    with np.errstate(all="ignore"):
        difference = codes - points
        own = difference * scales
        in_order = np.abs(codes) + np.abs(points) <= np.minimum(last_bit(points), 1) * 2.0**53
        if not (in_order.all() and holds_product(difference, scales) and np.isfinite(a).all()):
            return None
        found, exact = np.zeros((2, len(a), len(own)))
        for place, row in enumerate(a):
            if not holds_product(row, own):
                return None
            found[place], exact[place] = row_sums(row, own, terms, kind)
    return found, exact.astype(bool)


def row_sums(row: Array, weights: Array, terms: Array, kind: FloatType) -> tuple[Array, Array]:
    used = np.flatnonzero(row)
    own, products = weights[:, used], row[used] * weights[:, used]
    every = np.concatenate([products, terms[:, np.newaxis]], axis=1)
    exact = holds_sums(every, kind) & np.all(holds_sums(own[..., np.newaxis], kind), axis=1)
    return products[:, 1:].sum(axis=1), exact


def holds_sums(numbers: Array, kind: FloatType) -> Array:
    """As `held`, of the numbers (float64) along the last axis."""
    unit, total = last_bit(numbers).min(axis=-1, initial=np.inf), np.abs(numbers).sum(axis=-1)
    least, most = 2.0 ** (kind.emin - kind.precision + 1), 2.0**kind.emax
    return np.asarray((unit >= least) & (total / 2 < most) & (total <= unit * 2.0**kind.precision))


def holds_product(one: Array, other: Array) -> bool:
    """Whether float64 holds the products of numbers, with no bit below its normal ones."""
    bits = np.where(one == 0, 1, np.abs(one) / last_bit(one)) * np.where(other == 0, 1, np.abs(other) / last_bit(other))
    least = last_bit(one) * last_bit(other)
    return bool(np.all((bits <= 2.0**53) & (least >= 2.0**-1000) & (np.abs(one * other) < 2.0**1000)))


def last_bit(numbers: Array) -> Array:
    """The power of two of the last bit that is not 0 of each float64; infinity for 0."""
    parts, exponents = np.frexp(np.abs(numbers))
    whole = np.ldexp(parts, 53).astype(np.int64)
    return np.asarray(np.where(numbers == 0, np.inf, np.ldexp((whole & -whole).astype(np.float64), exponents - 53)))


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
