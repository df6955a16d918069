"""`tiebreak prove` against trying everything in another way: every code, zero point and scale, or every float."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from proven_claims import BF16, IDENTITY, RELU, decided, facts, integers

from tiebreak.conformance.proving.claim import claim_of
from tiebreak.conformance.proving.codes import try_codes
from tiebreak.conformance.proving.deciding import decide, goals_of
from tiebreak.conformance.proving.findings import PROVED, REFUTED, UNKNOWN
from tiebreak.conformance.proving.scales import every_scale, of_exponent, value_of
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.errors import InvalidInput


def scales_of_one_exponent(kind: np.dtype) -> Any:
    return (np.arange(128) / 128 + 1).astype(kind)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Q(DQ(x, s), s)", "x"),
        ("Q(Relu(DQ(x, s)), s)", "x"),
        ("Q(Add(DQ(x, s), DQ(x, s)), s)", "x"),
        ("Q(Relu(DQ(x, s)), s)", "Q(DQ(x, s), s)"),
        ("Q(Sub(DQ(x, s), Relu(DQ(x, s))), s)", "Q(DQ(x, s), s)"),
    ],
)
def test_zero_points_and_scales_with_a_difference_are_those_of_trying_everything(left: str, right: str) -> None:
    """bfloat16 and uint8: 65,536 pairs of code and zero point with each of 128 scales."""
    found = decided(f"{left} = {right}", real="bfloat16")
    scales = scales_of_one_exponent(BF16)
    differs: set[int] = set()
    with_any = np.zeros(128, bool)
    for zero in range(256):
        codes = np.arange(256, dtype=np.int32)[:, None]
        sides = [by_hand(side, codes, zero, scales) for side in (left, right)]
        unequal = np.asarray(sides[0] != sides[1])
        if unequal.any():
            differs.add(zero)
            with_any |= unequal.any(axis=0)
    shown = {zero for one in found.differs for zero in range(one.first, one.last + 1)}
    assert shown == differs == set(range(256)) - set(found.holds) and (found.verdict == REFUTED) == bool(differs)
    if differs:
        assert f"at {with_any.sum()} of the 128 scales tried" in facts(f"{left} = {right}", real="bfloat16")[0]


def by_hand(text: str, codes: Any, zero: int, scales: Any) -> Any:
    """A side's codes, [codes, scales], with every step written out for this test."""
    functions: dict[str, Callable[..., Any]] = {
        "Q": lambda x, s: np.clip(np.rint(x / scales).astype(np.int64) + zero, 0, 255),
        "DQ": lambda q, s: (q - zero).astype(BF16) * scales,
        "Relu": lambda x: np.where(x > 0, x, BF16.type(0)),
        "Add": lambda a, b: (a.astype(np.float32) + b.astype(np.float32)).astype(BF16),
        "Sub": lambda a, b: (a.astype(np.float32) - b.astype(np.float32)).astype(BF16),
    }
    return eval(text, {"__builtins__": {}}, {**functions, "x": codes, "s": "s"})  # noqa: S307 - this file's own text


def test_bfloat16_and_float16_lose_the_differences_that_are_known() -> None:
    for real, least in (("bfloat16", "73"), ("float16", "")):
        found = decided(IDENTITY, real=real)
        assert found.verdict == (REFUTED if least else PROVED)
        assert not least or facts(IDENTITY, real=real)[1].endswith(f" {least}")


@pytest.mark.slow
def test_float16_loses_differences_from_525() -> None:
    assert facts(IDENTITY, real="float16", type="int16")[1].endswith(" 525")


@pytest.mark.parametrize("zero", [0, 1, 128, 255])
def test_decisions_of_a_float_are_those_of_every_float(zero: int) -> None:
    """float16: all finite inputs with scales spread over one exponent."""
    with np.errstate(all="ignore"):
        x = np.arange(65536, dtype=np.uint16).view(np.float16)
        x = x[np.isfinite(x)][:, None]
        scales = (np.arange(0, 1024, 37) / 1024 + 1).astype(np.float16)
        codes = [np.clip(np.rint(v / scales).astype(np.float64) + zero, 0, 255) for v in (np.maximum(x, 0), x)]
    expected = REFUTED if (codes[0] != codes[1]).any() else PROVED
    assert decided(RELU, real="float16", zero_points=str(zero)).verdict == expected == (REFUTED if zero else PROVED)


