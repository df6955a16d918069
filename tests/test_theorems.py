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


@pytest.mark.parametrize("real", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["exact", "divide in {}", "reciprocal in {}", "reciprocal in float32", "fused in {}"])
def test_codes_of_narrow_types_are_those_of_fractions(name: str, real: str) -> None:
    middle, ends = {"float16": ([0x3D55, 0x2E01], [1, 0x100, 0x3FF, 0x7BFF])}.get(
        real, ([0x3F95, 0x41A7], [1, 0x20, 0x7F7F])
    )
    for scale in (*middle, *ends):
        found = codes_around(name.format(real), ScaleDomain(real, "uint8", 5), scale, 51)
        assert [one for one in found if one[1] != one[2]] == []


@pytest.mark.parametrize("real", ["float16", "bfloat16"])
def test_counts_of_narrow_types_are_those_of_every_input(real: str) -> None:
    """Each scale of a few by brute force: all inputs, in fractions."""
    domain, names = ScaleDomain(real, "uint4", 3), ("reciprocal in {}", "divide in {}")
    left, right = (arithmetic_named(name.format(real)) for name in names)
    limit, kind = domain.real_type.infinity_bits, domain.quantized_type
    scales = np.array([0x2E55, 0x3C01], np.uint32)
    tables = [NarrowCounter(left, right, domain).least_table(side, scales) for side in (0, 1)]
    for scale, count in zip(scales, differing_inputs(*tables), strict=True):
        codes = [
            [
                fractions.code(one, domain.real_type, kind, bits_of_ordinal(x, 16), int(scale), 3)
                for one in (left, right)
            ]
            for x in range(-limit, limit + 1)
        ]
        assert count == sum(one != other for one, other in codes) > 0


@pytest.mark.slow
def test_a_count_is_that_of_every_float32() -> None:
    scale = np.float32(1.6770048)
    inverse, expected = np.float32(1) / scale, 0
    for first in range(0, 1 << 32, 1 << 24):
        x = np.arange(first, first + (1 << 24), dtype=np.uint32).view(np.float32)
        with np.errstate(all="ignore"):
            left, right = (np.clip(np.rint(one), 0, 255) for one in (x * inverse, x / scale))
        expected += int(((left != right) & ~np.isnan(x)).sum())
    sides = SingleCounter(RECIPROCAL, DIVIDED, ScaleDomain()).sides
    assert _all_scales.differing(*sides, scale.reshape(1).view(np.uint32)).tolist() == [expected]
    assert expected > 20


@pytest.mark.parametrize("quantized", ["uint8", "int8", "uint16"])
@pytest.mark.parametrize("name", [*SCALINGS, *RANGES])
def test_an_exponent_that_is_called_normal_is_like_every_other(name: str, quantized: str) -> None:
    domain = ScaleDomain(quantized=quantized, zero_point=1, ends=False)
    compared = SingleCounter(arithmetic_named(name), EXACT, domain)
    significands = np.random.default_rng(5).integers(0, 1 << 23, 20 if quantized == "uint16" else 300, dtype=np.uint32)
    significands[:2] = 0, (1 << 23) - 1
    first, *_, last = compared.normal
    assert first < -100 and last > 100
    middle, *others = (
        _all_scales.differing(*compared.sides, significands | np.uint32((exponent + 127) << 23))
        for exponent in (0, first, first + 1, last - 1, last)
    )
    assert all((other == middle).all() for other in others)


def test_a_subnormal_scale_is_not_like_the_others() -> None:
    compared = SingleCounter(RECIPROCAL, DIVIDED, ScaleDomain())
    assert (
        -127 in compared.ends
        and 127 in compared.ends
        and sorted(compared.normal + compared.ends) == list(range(-127, 128))
    )
    subnormal = _all_scales.differing(*compared.sides, np.arange(0x200001, 0x200011, dtype=np.uint32))
    assert subnormal.min() > 1000 and compared.undefined == 0x200000


@pytest.mark.parametrize("factor", [1.0000001, 0.99, -3.0, 0.0, 1e30])
@pytest.mark.parametrize("name", [*SCALINGS, *RANGES])
def test_a_wrong_guess_changes_nothing(name: str, factor: float) -> None:
    compared = SingleCounter(arithmetic_named(name), EXACT, ScaleDomain(zero_point=5))
    right = compared.sides[0]
    kind = _all_scales.KINDS[compared.left.precision, compared.left.scaling]
    added = 5 if "fused" in name else 0
    wrong = _all_scales.Side(kind, added, -5, 250, right.start * factor, right.least)
    for scale in (0x3FC12345, 0x00000003):
        least = _all_scales.least_inputs(right, scale)
        assert np.unique(least).size > 1 and (_all_scales.least_inputs(wrong, scale) == least).all()


def test_overlapping_decisions_count_an_input_once() -> None:
    left, right = np.array([[1, 4, 9, 30], [0, 0, 0, 0]]), np.array([[5, 6, 9, 20], [0, 0, 0, 1]])
    assert differing_inputs(left, right).tolist() == [5 + 10, 1]
    compared = SingleCounter(RECIPROCAL, EXACT, ScaleDomain())
    scales = np.array([1, 77, 0x200001, 0x3FC12345, 0x7F000001], np.uint32)
    tables = zip(*(compared.least_inputs(int(scale)) for scale in scales), strict=True)
    expected = differing_inputs(*(np.stack(table) for table in tables))
    assert _all_scales.differing(*compared.sides, scales).tolist() == expected.tolist()
    assert expected[0] < np.abs(np.subtract(*compared.least_inputs(1))).sum()


def test_double_division_is_exact() -> None:
    """As the catalogue says of codes of 8 bits; here of 4."""
    found = compare(arithmetic_named("divide in float64"), EXACT, ScaleDomain(quantized="int4", zero_point=None))
    assert found.equal and found.counterexample is None and found.without == found.scales == 0x7F7FFFFF


def test_a_comparison_sums_over_all_scales() -> None:
    found = compare(RECIPROCAL, DIVIDED, ScaleDomain(quantized="uint2"))
    assert found.normal and found.ends
    assert found.scales == 0x7F7FFFFF and found.normal.scales == len(found.normal.exponents) << 23
    assert sorted(found.normal.exponents + found.ends.exponents) == list(range(-127, 128))
    normal = replace(found.domain, ends=False)
    assert compare(RECIPROCAL, DIVIDED, normal).normal == found.normal
    assert found.worst == found.ends_worst if hasattr(found, "ends_worst") else found.worst > 3
