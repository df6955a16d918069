"""Claims about integers: z3 looks for a difference, or Python's integers compute the counterexample.

The functions are written anew, from these sources' own words:

- single_round, double_round: TOSA 1.0, apply_scale_32, whose result is (value * multiplier + round) >> shift.
- high_mul: gemmlowp's SaturatingRoundingDoublingHighMul, but for the one product that saturates.
- divide_by_power: gemmlowp's RoundingDivideByPOT.
- shift_up: a rounding shift of vector instructions, such as NEON's vrshl: (value + 2^(shift - 1)) >> shift.
- kernels_single: LiteRT's MultiplyByQuantizedMultiplier with single rounding; its shift counts to the right.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Mapping
from typing import Any

from tiebreak.conformance.proof_checker.integer_expressions import (
    PythonIntegers,
    condition_value,
    integer_value,
    names_in,
    products_in,
    width_of,
)
from tiebreak.conformance.proof_checker.refusal import ProofRefused, mapping_in, of_type, shortened, text_in
from tiebreak.conformance.proof_checker.terms import parsed

Ranges = Mapping[str, tuple[int, int]]
SECONDS = 120  # for each of two questions to z3


def check_integers(data: Mapping[str, Any], whole: bool, draw: random.Random) -> list[str]:
    """What was checked, a line each. ProofRefused if the claim does not hold, or z3 gives up."""
    claim = mapping_in(data, "claim")
    sides = parsed(text_in(claim, "left")), parsed(text_in(claim, "right"))
    given = parsed(text_in(claim, "given")) if claim.get("given") else None
    ranges = ranges_in(claim, names_in(*sides, *([given] if given else [])))
    if data["verdict"] == "REFUTED":
        return [computed(sides, given, ranges, mapping_in(data, "counterexample"))]
    if data.get("counterexample") is not None:
        raise ProofRefused("a claim that is proved has no counterexample")
    return [solved(sides, given, ranges)]


def ranges_in(claim: Mapping[str, Any], names: list[str]) -> Ranges:
    found = {}
    for name, ends in mapping_in(claim, "ranges").items():
        if not isinstance(ends, list) or [type(one) for one in ends] != [int, int] or ends[0] > ends[1]:
            raise ProofRefused(f"the range of {shortened(name)} is not two integers in order")
        if max(map(abs, ends)) >= 1 << 64:
            raise ProofRefused(f"the range of {shortened(name)} leaves 64 bits")
        found[name] = (ends[0], ends[1])
    if set(found) != set(names):
        raise ProofRefused("the names of the claim are not those with ranges")
    return found


def computed(
    sides: tuple[ast.expr, ast.expr], given: ast.expr | None, ranges: Ranges, example: Mapping[str, Any]
) -> str:
    """A counterexample, in Python's integers."""
    operands = mapping_in(example, "operands")
    if set(operands) != set(ranges):
        raise ProofRefused("the counterexample has not the names of the claim")
    width_of(sides, given, ranges)  # every shift has a distance that is defined
    words = {name: integer_in(operands, name) for name in operands}
    for name, value in words.items():
        if not ranges[name][0] <= value <= ranges[name][1]:
            raise ProofRefused(f"{shortened(name)} = {value} lies outside its range")
    if given is not None and not condition_value(given, words, PythonIntegers()):
        raise ProofRefused("the counterexample does not meet the claim's condition")
    found = [integer_value(side, words, PythonIntegers()) for side in sides]
    if found != [integer_in(example, name) for name in ("left", "right")] or found[0] == found[1]:
        raise ProofRefused("the sides are not what the counterexample says, or do not differ")
    return f"the left side is {found[0]} and the right side is {found[1]}, by Python's integers"


def integer_in(data: Mapping[str, Any], name: str) -> int:
    text = str(of_type(data, name, str))
    if not text.removeprefix("-").isdecimal() or len(text) > 40 or not text.isascii():
        raise ProofRefused(f"{shortened(text)} is no integer")
    return int(text)


def solved(sides: tuple[ast.expr, ast.expr], given: ast.expr | None, ranges: Ranges) -> str:
    """Asks z3 whether the sides can differ; first with any numbers in the place of products, which is easier."""
    try:
        from tiebreak.conformance.proof_checker.z3_words import Z3Question  # few users have z3
    except ModuleNotFoundError:
        raise ProofRefused("a claim about integers is checked by z3: pip install 'tiebreak[proofs]'") from None

    bits = width_of(sides, given, ranges)
    for abstracted in [True, False] if products_in(*sides) else [False]:
        question = Z3Question(sides, given, ranges, bits, abstracted=abstracted, seconds=SECONDS)
        answer = question.answer()
        if answer == "unsat":
            return f"{question.name} shows that no words in the ranges differ, in words of {bits} bits"
        if answer == "sat" and not abstracted:
            raise ProofRefused(f"z3 finds words at which the sides differ: {question.model()}")
    raise ProofRefused(f"z3 gave up after {SECONDS} s: whether the claim holds is not known to this checker")