@pytest.mark.parametrize("text", [IDENTITY, "Q(Add(DQ(x, s), DQ(x, s)), s) = Q(DQ(x, s), s)"])
def test_one_exponent_stands_for_the_others_that_are_named(text: str) -> None:
    """The results of a block of significands are the same at both ends of the range of exponents."""
    claim = claim_of(text, real="float16")
    (goal,) = goals_of(claim)
    from tiebreak.conformance.proving.codes import ScaleSet, scales_for, span

    domain = ScaleSet("uint8", "float16", "positive", "normal", range(256))
    standing = scales_for(goal, domain, span("uint8"))
    tried = try_codes(goal, domain, 1 << 36, lambda done, of: None, 1)
    assert standing.low < 0 < standing.high
    digests = {digest for digest, _, _ in tried.chain.blocks}
    for exponent in (standing.low, standing.high):
        moved = [
            results_at(goal, block.first, block.count)
            for block in of_exponent(exponent, FLOAT_TYPES["float16"], "positive")
        ]
        assert set(moved) == digests, exponent
    outside = [results_at(goal, b.first, b.count) for b in of_exponent(15, FLOAT_TYPES["float16"], "positive")]
    assert set(outside) != digests  # the check can fail: there the largest numbers overflow


def results_at(goal: Any, first: int, count: int) -> str:
    """The digest of a block's results, computed for that block alone."""
    from tiebreak.conformance.proving import codes as module
    from tiebreak.conformance.proving.scales import ScaleSpan, Standing

    domain = module.ScaleSet("uint8", "float16", "positive", "normal", range(256))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "scales_for", lambda *_: Standing([ScaleSpan(first, count)], 0, 0))
        tried = module.try_codes(goal, domain, 1 << 36, lambda done, of: None, 1)
    return str(tried.chain.blocks[0][0])


@pytest.mark.parametrize("real", ["float16", "bfloat16", "float32"])
def test_blocks_hold_each_scale_once(real: str) -> None:
    kind = FLOAT_TYPES[real]
    blocks = list(every_scale(real, "positive"))
    assert blocks[0].first == 1 and sum(block.count for block in blocks) == kind.largest_bits
    assert all(a.first + a.count == b.first for a, b in pairwise(blocks))
    assert value_of(blocks[-1].first + blocks[-1].count - 1, real) < Fraction(2) ** (kind.emax + 1)


def test_integers_are_decided_as_by_trying_all() -> None:
    """Small ranges, in Python's integers."""
    ranges = {"v": "-40..40", "z": "-3..3", "s": "1..4"}
    text = "round_even(v + (z << s), s) = round_even(v, s) + z"
    wrong = [
        (s, v, z)
        for s, v, z in product(range(1, 5), range(-40, 41), range(-3, 4))
        if round(Fraction(v + (z << s), 1 << s)) != round(Fraction(v, 1 << s)) + z
    ]
    found = integers(text, **ranges)
    assert found["verdict"] == REFUTED and found["counterexample"]["operands"] == {"s": "1", "v": "1", "z": "1"}
    assert wrong and all(z % 2 for _, _, z in wrong)
    assert integers(text, "(z & 1) == 0", **ranges)["verdict"] == PROVED


def test_an_integer_formula_holds_a_solver_formula() -> None:
    found = integers("(v << 2) - v = 3 * v", v="int16")
    (step,) = found["steps"]
    assert found["verdict"] == PROVED and step["rule"] == "solver" and "(check-sat)" in step["formula"]


def test_what_is_tried_is_bounded() -> None:
    found = decide(claim_of(IDENTITY), 1000)
    assert found.verdict == UNKNOWN and "combinations of codes and scales, more than 1e+03" in found.missing


def test_a_range_that_leaves_the_words_is_refused() -> None:
    with pytest.raises(InvalidInput, match="can leave words of 72 bits"):
        integers("v * m * m = v", v="int32", m="0..2147483647")


def test_float64_division_of_float32_numbers_is_exact_below_two_to_the_29() -> None:
    """The nearest quotients to a half that there are, from a modular inverse: exact below 2^29, not from there on."""
    wrong, right = [], 0
    for scale, e, side in product(range(2**23 + 1, 2**23 + 8001, 2), (27, 28, 29, 30), (1, -1)):
        x = pow(2, -(e + 1), scale) * side % scale
        while x < 1 << 23:
            x += scale
        number, rest = divmod((x << (e + 1)) - side, scale)
        if x >= 1 << 24 or rest or number % 2 == 0:
            continue
        quotient = Fraction(x << e, scale)
        found = np.rint(np.float64(np.float32(x) * np.float32(2.0**e)) / np.float64(np.float32(scale)))
        if int(found) == round(quotient):
            right += quotient < 1 << 29
        else:
            wrong.append(quotient)
    assert wrong and min(wrong) >= 1 << 29 and right > 1000
    x, scale = np.float32(4508925923688448), np.float32(8392535)
    assert int(np.rint(np.float64(x) / np.float64(scale))) != round(Fraction(float(x)) / Fraction(float(scale)))


def test_a_condition_that_nothing_fulfils_proves_nothing() -> None:
    with pytest.raises(InvalidInput, match="no integers of these ranges fulfil --given"):
        integers("v = v + 1", "v < -200", v="int8")
