"""Theorems on all scales: the engine against exact fractions, at the ends of exponents too; logs; what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import theorem_fractions as fractions

from tiebreak.conformance.theorems import _all_scales
from tiebreak.conformance.theorems.arithmetics import NamedArithmetic, arithmetic_named
from tiebreak.conformance.theorems.compare import ScaleComparison, compare, counterexample_of
from tiebreak.conformance.theorems.counterexample import roundest
from tiebreak.conformance.theorems.counting import SingleCounter
from tiebreak.conformance.theorems.counting_narrow import NarrowCounter, differing_inputs
from tiebreak.conformance.theorems.scale_blocks import significant_bits
from tiebreak.conformance.theorems.scale_domains import ScaleDomain
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import ROUND_MODES

SINGLE = FLOAT_TYPES["float32"]
EXACT, DIVIDED = arithmetic_named("exact"), arithmetic_named("divide in float32")
RECIPROCAL = arithmetic_named("reciprocal in float32")
SCALINGS = (
    *("divide in float32", "divide in float64", "reciprocal in float32", "reciprocal in float64"),
    *("narrow-reciprocal in float64", "fused in float32", "divide in float32, before-rounding"),
    *("reciprocal in float32, before-rounding", "divide in float32, before-rounding-in-float64"),
)
RANGES = ("range in float32", "range-multiplied in float32", "range-fused in float32")
SUMS = ("floor-of-half-more", "adds-half-and-truncates", "half-added-to-magnitude")
NAMES = (
    *("exact", *SCALINGS, *RANGES),
    *(f"exact, {mode}" for mode in ROUND_MODES),
    *(f"divide in float32, {mode}" for mode in (*ROUND_MODES, *SUMS)),
    *(f"reciprocal in float64, {mode}" for mode in SUMS),
    "exact, before-rounding",
)
ZERO_POINTS = {"uint8": (0, 128, 77), "int8": (0, -128, 5), "uint4": (7,), "int16": (3,)}
# Scales in the middle of the exponents, and where 1 / scale or x / scale is subnormal, infinite or about to be.
ENDS = (1, 3, 0x1FFFFF, 0x200000, 0x200001, 0x7FFFFF, 0x800001, 0x1000003, 0x7E7FFFFF, 0x7F000001, 0x7F7FFFFF)


def scales(count: int) -> list[int]:
    return [int(bits) for bits in np.random.default_rng(22).integers(0x30000000, 0x50000000, count)]


def counter(left: NamedArithmetic, right: NamedArithmetic, domain: ScaleDomain) -> SingleCounter | NarrowCounter:
    return (SingleCounter if domain.real == "float32" else NarrowCounter)(left, right, domain)


def bits_of_ordinal(ordinal: int, bits: int = 32) -> int:
    return ordinal if ordinal >= 0 else -ordinal | 1 << (bits - 1)


def codes_around(name: str, domain: ScaleDomain, scale: int, every: int) -> list[tuple[int, int, int]]:
    """Inputs (ordinals) within 8 of some decisions, with the engine's codes and the codes by fractions."""
    arithmetic, quantized = arithmetic_named(name), domain.quantized_type
    assert domain.zero_point is not None
    least = counter(arithmetic, arithmetic, domain).least_inputs(scale)[0]
    limit = domain.real_type.infinity_bits
    near = {int(one) + step for one in least[::every] for step in range(-8, 9)} | {0, limit, -limit}
    found = []
    for x in sorted(one for one in near if abs(one) <= limit):
        expected = fractions.code(
            arithmetic, domain.real_type, quantized, bits_of_ordinal(x, domain.real_type.bits), scale, domain.zero_point
        )
        found.append((x, quantized.lowest + int((least <= x).sum()), expected))
    return found


@pytest.mark.parametrize("quantized", ZERO_POINTS)
@pytest.mark.parametrize("name", NAMES)
def test_codes_are_those_of_fractions(name: str, quantized: str) -> None:
    for scale, zero_point in zip(scales(len(ZERO_POINTS[quantized])), ZERO_POINTS[quantized], strict=True):
        domain = ScaleDomain(quantized=quantized, zero_point=zero_point)
        found = codes_around(name, domain, scale, 9973 if quantized == "int16" else 23)
        assert [one for one in found if one[1] != one[2]] == []


@pytest.mark.parametrize("scale", ENDS, ids=hex)
@pytest.mark.parametrize("name", SCALINGS)
def test_codes_at_the_ends_are_those_of_fractions(name: str, scale: int) -> None:
    for quantized, zero_point in (("uint8", 0), ("int8", 0), ("uint8", 128)):
        found = codes_around(name, ScaleDomain(quantized=quantized, zero_point=zero_point), scale, 51)
        assert [one for one in found if one[1] != one[2]] == []
