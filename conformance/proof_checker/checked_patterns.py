"""Claims about patterns: each step of a proof by its rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tiebreak.conformance.proof_checker.blocks import BlockDraw
from tiebreak.conformance.proof_checker.checked_counterexample import check_counterexample, check_witnesses
from tiebreak.conformance.proof_checker.claims import CheckedClaim, claim_in
from tiebreak.conformance.proof_checker.evaluation import CODES
from tiebreak.conformance.proof_checker.refusal import ProofRefused, check_form, require
from tiebreak.conformance.proof_checker.terms import Equation, Term, TermReader
from tiebreak.conformance.proof_checker.tried_inputs import check_tried

SWAPPED = "same step, operands changed places"
TRIED = ("every code", "every decision")
RULES = {"identity", "renaming", "maximum", "generalization", "same step", SWAPPED, *TRIED}
FORM = dict.fromkeys(("left", "right"), str) | {"rule": RULES, "exact": (bool, bool), "premises": [int]}
RISING = ("Q", "DQ", "Relu", "Clip")  # never fall as their input grows, if scales are positive
COMMUTATIVE = ("Add", "Mul", "Max", "Mean")


def check_patterns(data: Mapping[str, Any], draw: BlockDraw) -> list[str]:
    """What was checked, a line each. ProofRefused if the certificate does not hold."""
    claim = claim_in(data)
    steps: list[Equation] = []
    told = []
    for number, row in enumerate(data["steps"]):
        try:
            step, why = check_step(row, steps, claim, draw)
        except ProofRefused as problem:
            raise ProofRefused(f"step {number} does not hold: {problem}") from None
        steps.append(step)
        told.append(f"step {number}: {step}: {why}")
    if data["verdict"] == "REFUTED":
        about = not steps or steps[-1][:2] in [goal[:2] for goal in claim.goals]
        require(about, "the last step is none of the claim's equations")
        told += [*check_witnesses(claim, data), check_counterexample(claim, data["counterexample"])]
    if data["verdict"] == "PROVED" or data["holds"]:
        for goal in claim.goals:
            require(goal in steps, f"no step shows {goal}, which the claim says")
        told.append(f"these steps show each of the claim's {len(claim.goals)} equations")
    return told


def check_step(
    row: Mapping[str, Any], steps: Sequence[Equation], claim: CheckedClaim, draw: BlockDraw
) -> tuple[Equation, str]:
    """A step, and why it holds. ProofRefused if it does not follow by its rule."""
    check_form(row, {**FORM, "codes": {str: set(CODES)}}, "it")
    reader = TermReader(claim.real, claim.kinds, row["codes"])
    step = Equation(reader.term(row["left"]), reader.term(row["right"]), tuple(row["exact"]))
    require(step.left.kind == step.right.kind, "its sides are of different element types")
    require(all(0 <= one < len(steps) for one in row["premises"]), "it rests on a step that does not precede it")
    premises = [steps[one] for one in row["premises"]]
    require(all(one.exact == step.exact for one in premises), "it rests on a claim about another arithmetic")
    if row["rule"] in TRIED and not premises:
        return step, f"{check_tried(claim, step, row, draw)}, {row['rule']} each"
    why = ", ".join([row["rule"], *(f"step {one}" for one in row["premises"])])
    require(follows(step, row["rule"], premises, claim.sign), f"it does not follow: {why}")
    return step, why


def follows(step: Equation, rule: str, premises: Sequence[Equation], sign: int) -> bool:
    """Whether a step follows by a rule. The same part of both sides is one number if both arithmetics are the same."""
    left, right, exact = step
    match rule, premises:
        case "identity", []:
            return left == right and (exact[0] == exact[1] or not left.operation)
        case "renaming", [one]:
            return numbered(step) == numbered(one)
        case "maximum", [one]:  # f(max(a, b)) = max(f(a), f(b)) for f that never falls; rounding keeps the order
            return [outside(term, sign) for term in step[:2]] == [outside(term, sign) for term in one[:2]]
        case "generalization", [one] if exact[0] == exact[1]:  # what holds for every code holds for that of a Q
            made = [part for part in left.parts() if part.operation == "Q"]
            cases = [(a, part) for a in one.operands for part in made if a.kind == part.kind]
            return any(one.replaced({operand: part}) == step for operand, part in cases)
        case _ if rule in ("same step", SWAPPED) and exact[0] == exact[1] and left.operation:
            inputs = right.inputs[::-1] if rule == SWAPPED else right.inputs
            wanted = [Equation(*pair, exact) for pair in zip(left.inputs, inputs, strict=False)]
            may_swap = rule != SWAPPED or left.operation in COMMUTATIVE
            return may_swap and replace(left, inputs=()) == replace(right, inputs=()) and premises == wanted
    return False


def numbered(step: Equation) -> Equation:
    """With operands named by their order. Operands of another type stay different."""
    return step.replaced({one: replace(one, name=f"#{number}") for number, one in enumerate(step.operands)})


def outside(term: Term, sign: int) -> Term:
    """Maxima after steps that never fall; with a negative scale Q and DQ do."""
    term = replace(term, inputs=tuple(outside(one, sign) for one in term.inputs))
    if term.operation in RISING and term.inputs[0].operation == "Max" and (sign > 0 or not term.pair):
        parts = tuple(outside(replace(term, inputs=(one,)), sign) for one in term.inputs[0].inputs)
        return Term("Max", term.kind, parts)
    return term
