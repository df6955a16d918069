"""Theorems on all scales: the engine against exact fractions, at the ends of exponents too; logs; what is refused."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import theorem_fractions as fractions

from tiebreak.conformance.theorems import _all_scales
from tiebreak.conformance.theorems.arithmetics import NamedArithmetic, arithmetic_named
from tiebreak.conformance.theorems.compare import compare, counterexample_of, part_of
from tiebreak.conformance.theorems.counterexample import roundest, simplest_counterexample
from tiebreak.conformance.theorems.counting import SingleCounter
from tiebreak.conformance.theorems.counting_narrow import NarrowCounter, differing_inputs
from tiebreak.conformance.theorems.exponents import constants_are_normal
from tiebreak.conformance.theorems.scale_blocks import counted_block, significant_bits
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
    """Some scales by brute force: all inputs, in NumPy."""
    domain, names = ScaleDomain(real, "uint4", 3), ("reciprocal in {}", "divide in {}")
    left, right = (arithmetic_named(name.format(real)) for name in names)
    compared = NarrowCounter(left, right, domain)
    limit = domain.real_type.infinity_bits
    x, scales = compared.input_of(np.arange(-limit, limit + 1)), np.arange(0x3E01, 0x3E31, dtype=np.uint32)
    for scale, count in zip(compared.input_of(scales), compared_counts(compared, scales), strict=True):
        with np.errstate(over="ignore"):
            products, quotients = x * (scale.dtype.type(1) / scale), x / scale
        codes = [np.clip(np.rint(one.astype(np.float64)) + 3, 0, 15) for one in (products, quotients)]
        assert count == np.count_nonzero(codes[0] != codes[1])


def compared_counts(compared: NarrowCounter, scales: Array) -> list[int]:
    found: list[int] = differing_inputs(*(compared.least_table(side, scales) for side in (0, 1))).tolist()
    assert sum(found) > 10
    return found


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


def test_an_exponent_with_a_constant_that_is_no_normal_number_is_an_end() -> None:
    decisions = SingleCounter(RECIPROCAL, EXACT, ScaleDomain()).decisions[0]
    for name in ("reciprocal in float32", "narrow-reciprocal in float64", "fused in float32"):
        held = [constants_are_normal(arithmetic_named(name), decisions, exponent) for exponent in (0, 125, 126)]
        assert held == [True, True, False]  # 1 / 2^127 is subnormal
    held = [constants_are_normal(arithmetic_named("range in float32"), decisions, one) for one in (0, 117, 118)]
    assert held == [True, True, False]  # 510 times 2^119 is too near the largest number
    assert constants_are_normal(DIVIDED, decisions, 126)
    assert constants_are_normal(arithmetic_named("reciprocal in float64"), decisions, 126)


def test_subnormal_scales_are_not_like_the_others() -> None:
    compared = SingleCounter(RECIPROCAL, DIVIDED, ScaleDomain())
    assert {-127, 127} < set(compared.ends)
    assert sorted(compared.normal + compared.ends) == list(range(-127, 128))
    # Each x but 0 has an infinite product: all inputs below the last threshold, 254.5 times the scale, differ.
    least = _all_scales.differing(*compared.sides, np.array([1, 1000, 0x200000], np.uint32))
    assert least.tolist() == [254, 254_500, 58_621_952]
    assert compared.undefined == 0x200000  # 1 / 2^-128 is the last that overflows


@pytest.mark.parametrize("factor", [1.0000001, 0.99, -3.0, 0.0, 1e30])
@pytest.mark.parametrize("name", [*SCALINGS, *RANGES])
def test_a_wrong_guess_changes_nothing(name: str, factor: float) -> None:
    compared = SingleCounter(arithmetic_named(name), EXACT, ScaleDomain(zero_point=5))
    right, decisions = compared.sides[0], compared.decisions[0]
    kind = _all_scales.KINDS[compared.left.precision, compared.left.scaling]
    added = 5 if "fused" in name else 0
    wrong = _all_scales.Side(kind, added, -5, 250, decisions.start * factor, decisions.least)
    for scale in (0x3FC12345, 0x00700003):
        least = _all_scales.least_inputs(right, scale)
        assert np.unique(least).size > 1 and (_all_scales.least_inputs(wrong, scale) == least).all()


def test_overlapping_decisions_count_an_input_once() -> None:
    left, right = np.array([[1, 4, 9, 30], [0, 0, 0, 0]]), np.array([[5, 6, 9, 20], [0, 0, 0, 1]])
    assert differing_inputs(left, right).tolist() == [5 + 10, 1]
    for quantized in ("uint8", "int8"):
        check_overlaps(SingleCounter(RECIPROCAL, EXACT, ScaleDomain(quantized=quantized)))


def check_overlaps(compared: SingleCounter) -> None:
    scales = np.array([1, 77, 0x200001, 0x3FC12345, 0x7F000001], np.uint32)
    tables = zip(*(compared.least_inputs(int(scale)) for scale in scales), strict=True)
    expected = differing_inputs(*(np.stack(table) for table in tables))
    assert _all_scales.differing(*compared.sides, scales).tolist() == expected.tolist()
    assert expected[0] < np.abs(np.subtract(*compared.least_inputs(1))).sum()


def test_double_division_is_exact() -> None:
    """As the catalogue says of codes of 8 bits; here of 4."""
    found = compare(arithmetic_named("divide in float64"), EXACT, ScaleDomain("float32", "int4", None, ends=False))
    assert found.equal and found.counterexample is None and found.without == found.scales > 0x70000000


@pytest.mark.slow
def test_a_comparison_sums_over_all_scales() -> None:
    found = compare(RECIPROCAL, DIVIDED, ScaleDomain(quantized="uint2"))
    assert found.normal and found.ends
    assert found.scales == 0x7F7FFFFF and found.normal.scales == len(found.normal.exponents) << 23
    assert sorted(found.normal.exponents + found.ends.exponents) == list(range(-127, 128))
    normal = replace(found.domain, ends=False)
    assert compare(RECIPROCAL, DIVIDED, normal).normal == found.normal
    assert found.differing == found.normal.differing + found.ends.differing and found.ends.worst > found.normal.worst


def test_a_comparison_that_was_stopped_goes_on(tmp_path: Path) -> None:
    domain, log = ScaleDomain(quantized="uint2", ends=False), tmp_path / "log.jsonl"

    def stop(done: int, of: int) -> None:
        if done == 50:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(RECIPROCAL, DIVIDED, domain, log=log, progress=stop)
    whole = log.read_text().splitlines(keepends=True)
    assert len(whole) == 1 + 50
    log.write_text("".join(whole[:-1]) + whole[-1][:-9])  # as if the machine had stopped
    told: list[tuple[int, int]] = []
    found = compare(RECIPROCAL, DIVIDED, domain, log=log, progress=lambda done, of: told.append((done, of)), workers=2)
    assert told == [(done, 128) for done in range(49, 129)]
    assert found == compare(RECIPROCAL, DIVIDED, domain)
    assert len(log.read_text().splitlines()) == 1 + 128
    assert found.digests == tuple(json.loads(line)["sha256"] for line in log.read_text().splitlines()[1:])


def test_a_log_of_something_else_is_refused(tmp_path: Path) -> None:
    domain, log = ScaleDomain(quantized="uint2", ends=False), tmp_path / "log.jsonl"
    compare(RECIPROCAL, DIVIDED, domain, log=log)
    with pytest.raises(InvalidInput, match="the log of another comparison"):
        compare(RECIPROCAL, EXACT, domain, log=log)
    lines = log.read_text().splitlines()
    for line, message in (("garbage", "no line of a log"), ('{"block": 1}', "no block"), ("[1]", "no line of a log")):
        log.write_text("\n".join([*lines[:3], line, ""]))
        with pytest.raises(DamagedFile, match=message):
            compare(RECIPROCAL, DIVIDED, domain, log=log)
    with pytest.raises(InvalidInput, match="can't write"):
        compare(RECIPROCAL, DIVIDED, domain, log=tmp_path / "none" / "log.jsonl")


def test_a_counterexample_is_one() -> None:
    compared = SingleCounter(RECIPROCAL, DIVIDED, ScaleDomain(quantized="int8"))
    block = compared.counted(0x3FC0)
    found = counterexample_of(compared, [block])
    assert found is not None and found.scale == block.simplest
    codes = [
        fractions.code(one, SINGLE, compared.domain.quantized_type, found.x, found.scale, 0) for one in compared.pair
    ]
    assert codes == [found.left, found.right] and found.left != found.right


def test_the_simplest_counterexample_has_the_fewest_bits() -> None:
    for low, high in ((1, 2), (5, 9), (-9, -4), (-3, 4), (0x3FC12345, 0x3FC12350), (1023, 1030)):
        zeros = [(x & -x) if x else 1 << 40 for x in range(low, high)]
        best = max(zeros)
        assert roundest(low, high) == min(
            (x for x, z in zip(range(low, high), zeros, strict=True) if z == best), key=abs
        )
    patterns = np.array([0, 1, 3, 0x400000, 0x3F800000, 0x3FC00000, 0x3F800001], np.uint32)
    assert significant_bits(patterns, SINGLE).tolist() == [0, 1, 2, 1, 1, 2, 24]
    assert significant_bits(np.array([0x3C01, 0x3E00]), FLOAT_TYPES["float16"]).tolist() == [11, 2]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_stands_for_one_arithmetic(name: str) -> None:
    assert arithmetic_named(name).name == name.removesuffix(", ROUND_NEAREST_TOWARD_EVEN")
    assert arithmetic_named(f" {name.replace(',', ' ,')} ") == arithmetic_named(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("multiply in float32", "scaling 'multiply' is unknown; there are divide, reciprocal"),
        ("divide", "precision '' is unknown"),
        ("divide in exact, floor-of-half-more", "needs a precision"),
        ("reciprocal in exact", "an exact quotient is divide"),
        ("fused in float32, after-rounding", "fused adds the zero point before-rounding"),
        ("divide in float32, sideways", "'sideways' is no value of a facet; there are after-rounding"),
    ],
)
def test_an_unknown_name_is_told(name: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        arithmetic_named(name)


@pytest.mark.parametrize(
    ("domain", "message"),
    [
        ({"real": "float64"}, "inputs of type 'float64': there are float32, float16, bfloat16"),
        ({"quantized": "int32"}, "codes of type 'int32': there are int2"),
        ({"zero_point": 256}, "zero point 256: uint8 has 0 to 255"),
        ({"real": "float16", "ends": False}, "all scales of float16 are compared"),
    ],
)
def test_a_domain_without_theorems_is_refused(domain: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        ScaleDomain(**domain)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "domain", "message"),
    [
        ("divide in float32, wrap", ScaleDomain(), "saturation wrap: theorems are about saturate only"),
        ("divide in float32, all-flushed", ScaleDomain(), "subnormals all-flushed: theorems are about kept only"),
        ("divide in float16", ScaleDomain(), "precision float16: of float32 there are exact, float32 and float64"),
        ("fused in float64", ScaleDomain(), "no theorem is about fused in float64 of float32"),
        ("fused in float32", ScaleDomain(zero_point=None), "depends on the zero point: name one"),
        ("range in float32", ScaleDomain(), "not defined where a range overflows"),
        ("range in float16", ScaleDomain("float16"), "not defined where a range overflows"),
        ("exact, ROUND_UP", ScaleDomain(ends=False), "a decision at 0 is no multiple of the scale"),
    ],
)
def test_what_no_theorem_is_about_is_refused(name: str, domain: ScaleDomain, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        compare(arithmetic_named(name), arithmetic_named(name), domain)


def test_two_comparisons_never_share_a_log(tmp_path: Path) -> None:
    domain, log = ScaleDomain(quantized="uint2", ends=False), tmp_path / "log.jsonl"

    def again(done: int, of: int) -> None:
        with pytest.raises(InvalidInput, match="another comparison is writing there"):
            compare(RECIPROCAL, DIVIDED, domain, log=log)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(RECIPROCAL, DIVIDED, domain, log=log, progress=again)
    assert len(compare(RECIPROCAL, DIVIDED, domain, log=log).digests) == 128


FLUSHING = """
import ctypes, numpy as np, sys
from tiebreak.conformance.theorems import _all_scales
from tiebreak.golden.errors import MachineryFailed
one = np.ones(1)
side = _all_scales.Side(0, 0, 0, 1, one, one)
_all_scales.least_inputs(side, 1)
library = ctypes.CDLL("libm.so.6")
words = (ctypes.c_uint32 * 16)()
library.fegetenv(words)
words[7] |= 0x8040  # MXCSR: flush results, treat operands as zero
library.fesetenv(words)
scales = np.ones(1, np.uint32)
for call in (lambda: _all_scales.least_inputs(side, 1), lambda: _all_scales.differing(side, side, scales)):
    try:
        call()
    except MachineryFailed as error:
        print(error)
