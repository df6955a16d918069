"""Claims about patterns: each step of a proof by its rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiebreak.conformance.proof_checker.checked_counterexample import check_counterexample, check_witnesses
from tiebreak.conformance.proof_checker.claims import BlockDraw, CheckedClaim, ProofStep, claim_in
from tiebreak.conformance.proof_checker.evaluation import CODES
from tiebreak.conformance.proof_checker.refusal import ProofRefused, check_form, shortened
from tiebreak.conformance.proof_checker.terms import Term, TermReader, operands_of
from tiebreak.conformance.proof_checker.tried_blocks import check_tried

SWAPPED = "same step, operands changed places"
PREMISES = {
    "identity": 0,
    "every code": 0,
    "every decision": 0,
    "renaming": 1,
    "maximum": 1,
    "generalization": 1,
    "same step": -1,  # as many as the step has inputs
    SWAPPED: 2,
}
FORM = {
    "rule": set(PREMISES),
    "left": str,
    "right": str,
    "exact": (bool, bool),
    "premises": [int],
    "codes": {str: set(CODES)},
}
RISING = ("Q", "DQ", "Relu", "Clip")  # never fall as their input grows, if scales are positive
COMMUTATIVE = ("Add", "Mul", "Max", "Mean")


def check_patterns(data: Mapping[str, Any], draw: BlockDraw) -> list[str]:
    """What was checked, a line each. ProofRefused if the certificate does not hold."""
    claim = claim_in(data)
    steps: list[ProofStep] = []
    told = []
    for number, row in enumerate(data["steps"]):
        try:
            step = step_in(row, claim)
            if any(not 0 <= one < number for one in step.premises):
                raise ProofRefused("it rests on a step that does not precede it")
            why = check_step(step, [steps[one] for one in step.premises], claim, draw)
        except ProofRefused as problem:
            raise ProofRefused(f"step {number} does not hold: {problem}") from None
        steps.append(step)
        told.append(f"step {number}: {step.left} = {step.right}: {why}")
    if data["verdict"] == "REFUTED":
        if steps and (steps[-1].left, steps[-1].right) not in claim.goals:
            raise ProofRefused("the last step is none of the claim's equations")
        told += [*check_witnesses(claim, data), check_counterexample(claim, data["counterexample"])]
    if data["verdict"] == "PROVED" or data["holds"]:
        for left, right in claim.goals:
            if not any(one.says(left, right, claim.exact) for one in steps):
                raise ProofRefused(f"no step shows {shortened(left)} = {shortened(right)}, which the claim says")
        told.append(f"these steps show each of the claim's {len(claim.goals)} equations")
    return told


def step_in(row: Mapping[str, Any], claim: CheckedClaim) -> ProofStep:
    check_form(row, FORM, "it")
    reader = TermReader(claim.real, claim.data["pairs"], row["codes"])
    left, right = reader.term(row["left"]), reader.term(row["right"])
    if left.kind != right.kind:
        raise ProofRefused("its sides are of different element types")
    return ProofStep(row["rule"], left, right, tuple(row["exact"]), tuple(row["premises"]), row)


def check_step(step: ProofStep, premises: list[ProofStep], claim: CheckedClaim, draw: BlockDraw) -> str:
    """Why the step holds. ProofRefused if it does not follow by its rule."""
    if any(one.exact != step.exact for one in premises):
        raise ProofRefused("it rests on a claim about another arithmetic")
    wanted = len(step.left.inputs) if step.rule == "same step" else PREMISES[step.rule]
    if len(premises) != wanted:
        raise ProofRefused(f"the rule {step.rule} rests on {wanted} steps, not on {len(premises)}")
    is_one_arithmetic = step.exact[0] == step.exact[1]
    if step.rule == "identity":  # one term in two arithmetics is not the same, but for an operand
        if step.left != step.right or not (is_one_arithmetic or not step.left.operation):
            raise ProofRefused("its sides are not the same")
        return "both sides are the same"
    if step.rule == "renaming":
        if numbered(step) != numbered(premises[0]):
            raise ProofRefused(f"it is no renaming of {shortened(premises[0].left)} = {shortened(premises[0].right)}")
        return f"step {step.premises[0]} with other names"
    if step.rule == "maximum":
        return maximum(step, premises[0], claim)
    if step.rule in ("every code", "every decision"):
        return check_tried(claim, step, draw)
    if not is_one_arithmetic:
        raise ProofRefused("the sides' arithmetics differ, so that the same part of both may not be the same number")
    return generalization(step, premises[0]) if step.rule == "generalization" else same_step(step, premises)


def numbered(step: ProofStep) -> tuple[Term, ...]:
    """Both sides with operands named by their order. Operands of another type stay different."""
    names = {
        one: Term("", (), (), "", f"#{number}", one.kind)
        for number, one in enumerate(operands_of(step.left, step.right))
    }
    return step.left.replaced(names), step.right.replaced(names)


def maximum(step: ProofStep, premise: ProofStep, claim: CheckedClaim) -> str:
    """f(max(a, b)) = max(f(a), f(b)) for f that never falls; rounding keeps the order, so that it is such a step."""
    forms = [outside(one, claim.sign) for one in (step.left, step.right, premise.left, premise.right)]
    if forms[:2] != forms[2:]:
        raise ProofRefused(f"it is not {shortened(premise.left)} = {shortened(premise.right)} with maxima moved")
    return f"step {step.premises[0]}, as a step that never falls commutes with a maximum"


def outside(term: Term, sign: int) -> Term:
    """Maxima after steps that never fall; with a negative scale Q and DQ do."""
    inputs = tuple(outside(one, sign) for one in term.inputs)
    term = with_inputs(term, inputs)
    if term.operation in RISING and inputs[0].operation == "Max" and (sign > 0 or not term.pair):
        parts = tuple(outside(with_inputs(term, (one,)), sign) for one in inputs[0].inputs)
        return Term("Max", parts, (), "", "", term.kind)
    return term


def with_inputs(term: Term, inputs: tuple[Term, ...]) -> Term:
    return Term(term.operation, inputs, term.numbers, term.pair, term.name, term.kind)


def same_step(step: ProofStep, premises: list[ProofStep]) -> str:
    """The same step of equal numbers; those of a sum, a product or a maximum may have changed places."""
    left, right = step.left, step.right
    if with_inputs(left, ()) != with_inputs(right, ()) or not left.operation:
        raise ProofRefused("its sides do not end in the same step")
    if step.rule == SWAPPED and left.operation not in COMMUTATIVE:
        raise ProofRefused(f"operands of {left.operation} may not change places")
    others = right.inputs[::-1] if step.rule == SWAPPED else right.inputs
    for premise, one, other in zip(premises, left.inputs, others, strict=True):
        if not premise.says(one, other, step.exact):
            raise ProofRefused(f"nothing shows {shortened(one)} = {shortened(other)}")
    return "the same step of equal numbers"


def generalization(step: ProofStep, premise: ProofStep) -> str:
    """What holds for every code holds for the one that a Q gives."""
    for part in dict.fromkeys(part for part in step.left.parts() if part.operation == "Q"):
        for operand in operands_of(premise.left, premise.right):
            made = tuple(one.replaced({operand: part}) for one in (premise.left, premise.right))
            if made == (step.left, step.right) and operand.kind == part.kind:
                return f"a case of step {step.premises[0]}, with {part} for {operand}"
    raise ProofRefused(f"it is no case of {shortened(premise.left)} = {shortened(premise.right)}")
