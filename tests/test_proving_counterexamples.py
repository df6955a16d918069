"""The counterexamples of `tiebreak prove` are differences in fractions, inside the claim, and the simplest."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from proven_claims import BF16, decided

from tiebreak.conformance.proving.findings import REFUTED
from tiebreak.conformance.proving.job import ClaimDomain, prove_job
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.patterns.exact import exact
from tiebreak.golden.patterns.graph import ScalePair
from tiebreak.golden.patterns.stepwise import stepwise
from tiebreak.golden.patterns.text import pattern_of
from tiebreak.reports.proofs import facts_of


@pytest.mark.parametrize("real", ["float16", "bfloat16"])
def test_a_counterexample_of_a_float_is_one_in_fractions(real: str) -> None:
    found = decided("Q(x, s) = exact(Q(x, s))", real=real).counterexample
    assert found is not None
    x, scale, zero = Fraction(float(found.operands["x"])), Fraction(float(found.scales["s"])), found.zero_points["s"]
    assert str(min(max(round(x / scale) + zero, 0), 255)) == found.right != found.left
    kind = np.dtype(np.float16) if real == "float16" else BF16
    quotient = np.divide(np.array(float(x), kind), np.array(float(scale), kind))
    assert str(int(np.clip(np.rint(float(quotient)) + zero, 0, 255))) == found.left


def test_a_search_finds_what_both_truths_show() -> None:
    found = decided("add = exact(add)")
    example = found.counterexample
    assert found.verdict == REFUTED and example is not None
    pattern = pattern_of("add")
    pairs = {
        name: ScalePair(np.float32(text), example.zero_points[name], "uint8") for name, text in example.scales.items()
    }
    rows = {name: np.array([[int(text)]], np.uint8) for name, text in example.operands.items()}
    assert str(stepwise(pattern, pairs, rows)[0, 0]) == example.left != example.right
    assert str(exact(pattern, pairs, rows)[0, 0]) == example.right


@pytest.mark.slow
def test_two_arithmetics_are_counted() -> None:
    where = ClaimDomain(real="bfloat16", zero_points="0")
    found = prove_job("reciprocal in bfloat16 = divide in bfloat16", where, None, lambda done, of: None)
    x, scale = (
        Fraction(float(found["counterexample"][part][name])) for part, name in (("operands", "x"), ("scales", "scale"))
    )
    assert found["verdict"] == REFUTED and facts_of(found)[1] == "1,137 of 32,639 scales have no difference"
    quotient = np.divide(np.array(float(x), BF16), np.array(float(scale), BF16))
    assert found["counterexample"]["right"] == str(int(np.clip(np.rint(float(quotient)), 0, 255)))


@pytest.mark.slow
def test_a_search_keeps_to_the_normal_range() -> None:
    """Relu of a Relu differs from nothing; only sums that overflow in float16 differ from real arithmetic here."""
    text = "Q(Add(DQ(a, s), DQ(b, t)), t) = exact(Q(Add(DQ(a, s), DQ(b, t)), t))"
    for extent in ("normal", "all"):
        found = decided(text, real="float16", extent=extent).counterexample
        assert found is not None
        numbers = [
            (int(found.operands[name]) - found.zero_points[pair]) * Fraction(float(found.scales[pair]))
            for name, pair in (("a", "s"), ("b", "t"))
        ]
        assert extent == "all" or all(
            abs(one) <= 65504 and (one == 0 or abs(one) >= 2**-14) for one in (*numbers, sum(numbers))
        )


def test_a_counterexample_has_the_names_of_the_claim() -> None:
    text = "Concat(Q(DQ(Q(x, s), s), s), Q(DQ(v, s), s)) = Concat(Q(x, s), v)"
    found = decided(text, real="bfloat16").counterexample
    assert found is not None and set(found.operands) <= {"x", "v"}


@pytest.mark.parametrize("type_", ["int4", "int2"])
def test_a_counterexample_for_all_zero_points_shows_two_codes(type_: str) -> None:
    where = ClaimDomain(real="bfloat16", type=type_)
    found = prove_job("divide in bfloat16 = exact", where, None, lambda done, of: None)["counterexample"]
    ends = INTEGER_TYPES[type_]
    x, scale = (Fraction(float(found[part][name])) for part, name in (("operands", "x"), ("scales", "scale")))
    zero = found["zero_points"]["scale"]
    assert found["left"] != found["right"] and ends.lowest <= zero <= ends.highest
    assert found["right"] == str(min(max(round(x / scale) + zero, ends.lowest), ends.highest))


@pytest.mark.parametrize("real", ["float16", "bfloat16"])
def test_an_input_has_the_fewest_bits_under_its_scale(real: str) -> None:
    """Against every float of the type."""
    text = "Q(x, s) = exact(Q(x, s))"
    found = decided(text, real=real).counterexample
    assert found is not None
    kind = np.dtype(np.float16) if real == "float16" else BF16
    scale = np.array(float(found.scales["s"]), kind)
    best = None
    with np.errstate(all="ignore"):
        every = np.arange(1 << 16, dtype=np.uint16).view(kind)
        near = every[np.abs(every.astype(np.float64)) <= 300 * float(scale)]
        rounded = np.rint(np.divide(near, scale)).astype(np.float64)
    for x, left in zip(near.astype(np.float64).tolist(), rounded.tolist(), strict=True):
        right = round(Fraction(x) / Fraction(float(scale)))
        if left != right and min(abs(left), abs(right)) < 255:
            number = abs(Fraction(x).numerator)
            key = ((number // (number & -number)).bit_length(), abs(x))
            best = key if best is None else min(best, key)
    x = Fraction(float(found.operands["x"]))
    number = abs(x.numerator)
    assert best == ((number // (number & -number)).bit_length(), float(abs(x)))


def test_a_search_simplifies_its_operands() -> None:
    found = decided("Q(MaxPool(x), s) = MaxPool(Q(x, s))", sign="negative").counterexample
    assert found is not None and (found.operands, found.scales) == ({"x": "0.0", "x[1]": "-1.0"}, {"s": "-1.0"})
