"""The decisions of an arithmetic: the least argument of round, or exact quotient, from which on a code is the next one.

Nothing here depends on the scale. What follows the quotient (a zero point, a sum with a half, rounding) is that of the
audit's facets. It never falls as the quotient grows, so that halving finds where each code begins.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tiebreak.conformance.semantics.places import Place, as_type
from tiebreak.conformance.semantics.quantize_facets import NOTHING, Combination
from tiebreak.conformance.theorems.arithmetics import NamedArithmetic
from tiebreak.conformance.theorems.scale_domains import ScaleDomain
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.problem import Array

SUPPORTED = {"subnormals": "kept", "saturation": "saturate"}


class Decisions(NamedTuple):
    """For each decision (float64): `start`, about where x / scale passes it, and the least argument that does.

    For an exact quotient `start` is where it passes, `least` 1 if it must be more than that, 0 if not.
    """

    zero_point: int
    quantized: IntegerType
    start: Array
    least: Array


class CodeSetting(NamedTuple):
    """The zero point and the type of codes that an arithmetic is given, and each code but the highest (int64)."""

    zero_point: int
    quantized: IntegerType
    codes: Array


def setting_of(arithmetic: NamedArithmetic, domain: ScaleDomain) -> CodeSetting:
    """What an arithmetic is given on a domain. For all zero points that is 0, and a type that holds all differences.

    InvalidInput for an arithmetic that a theorem can't be about, or not for all zero points.
    """
    for facet, only in SUPPORTED.items():
        if getattr(arithmetic, facet) != only:
            raise InvalidInput(f"{facet} {getattr(arithmetic, facet)}: theorems are about {only} only")
    kind = domain.quantized_type
    if domain.zero_point is not None:
        return CodeSetting(domain.zero_point, kind, np.arange(kind.lowest, kind.highest))
    if arithmetic.combination.zero_point.first:
        raise InvalidInput(f"{arithmetic.name} depends on the zero point: name one")
    differences = IntegerType("differences", kind.bits + 1, True)
    return CodeSetting(0, differences, np.arange(differences.lowest + 1, differences.highest))


def decisions_of(arithmetic: NamedArithmetic, domain: ScaleDomain) -> Decisions:
    """The decisions of an arithmetic of float32. InvalidInput as for setting_of, and for other precisions."""
    combination, (zero_point, quantized, codes) = arithmetic.combination, setting_of(arithmetic, domain)
    if combination.precision.is_exact:
        return Decisions(zero_point, quantized, *exact_decisions(combination, codes, zero_point))
    least = least_arguments(combination, codes, zero_point, quantized)
    return Decisions(zero_point, quantized, starts(combination, least, zero_point, quantized), least)


def exact_decisions(combination: Combination, codes: Array, zero_point: int) -> tuple[Array, Array]:
    """Where a real quotient passes each code: at an integer or a half, and whether it must be more."""
    before, after = combination.zero_point.before_and_after(np.asarray(zero_point))
    below = (codes - after).astype(np.float64)
    passing = [passes_place(combination, below, rest) for rest in (1, 2, 3)]
    halves = np.where(passing[0], 0.0, np.where(passing[2], 0.5, 1.0))
    more = passing[0] | (passing[2] & ~passing[1])
    return below - before + halves, more.astype(np.float64)


def passes_place(combination: Combination, below: Array, rest: int) -> Array:
    """Whether the numbers above `below`, nearer or farther than a half, become the integer above."""
    place = Place(below, np.full(below.shape, rest), below)
    return np.asarray(combination.round_mode.round_place(place) > below)


def least_arguments(combination: Combination, codes: Array, zero_point: int, quantized: IntegerType) -> Array:
    """The least number of the working precision that becomes more than each code, by halving."""
    integer, real = (np.int32, np.float32) if combination.precision.id == "float32" else (np.int64, np.float64)
    if combination.precision.id not in ("float32", "float64"):
        raise InvalidInput(f"precision {combination.precision.id}: of float32 there are exact, float32 and float64")
    low = np.full(codes.shape, ordinals(np.asarray(-1e9, real), integer))
    high = -low
    while (high - 1 > low).any():
        middle = (low >> 1) + (high >> 1) + (low & high & 1)  # no sum that overflows
        passing = passes_argument(combination, numbers(middle, real), codes, zero_point, quantized)
        low, high = np.where(passing, low, middle), np.where(passing, middle, high)
    return numbers(high, real).astype(np.float64)


def passes_argument(c: Combination, values: Array, codes: Array, zero_point: int, quantized: IntegerType) -> Array:
    """Whether the code of an argument is more than a code: what follows the scaling, by the facets' own rules."""
    before, after = np.asarray(0), np.asarray(quantized.lowest)
    if not c.scaling.of_range:
        before, after = c.zero_point.before_and_after(np.asarray(zero_point))
    if c.zero_point.wider:
        summed = values.astype(np.float64) + before
    else:
        added = NOTHING if c.scaling.adds_zero_point else before
        summed = as_type(values + added.astype(values.dtype), values.dtype)
    return np.asarray(c.round_mode.round(summed.astype(np.float64), c.precision) + after > codes)


def starts(c: Combination, least: Array, zero_point: int, quantized: IntegerType) -> Array:
    """About where x / scale is when an argument reaches `least`: half way from the number before."""
    if c.precision.id == "float64":
        return least
    before = np.nextafter(least.astype(np.float32), np.float32(-np.inf)).astype(np.float64)
    shift = quantized.lowest - zero_point if c.scaling.of_range else -zero_point if c.scaling.fused else 0
    return np.asarray((least + before) / 2 + shift)


def ordinals(values: Array, integer: type[np.signedinteger]) -> Array:
    """Floating-point numbers, counted from 0 in both directions."""
    bits = values.view(integer)
    return np.asarray(np.where(bits < 0, -(bits & np.iinfo(integer).max), bits).astype(integer))


def numbers(counted: Array, real: type[np.floating] | np.dtype[Any]) -> Array:
    """The numbers that ordinals count."""
    magnitude = np.abs(counted).view(real)
    return np.asarray(np.where(counted < 0, -magnitude, magnitude))