"""


@pytest.mark.skipif(platform.machine() != "x86_64" or sys.platform != "linux", reason="MXCSR is x86's")
def test_a_thread_that_flushes_subnormals_counts_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", FLUSHING], capture_output=True, text=True, check=True)
    assert (
        done.stdout.splitlines()
        == ["this thread's floating-point mode flushes subnormal numbers: no count would be right"] * 2
    )


def test_of_inputs_that_differ_the_one_with_the_fewest_bits_is_shown() -> None:
    left, right = np.array([3, 21, 37, 50]), np.array([7, 25, 35, 50])  # 4 has one bit, 24 and 36 have two
    found = simplest_counterexample(SINGLE, 1, 5, left, right)
    assert (found.x, found.left, found.right) == (4, 6, 5)
    found = simplest_counterexample(SINGLE, 1, 5, 1 - right[::-1], 1 - left[::-1])
    assert found.x == 4 | 1 << 31 and found.left != found.right


def test_a_block_sums_its_counts() -> None:
    scales = np.array([0x00400000, 0x3F800000, 0x3F800001, 0x3FC00000, 0x40000000], np.uint32)
    block = counted_block(7, SINGLE, scales, np.array([9, 0, 9, 2, 0], np.uint32))
    assert (block.block, block.scales, block.differing, block.without) == (7, 5, 20, 2)
    assert (block.worst, block.worst_scale) == (9, 0x00400000)
    assert block.simplest == 0x3FC00000  # 1.5 is from 1 to 2; a subnormal power of two is not
    nothing = counted_block(8, SINGLE, scales, np.zeros(5, np.uint32))
    assert nothing.simplest is None and nothing.sha256 == hashlib.sha256(bytes(20)).hexdigest()
    part = part_of([block, nothing], [3, 4, 5], 3)
    assert (part.exponents, part.scales, part.differing, part.without) == ((3, 4, 5), 30, 60, 21)
    assert (part.worst, part.worst_scale, part.mean) == (9, 0x00400000, 2.0)
