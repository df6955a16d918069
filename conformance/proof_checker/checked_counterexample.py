"""A counterexample of a claim about patterns: both sides are computed, in fractions, and differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tiebreak.conformance.proof_checker.claim_terms import (
    CODES,
    PatternClaim,
    claim_in,
    zero_points_of,
)
from tiebreak.conformance.proof_checker.covered_scales import standing_exponents
from tiebreak.conformance.proof_checker.exact_numbers import (
    NoNumber,
    Number,
    code_of,
    number_of,
    power,
    product_of,
    quotient_of,
    rounded,
    sum_of,
)
from tiebreak.conformance.proof_checker.refusal import ProofRefused, mapping_in, shortened, text_in, whole_in
from tiebreak.conformance.proof_checker.terms import Term, operands_of, pairs_of
from tiebreak.conformance.proof_checker.tried_goal import TriedGoal


@dataclass(frozen=True)
class ClaimSetting:
    """Operands, scales and zero points of a counterexample, which the claim is about."""

    claim: PatternClaim
    operands: Mapping[str, Number]
    scales: Mapping[str, Fraction]
    zero_points: Mapping[str, int]

    def value(self, term: Term, real: str) -> Number:
        """A number, each step rounded to a float type; in real arithmetic if `real` is empty."""
        if not term.operation:
            return self.operands[term.name]
        inner = [self.value(one, real) for one in term.inputs]
        a, b = inner[0], inner[-1]
        if term.operation == "Q":
            ends = CODES[self.claim.pairs[term.pair]]
            return Fraction(code_of(quotient_of(a, self.scales[term.pair], real), self.zero_points[term.pair], *ends))
        if term.operation == "DQ":
            return product_of(rounded(a - self.zero_points[term.pair], real), self.scales[term.pair], real)
        if term.operation == "Clip":
            low, high = (rounded(Fraction(number), real) for number in term.numbers)
            return min(max(a, low), high)
        return arithmetic_step(term.operation, a, b, real)


def arithmetic_step(operation: str, a: Number, b: Number, real: str) -> Number:
    if operation == "Relu":
        return max(a, Fraction(0))
    if operation == "Max":
        return max(a, b)
    if operation == "Mul":
        return product_of(a, b, real)
    if operation in ("Add", "Sub"):
        return sum_of(a, b if operation == "Add" else -b, real)
    if operation == "Mean":
        return product_of(sum_of(a, b, real), Fraction(1, 2), real)
    if operation == "Linear":
        return sum_of(product_of(a, Fraction(3, 4), real), product_of(b, Fraction(1, 4), real), real)
    raise ProofRefused(f"{operation} is a curve, which fractions do not compute")


def check_counterexample(data: Mapping[str, Any]) -> str:
    """What was computed. ProofRefused if the sides are not what the certificate says, or do not differ."""
    claim, example = claim_in(data), mapping_in(data, "counterexample")
    said = [number_of(example.get(name)) for name in ("left", "right")]
    setting = setting_in(claim, example)
    for left, right in claim.goals:
        if not set(operands_of(left, right)) <= set(setting.operands):
            continue
        if not set(pairs_of(left, right)) <= set(setting.scales):
            continue
        check_extent(setting, left, right)
        try:
            sides = zip((left, right), claim.exact, strict=True)
            found = [setting.value(side, "" if is_exact else claim.real) for side, is_exact in sides]
        except NoNumber:
            continue
        if found == said and found[0] != found[1]:
            return f"{left} is {text_in(example, 'left')} and {right} is {text_in(example, 'right')}, by fractions"
    raise ProofRefused("the sides are not what the counterexample says, or do not differ")


def setting_in(claim: PatternClaim, example: Mapping[str, Any]) -> ClaimSetting:
    scales, zeros = mapping_in(example, "scales"), mapping_in(example, "zero_points")
    if set(scales) != set(zeros) or not set(scales) <= set(claim.pairs):
        raise ProofRefused("the counterexample's scales and zero points are not the claim's")
    found_scales = {name: scale_of(claim, text) for name, text in scales.items()}
    found_zeros = {name: whole_in(zeros, name) for name in zeros}
    for name, zero in found_zeros.items():
        if zero not in zero_points_of(claim, claim.pairs[name]):
            raise ProofRefused(f"the claim is not about zero point {zero}")
    operands = {}
    for name, text in mapping_in(example, "operands").items():
        name = name.removesuffix("[0]")
        operands[name] = operand_of(claim, name, text)
    return ClaimSetting(claim, operands, found_scales, found_zeros)


def scale_of(claim: PatternClaim, text: object) -> Fraction:
    found = number_of(text)
    if not isinstance(found, Fraction) or rounded(found, claim.real) != found or found == 0:
        raise ProofRefused(f"{shortened(text)} is no scale: a finite {claim.real} but zero")
    if (found < 0) != (claim.sign == "negative"):
        raise ProofRefused(f"the claim is about {claim.sign} scales, the counterexample has {shortened(text)}")
    return found


def operand_of(claim: PatternClaim, name: str, text: object) -> Number:
    found, kind = number_of(text), claim.operand_type(name)
    if not isinstance(found, Fraction):
        raise ProofRefused(f"operand {shortened(name)} is infinite")
    if kind in CODES:
        if found.denominator != 1 or not CODES[kind][0] <= found <= CODES[kind][1]:
            raise ProofRefused(f"{shortened(text)} is no {kind}")
    elif rounded(found, claim.real) != found:
        raise ProofRefused(f"{shortened(text)} is no {claim.real}")
    return found


def check_extent(setting: ClaimSetting, left: Term, right: Term) -> None:
    """ProofRefused if a claim about normal numbers has a scale whose numbers can be others.

    That is known of codes with one pair, whose numbers are proportional to its scale. A float may be any number.
    """
    claim = setting.claim
    pairs = pairs_of(left, right)
    floats = [one for one in operands_of(left, right) if claim.operand_type(one) not in CODES]
    if claim.extent == "all" or len(pairs) != 1 or floats:
        return
    limits = standing_exponents(TriedGoal(claim, left, right, claim.exact, {}), by="every code")
    if limits is None:
        return
    scale = abs(setting.scales[pairs[0]])
    if not power(limits[0]) <= scale < power(limits[1] + 1):
        raise ProofRefused("at the counterexample's scale numbers leave the normal range, which the claim is not about")
