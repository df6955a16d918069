"""Counterexamples of claims about patterns, and a difference for each zero point that is said to have one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tiebreak.conformance.proof_checker.claims import CheckedClaim, chosen_zero_points, spanned
from tiebreak.conformance.proof_checker.evaluation import (
    CODES,
    DTYPES,
    FORMATS,
    CheckedPair,
    Values,
    as_is,
    in_reals,
    value_of,
)
from tiebreak.conformance.proof_checker.refusal import NUMBER, ProofRefused, check_form, require
from tiebreak.conformance.proof_checker.terms import Equation, Term
from tiebreak.conformance.proof_checker.tried_scales import goal_of

WITNESS = {"zero_points": (int, int), "operands": {str: NUMBER}, "scales": {str: NUMBER}}


def check_counterexample(claim: CheckedClaim, example: Mapping[str, Any]) -> str:
    """What was computed. ProofRefused if the sides are not what the certificate says, or do not differ."""
    zeros = example["zero_points"]
    fit = set(example["scales"]) == set(zeros) and set(zeros) <= set(claim.kinds)
    require(fit, "the counterexample's scales and zero points are not the claim's")
    for name, zero in zeros.items():
        require(zero in claim.chosen[claim.kinds[name]], f"the claim is not about zero point {zero}")
    said = [float(example["left"]), float(example["right"])]
    for goal in claim.goals:
        if set(goal.pairs) <= set(zeros) and names_of(goal) <= set(example["operands"]):
            some = {name: np.array([zero], np.int32) for name, zero in zeros.items()}
            found = [side.item(0) for side in sides_of(claim, goal, example, some)]
            if found == said and found[0] != found[1]:
                return f"{goal.left} is {example['left']} and {goal.right} is {example['right']}, computed again"
    raise ProofRefused("the sides are not what the counterexample says, or do not differ")


def check_witnesses(claim: CheckedClaim, data: Mapping[str, Any]) -> list[str]:
    """ProofRefused unless each zero point of the claim is listed as one that holds, or has a difference.

    A witness gives codes as distances from each zero point.
    """
    if not data["holds"] and not data["differs"]:
        return []  # of several scales, or of a part of a row
    one_of_each = len(claim.kinds) == 1 and len(claim.goals) == 1
    require(one_of_each, "zero points are listed of a claim that is about several scales or values")
    ((name, kind),) = claim.kinds.items()
    chosen, left_over = set(claim.chosen[kind]), set(claim.chosen[kind]) - set(claim.proved[kind])
    require(chosen >= set(claim.proved[kind]), "a zero point is listed that the claim is not about")
    for witness in data["differs"]:
        check_form(witness, WITNESS, "a witness")
        span = spanned([witness["zero_points"]])
        has_all = set(span) <= set(chosen_zero_points("all", kind))
        require(has_all, f"{kind} has not the zero points of a witness")
        zeros = np.array([zero for zero in span if zero in chosen], np.int32)
        left, right = sides_of(claim, claim.goals[0], witness, {name: zeros}, zeros)
        require((left != right).all(), f"a witness shows no difference for zero point {zeros[left == right][:1]}")
        left_over -= set(zeros.tolist())
        require(not set(claim.proved[kind]) & set(zeros.tolist()), "a zero point is listed twice")
    require(not left_over, "the lists of zero points are not those of the claim")
    return [f"{len(data['differs'])} witnesses cover the other zero points"]


def names_of(goal: Equation) -> set[str]:
    return {one.name for one in goal.operands}


def sides_of(
    claim: CheckedClaim, goal: Equation, example: Mapping[str, Any], zeros: Mapping[str, Values], base: Any = 0
) -> list[Values]:
    """Both sides, for arrays of zero points; codes are distances from `base`.

    ProofRefused for what the claim is not about, or NaN.
    """
    has_all = set(goal.pairs) <= set(example["scales"]) and names_of(goal) <= set(example["operands"])
    require(has_all, "the counterexample lacks a scale or an operand")
    pairs = {}
    for name in goal.pairs:
        scale = float_in(claim, example["scales"][name])
        is_one = (scale > 0 if claim.sign > 0 else scale < 0).all()
        require(is_one, f"{example['scales'][name]} is no scale of the claim's sign")
        pairs[name] = CheckedPair(scale, zeros[name], *CODES[claim.kinds[name]])
    known = {one: operand_in(claim, one, example["operands"][one.name], base) for one in goal.operands}
    check_extent(claim, goal, pairs)
    found = []
    for side, is_exact in goal.sides:
        found.append(value_of(side, known, pairs, in_reals if is_exact else as_is))
        for part in () if is_exact else side.parts():
            is_ordinary = ordinary(value_of(part, known, pairs, as_is), part.kind, claim)
            require(is_ordinary, "at the counterexample a number is NaN, or leaves the range of the claim")
    return list(np.broadcast_arrays(*found))


def ordinary(values: Values, kind: str, claim: CheckedClaim) -> bool:
    """Whether numbers are no NaN, and floats of a claim about normal numbers zero, or finite and normal."""
    if kind in CODES:
        return bool((values >= CODES[kind][0]).all())
    sizes = np.abs(values.astype(np.float64))
    normal = (sizes == 0) | ((sizes >= 2.0 ** FORMATS[claim.real][1]) & np.isfinite(sizes))
    return bool(normal.all() if claim.is_normal else not np.isnan(sizes).any())


def check_extent(claim: CheckedClaim, goal: Equation, pairs: Mapping[str, CheckedPair]) -> None:
    """ProofRefused if a claim about normal numbers has a scale with which other operands' numbers leave the range.

    That is known of codes with one pair, whose numbers are proportional to its scale. A float may be any number.
    """
    if claim.is_normal and len(pairs) == 1 and all(one.kind in CODES for one in goal.operands):
        (size,) = [abs(float(pair.scale[0])) for pair in pairs.values()]
        limits = goal_of(claim, goal, near=False).standing_exponents()
        inside = limits is None or 2.0 ** limits[0] <= size < 2.0 ** (limits[1] + 1)
        require(inside, "at the counterexample's scale numbers leave the normal range")


def float_in(claim: CheckedClaim, text: str) -> Values:
    """A finite number of the claim's float type, [1]."""
    with np.errstate(all="ignore"):
        found = np.array([float(text)]).astype(DTYPES[claim.real])
    require(float(found[0]) == float(text) and np.isfinite(found).all(), f"{text} is no finite {claim.real}")
    return found


def operand_in(claim: CheckedClaim, operand: Term, text: str, base: Any) -> Values:
    """A float, or a code of its type for each zero point of `base`, as a distance from which it is given."""
    if operand.kind not in CODES:
        return float_in(claim, text)
    lowest, highest = CODES[operand.kind]
    codes = np.atleast_1d(base) + float(text)
    is_code = ((codes >= lowest) & (codes <= highest) & (codes == np.rint(codes))).all()
    require(is_code and abs(float(text)) < 1 << 17, f"{text} is no {operand.kind}")
    return codes.astype(np.int32)
