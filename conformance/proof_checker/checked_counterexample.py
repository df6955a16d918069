"""Counterexamples of claims about patterns, and a difference for each zero point that is said to have one."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.proof_checker.claims import CheckedClaim, ProofStep, chosen_zero_points, spanned
from tiebreak.conformance.proof_checker.evaluation import (
    CODES,
    DTYPES,
    FORMATS,
    CheckedPair,
    Values,
    float_value,
    real_value,
)
from tiebreak.conformance.proof_checker.refusal import ProofRefused, check_form, shortened
from tiebreak.conformance.proof_checker.terms import Term, operands_of, pairs_of
from tiebreak.conformance.proof_checker.tried_blocks import standing_exponents

WITNESS = {"zero_points": (int, int), "operands": {str: str}, "scales": {str: str}}


def check_counterexample(claim: CheckedClaim, example: Mapping[str, Any]) -> str:
    """What was computed. ProofRefused if the sides are not what the certificate says, or do not differ."""
    zeros = example["zero_points"]
    if set(example["scales"]) != set(zeros) or not set(zeros) <= set(claim.data["pairs"]):
        raise ProofRefused("the counterexample's scales and zero points are not the claim's")
    for name, zero in zeros.items():
        if zero not in claim.zero_points(claim.data["pairs"][name]):
            raise ProofRefused(f"the claim is not about zero point {zero}")
    said = [number_in(example[name]) for name in ("left", "right")]
    for left, right in claim.goals:
        names = {one.name for one in operands_of(left, right)}
        if set(pairs_of(left, right)) <= set(zeros) and names <= set(example["operands"]):
            some = {name: np.array([zero], np.int32) for name, zero in zeros.items()}
            found = [side.item(0) for side in sides_of(claim, left, right, example, some)]
            if found == said and found[0] != found[1]:
                return f"{left} is {example['left']} and {right} is {example['right']}, computed again"
    raise ProofRefused("the sides are not what the counterexample says, or do not differ")


def check_witnesses(claim: CheckedClaim, data: Mapping[str, Any]) -> list[str]:
    """ProofRefused unless each zero point of the claim is listed as one that holds, or has a difference."""
    if not data["holds"] and not data["differs"]:
        return []  # of several scales, or of a part of a row
    pairs, goals = dict(claim.data["pairs"]), claim.goals
    if len(pairs) != 1 or len(goals) != 1:
        raise ProofRefused("zero points are listed of a claim that is about several scales or values")
    ((name, kind),) = pairs.items()
    chosen, shown = claim.zero_points(kind), set(claim.proved[kind])
    if not shown <= set(chosen):
        raise ProofRefused("a zero point is listed that the claim is not about")
    for witness in data["differs"]:
        check_form(witness, WITNESS, "a witness")
        spans = spanned([witness["zero_points"]])
        zeros = np.array([zero for zero in spans if zero in chosen], np.int32)
        left, right = sides_of(claim, *goals[0], witness, {name: zeros}, from_zero_point=True)
        if not (left != right).all():
            zero = zeros[np.argmax(left == right)] if len(zeros) else witness["zero_points"]
            raise ProofRefused(f"a witness shows no difference for zero point {zero}")
        if set(claim.proved[kind]) & set(zeros.tolist()):
            raise ProofRefused("a zero point is listed twice")
        if not set(spans) <= set(chosen_zero_points("all", kind)):
            raise ProofRefused(f"{kind} has not the zero points of a witness")
        shown |= set(zeros.tolist())
    if shown != set(chosen):
        raise ProofRefused("the lists of zero points are not those of the claim")
    return [f"{len(data['differs'])} witnesses show a difference for each other zero point"]


def sides_of(
    claim: CheckedClaim,
    left: Term,
    right: Term,
    example: Mapping[str, Any],
    zeros: Mapping[str, Values],
    *,
    from_zero_point: bool = False,
) -> list[Values]:
    """Both sides, for arrays of zero points. ProofRefused for what the claim is not about, or NaN."""
    pairs = pairs_of(left, right)
    if not set(pairs) <= set(example["scales"]):
        raise ProofRefused("the counterexample lacks a scale")
    scales = {name: float_in(claim, example["scales"][name]) for name in pairs}
    for name in pairs:
        if not scales[name] or not np.isfinite(scales[name]) or (scales[name] < 0) != (claim.sign < 0):
            raise ProofRefused(f"{shortened(example['scales'][name])} is no {claim.data['sign']} finite scale")
    known = {}
    for one in operands_of(left, right):
        text = example["operands"].get(one.name)
        known[one] = operand_in(claim, one, text, zeros[pairs[0]] if from_zero_point else np.zeros(1, np.int32))
    check_extent(claim, left, right, scales)
    found = []
    for side, is_exact in ((left, claim.exact[0]), (right, claim.exact[1])):
        kinds = {name: CODES[claim.data["pairs"][name]] for name in pairs}
        if is_exact:
            found.append(exact_side(claim, side, known, scales, zeros, kinds))
            continue
        wide = {name: CheckedPair(scales[name], zeros[name], *kinds[name]) for name in pairs}
        with np.errstate(all="ignore"):
            values = {part: float_value(part, known, wide, claim.real) for part in side.parts()}
        for part, value in values.items():
            if part.kind in CODES:
                if (value < CODES[part.kind][0]).any():
                    raise ProofRefused("at the counterexample a number is NaN")
            elif not is_ordinary(value, claim):
                raise ProofRefused("at the counterexample a number is NaN, or leaves the range of the claim")
        found.append(values[side])
    return list(np.broadcast_arrays(*found))


def exact_side(
    claim: CheckedClaim,
    side: Term,
    known: Mapping[Term, Values],
    scales: Mapping[str, Values],
    zeros: Mapping[str, Values],
    kinds: Mapping[str, tuple[int, int]],
) -> Values:
    found = []
    for place in range(max((len(one) for one in zeros.values()), default=1)):
        some = {one: Fraction(float(value[place % len(value)])) for one, value in known.items()}
        pairs = {
            name: CheckedPair(Fraction(float(scale)), int(zeros[name][place]), *kinds[name])
            for name, scale in scales.items()
        }
        found.append(real_value(side, some, pairs, claim.real))
    return np.array(found, object)


def is_ordinary(value: Values, claim: CheckedClaim) -> bool:
    """Whether numbers are no NaN, and of a claim about normal numbers zero, or finite and normal."""
    sizes = np.abs(value.astype(np.float64))
    normal = (sizes == 0) | ((sizes >= 2.0 ** FORMATS[claim.real][1]) & np.isfinite(sizes))
    return bool(normal.all() if claim.is_normal else not np.isnan(sizes).any())


def check_extent(claim: CheckedClaim, left: Term, right: Term, scales: Mapping[str, Values]) -> None:
    """ProofRefused if a claim about normal numbers has a scale with which other operands' numbers leave the range.

    That is known of codes with one pair, whose numbers are proportional to its scale. A float may be any number.
    """
    if claim.is_normal and len(scales) == 1 and all(one.kind in CODES for one in operands_of(left, right)):
        limits = standing_exponents(claim, ProofStep("every code", left, right, claim.exact, (), {}))
        scale = Fraction(abs(float(next(iter(scales.values())))))
        if limits and not Fraction(2) ** limits[0] <= scale < Fraction(2) ** (limits[1] + 1):
            raise ProofRefused("at the counterexample's scale numbers leave the normal range")


def number_in(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ProofRefused(f"{shortened(text)} is no number") from None


def float_in(claim: CheckedClaim, text: str) -> Values:
    """A number of the claim's float type."""
    number = number_in(text)
    with np.errstate(all="ignore"):
        found = np.array(number).astype(DTYPES[claim.real])
    if float(found) != number:
        raise ProofRefused(f"{shortened(text)} is no {claim.real}")
    return found


def operand_in(claim: CheckedClaim, operand: Term, text: str | None, zeros: Values) -> Values:
    """A float, or a code of its type for each zero point, which it is given as a distance from."""
    if text is None:
        raise ProofRefused(f"the counterexample lacks operand {shortened(operand)}")
    if operand.kind not in CODES:
        found = float_in(claim, text)
        if not np.isfinite(found):
            raise ProofRefused(f"operand {shortened(operand)} is infinite")
        return found.reshape(1)
    lowest, highest = CODES[operand.kind]
    number = number_in(text)
    is_code = number == np.rint(number) and abs(number) < 1 << 17
    if not is_code or (number + zeros < lowest).any() or (number + zeros > highest).any():
        raise ProofRefused(f"{shortened(text)} is no {operand.kind}")
    return (zeros + int(number)).astype(np.int32)
