"""Terms: what each operation gives, in real arithmetic and in working precision, by numbers worked out by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from golden_files import terms_of

from tiebreak.golden import oracle
from tiebreak.golden.arithmetic import term as t
from tiebreak.golden.arithmetic.real import RULES, RealEvaluation
from tiebreak.golden.arithmetic.results import UndefinedResult
from tiebreak.golden.arithmetic.term import Term
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, SMALL_FLOAT_TYPES, Real, encode
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, ZERO, Quantization, bits_of
from tiebreak.golden.rounding import EVEN, ROUND_MODES

SINGLE, BYTE = FLOAT_TYPES["float32"], INTEGER_TYPES["int8"]
E4M3 = SMALL_FLOAT_TYPES["float8_e4m3fn"]
X, Y = t.operand(0, "x"), t.operand(1, "y")
TENTH, THIRD = Fraction(1, 10), Fraction(1, 3)
INF, NAN = math.inf, math.nan


def value(term: Term, *operands: Real, working: bool = False) -> Any:
    """The number of a term that has no end yet."""
    return RealEvaluation(term, SINGLE if working else None)(operands)


def result(term: Term, *operands: Real, working: bool = False) -> tuple[int, int]:
    return RealEvaluation(term, SINGLE if working else None)(operands)


def test_a_step_rounds_in_working_precision_alone() -> None:
    quotient = t.step(X / Y)
    assert value(quotient, Fraction(1), Fraction(3)) == THIRD
    assert value(quotient, Fraction(1), Fraction(3), working=True) == Fraction(11184811, 1 << 25)
    assert value(t.step(X / Y, FLOAT_TYPES["float16"]), Fraction(1), Fraction(3), working=True) == Fraction(1365, 4096)
    assert value(X / Y, Fraction(1), Fraction(3), working=True) == THIRD, "what is no step is exact"
    assert value(t.step(X * X), Fraction(2) ** 100, working=True) == INF
    assert value(t.held(X, SINGLE), TENTH) == Fraction(13421773, 1 << 27), "what is held is rounded in both"


def test_parts_have_a_precision_of_their_own() -> None:
    exact, half = t.in_reals(t.step(X / Y)), t.in_type(t.step(X / Y), FLOAT_TYPES["float16"])
    assert value(exact, Fraction(1), Fraction(3), working=True) == THIRD
    assert value(half, Fraction(1), Fraction(3), working=True) == Fraction(1365, 4096)
    chosen = t.by_form(X, Y)
    assert (value(chosen, Fraction(1), Fraction(2)), value(chosen, Fraction(1), Fraction(2), working=True)) == (1, 2)


def test_what_is_not_needed_need_not_be_defined() -> None:
    guarded = t.where(t.equal(Y, 0), 7, X / Y)
    assert value(guarded, Fraction(6), Fraction(0)) == 7
    assert value(guarded, Fraction(6), Fraction(2)) == 3
    assert value(t.or_else(X / Y, Y), Fraction(6), Fraction(0)) == 0
    either = (Y > 0) & (X / Y > 1) | t.equal(Y, 0)
    assert value(t.where(either, 1, 0), Fraction(6), Fraction(0)) == 1


@pytest.mark.parametrize(
    ("term", "operands"),
    [
        (X / Y, (Fraction(1), Fraction(0))),
        (X / t.step(Y), (Fraction(1), Fraction(1, 1 << 200))),  # a divisor that its step rounds to 0
        (t.finite(X), (INF,)),
        (t.number(X), (NAN,)),
        (t.clamp(X, 0, 1), (NAN,)),
        (t.require(X > 0, X), (Fraction(0),)),
        (t.require(False, X), (Fraction(1),)),
        (t.agreed(X, Y), (Fraction(1), Fraction(2))),
        (t.or_else(X / Y, t.finite(X)), (INF, Fraction(0))),
    ],
)
def test_what_a_document_leaves_open_is_undefined(term: Term, operands: tuple[Real, ...]) -> None:
    with pytest.raises(UndefinedResult):
        value(term, *operands, working=True)


def test_a_part_that_is_used_twice_is_heard_once() -> None:
    heard: list[Real] = []
    once = t.rounded(X, EVEN)
    assert RealEvaluation(t.whole(once + once), None, heard.append)([Fraction(5, 2)]) == (4, IN_RANGE)
    assert heard == [Fraction(5, 2)]


def test_terms_are_equal_by_their_steps() -> None:
    assert t.step(X + 1).by("A-F1") == t.step(X + 1) and hash(X + 1) == hash(t.operand(0, "x") + Fraction(1))
    assert X + Y != Y + X and t.rounded(X, EVEN) != t.rounded(X, "ROUND_UP")


def test_steps_come_as_they_were_written() -> None:
    one, other = X + 1, (X + 1).by("A-F1")
    assert one == other
    names = [(step.name, *step.clauses) for step in t.steps_of(one * other + one)]
    first = [("operand",), ("number",), ("add",)]
    assert names == [*first, ("number",), ("add", "A-F1"), ("multiply",), ("add",)]


@pytest.mark.parametrize(
    ("term", "wanted"),
    [
        (t.to_integer(X, BYTE), {Fraction(5): (5, IN_RANGE), Fraction(200): (127, OUT_OF_RANGE),
                                 -INF: (-128, OUT_OF_RANGE)}),
        (t.whole(t.wrapped(X, BYTE)), {Fraction(128): (-128, IN_RANGE), Fraction(-129): (127, IN_RANGE)}),
        (t.to_real(X, SINGLE), {Fraction(1): (0x3F800000, IN_RANGE), -INF: (0xFF800000, IN_RANGE),
                                NAN: (0x7FC00000, IN_RANGE), Fraction(-1, 1 << 200): (0, ZERO)}),
        (t.to_float(X, E4M3, "largest", "no"), {INF: (0x7E, IN_RANGE), Fraction(-500): (0xFE, IN_RANGE)}),
        (t.to_float(X, E4M3, "ieee", "exact"), {INF: (0x7F, IN_RANGE), Fraction(500): (0x7F, IN_RANGE),
                                                Fraction(0): (0, ZERO), Fraction(1, 1 << 20): (0, IN_RANGE)}),
        (t.to_float(X, E4M3, "largest", "signed"), {-0.0: (0x80, IN_RANGE), Fraction(-1, 1 << 20): (0x80, IN_RANGE)}),
        (t.to_float(X, E4M3, "open", "any"), {Fraction(448): (0x7E, IN_RANGE), Fraction(480): (0x7E, OUT_OF_RANGE)}),
        (t.bits(9), {Fraction(0): (9, IN_RANGE)}),
    ],
)  # fmt: skip
def test_results_have_a_code_and_a_state(term: Term, wanted: dict[Real, tuple[int, int]]) -> None:
    assert {operand: result(term, operand) for operand in wanted} == wanted


def test_numbers() -> None:
    assert value(t.exponent(X), Fraction(3, 8)) == -2 and value(t.power_of_two(X), Fraction(-2)) == Fraction(1, 4)
    assert value(t.clamp(X, 0, 1), Fraction(3)) == 1 and value(t.total([X, Y, X]), Fraction(1), Fraction(5)) == 7
    assert value(t.least(X, Y), Fraction(1), -INF) == -INF and value(t.greatest(X, Y), Fraction(1), -INF) == 1
    assert value(t.magnitude(X), Fraction(-3)) == 3
    assert [value(t.where(t.is_negative(X), 1, 0), one) for one in (-0.0, Fraction(0), -INF, INF)] == [1, 0, 1, 0]
    assert [value(cut(X), Fraction(-5, 2)) for cut in (t.floor, t.truncated)] == [-3, -2]


def test_every_operation_is_used_by_an_operator() -> None:
    """A rule that no document needs would be a second language."""
    used = {one.name for spec in OPERATORS.values() for term in terms_of(spec) for one in t.steps_of(term)}
    assert sorted(set(RULES) - used) == []


@pytest.mark.parametrize("mode", ROUND_MODES)
def test_a_plain_quantization_is_what_either_document_says(mode: str) -> None:
    """nGraph's Quantize and ONNX's QuantizeLinear pose it; its term is nGraph's."""
    random = np.random.default_rng(3)
    x = random.integers(0, 1 << 32, 4000, np.uint32)
    scale = bits_of(np.float32([0.1, 0.25, 3e-39, 0.0])).reshape(4, 1)
    kind = INTEGER_TYPES["uint8"]
    problem = Quantization(SINGLE, kind, mode, (0,), x.reshape(4, 1000), scale, np.array([[0], [128], [255], [3]]))
    first, second = (oracle.term_of(problem, oracle.TERMS[name]) for name in ("ngraph.Quantize", "onnx.QuantizeLinear"))
    for form in (None, SINGLE):
        one, other = (RealEvaluation(term, form) for term in (first, second))
        for codes in zip(*(operand[::37].tolist() for operand in problem.operands), strict=True):
            operands = [oracle.value_of(code, each) for code, each in zip(codes, problem.kinds, strict=True)]
            assert outcome(one, operands) == outcome(other, operands), codes


def outcome(evaluate: RealEvaluation, operands: list[Real]) -> tuple[int, int] | None:
    try:
        return evaluate(operands)
    except UndefinedResult:
        return None


def test_a_small_fraction_is_encoded_once() -> None:
    assert result(t.to_real(X, SINGLE), TENTH) == (encode(TENTH, SINGLE), IN_RANGE)
