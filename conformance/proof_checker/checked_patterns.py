"""Claims about patterns: each step of a proof by its rule, or the counterexample."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tiebreak.conformance.proof_checker.checked_counterexample import check_counterexample
from tiebreak.conformance.proof_checker.claim_terms import (
    CODES,
    PatternClaim,
    claim_in,
    is_operand_of,
    type_of,
    zero_points_of,
)
from tiebreak.conformance.proof_checker.refusal import (
    ProofRefused,
    chosen_in,
    mappings_in,
    of_type,
    shortened,
    text_in,
    wholes_in,
)
from tiebreak.conformance.proof_checker.terms import Term, operands_of, substituted, term_of
from tiebreak.conformance.proof_checker.tried_blocks import check_tried
from tiebreak.conformance.proof_checker.tried_goal import TriedGoal

MOST_STEPS = 1000
RULES = ("identity", "renaming", "maximum", "same step", "generalization", "every code", "every decision")
RISING = ("Q", "DQ", "Relu", "Clip")  # never fall as their input grows, if scales are positive


@dataclass(frozen=True)
class ProofStep:
    """left = right, by a rule, from earlier steps. `fresh` are types of operands that the claim does not have."""

    rule: str
    left: Term
    right: Term
    exact: tuple[bool, bool]
    premises: tuple[int, ...]
    fresh: Mapping[str, str]
    data: Mapping[str, Any]

    def says(self, left: Term, right: Term, exact: tuple[bool, bool]) -> bool:
        return (self.left, self.right, self.exact) == (left, right, exact)

    def operand_type(self, name: str, claim: PatternClaim) -> str:
        return type_of(Term(name=name), claim, self.fresh)


def check_patterns(data: Mapping[str, Any], whole: bool, draw: random.Random) -> list[str]:
    """What was checked, a line each. ProofRefused if the certificate does not hold."""
    if data["verdict"] == "REFUTED":
        return [check_counterexample(data)]
    if data.get("counterexample") is not None:
        raise ProofRefused("a claim that is proved has no counterexample")
    claim, told = claim_in(data), []
    check_lists(data, claim)
    rows = mappings_in(data, "steps")
    if len(rows) > MOST_STEPS:
        raise ProofRefused(f"a proof has {len(rows)} steps: at most {MOST_STEPS} are allowed")
    steps: list[ProofStep] = []
    for number, row in enumerate(rows):
        try:
            step = step_in(row, claim)
            if any(not 0 <= one < number for one in step.premises):
                raise ProofRefused("it rests on a step that does not precede it")
            why = check_step(step, [steps[one] for one in step.premises], claim, whole, draw)
        except ProofRefused as problem:
            raise ProofRefused(f"step {number} does not hold: {problem}") from None
        steps.append(step)
        told.append(f"step {number}: {step.left} = {step.right}: {why}")
    for left, right in claim.goals:
        if not any(one.says(left, right, claim.exact) for one in steps):
            raise ProofRefused(f"no step shows {shortened(left)} = {shortened(right)}, which the claim says")
    return [*told, f"these steps show each of the claim's {len(claim.goals)} equations"]


def check_lists(data: Mapping[str, Any], claim: PatternClaim) -> None:
    """ProofRefused if the certificate lists zero points for which the claim is not proved, or does not hold."""
    every = [zero_points_of(claim, kind) for kind in claim.pairs.values()]
    if data.get("differs", []) != [] or data.get("holds", []) not in ([], *every[:1]):
        raise ProofRefused("the lists of zero points are not those of a claim that is proved")


def step_in(row: Mapping[str, Any], claim: PatternClaim) -> ProofStep:
    rule = chosen_in(row, "rule", RULES)
    left, right = (term_of(text_in(row, name)) for name in ("left", "right"))
    exact = of_type(row, "exact", list)
    if [type(one) for one in exact] != [bool, bool]:
        raise ProofRefused("exact is two truths, one for each side")
    fresh = fresh_types(left, right, claim)
    if type_of(left, claim, fresh) != type_of(right, claim, fresh):
        raise ProofRefused("its sides are of different element types")
    return ProofStep(rule, left, right, (exact[0], exact[1]), tuple(wholes_in(row, "premises")), fresh, row)


def fresh_types(left: Term, right: Term, claim: PatternClaim) -> dict[str, str]:
    """Element types of operands that are not the claim's: by the DQ above them, or by the other side."""
    names = [one for one in operands_of(left, right) if not is_operand_of(claim, one)]
    found: dict[str, str] = {}
    for part in (*left.parts(), *right.parts()):
        if part.operation == "DQ" and not part.inputs[0].operation and part.inputs[0].name in names:
            found.setdefault(part.inputs[0].name, claim.pairs.get(part.pair, ""))
    for side, other in ((left, right), (right, left)):
        if side.name in names and other.operation == "Q":
            found.setdefault(side.name, claim.pairs.get(other.pair, ""))
    if missing := [one for one in names if not found.get(one)]:
        raise ProofRefused(f"nothing says of which type {shortened(missing[0])} is")
    return found


def check_step(
    step: ProofStep, premises: list[ProofStep], claim: PatternClaim, whole: bool, draw: random.Random
) -> str:
    """Why the step holds. ProofRefused if it does not follow by its rule."""
    if any(one.exact != step.exact for one in premises):
        raise ProofRefused("it rests on a claim about another arithmetic")
    wanted = {"identity": 0, "every code": 0, "every decision": 0, "same step": len(step.left.inputs)}.get(step.rule, 1)
    if len(premises) != wanted:
        raise ProofRefused(f"the rule {step.rule} rests on {wanted} steps, not on {len(premises)}")
    if step.rule == "identity":
        return identity(step)
    if step.rule == "renaming":
        return renaming(step, premises[0], claim)
    if step.rule == "maximum":
        return maximum(step, premises[0], claim)
    if step.rule == "same step":
        return same_step(step, premises)
    if step.rule == "generalization":
        return generalization(step, premises[0], claim)
    goal = TriedGoal(claim, step.left, step.right, step.exact, step.fresh)
    return check_tried(goal, step.data, by=step.rule, whole=whole, draw=draw)


def identity(step: ProofStep) -> str:
    """One term in two arithmetics is not the same, but for an operand."""
    if step.left != step.right or not (step.exact[0] == step.exact[1] or not step.left.operation):
        raise ProofRefused("its sides are not the same")
    return "both sides are the same"


def renaming(step: ProofStep, premise: ProofStep, claim: PatternClaim) -> str:
    """A claim holds for all operands, whatever their names are."""
    names = [operands_of(one.left, one.right) for one in (step, premise)]
    kinds = [[one.operand_type(name, claim) for name in some] for one, some in zip((step, premise), names, strict=True)]
    shapes = [numbered(one, some) for one, some in zip((step, premise), names, strict=True)]
    if shapes[0] != shapes[1] or kinds[0] != kinds[1]:
        raise ProofRefused(f"it is no renaming of {shortened(premise.left)} = {shortened(premise.right)}")
    return f"step {step.premises[0]} with other names"


def numbered(step: ProofStep, names: list[str]) -> tuple[Term, ...]:
    def visit(term: Term) -> Term:
        if not term.operation:
            return Term(name=f"#{names.index(term.name)}")
        return term.with_inputs(tuple(visit(one) for one in term.inputs))

    return visit(step.left), visit(step.right)


def maximum(step: ProofStep, premise: ProofStep, claim: PatternClaim) -> str:
    """f(max(a, b)) = max(f(a), f(b)) for f that never falls; rounding keeps the order, so that it is such a step."""
    if claim.sign != "positive":
        raise ProofRefused("with a negative scale a step falls as its input grows")
    if [outside(step.left), outside(step.right)] != [outside(premise.left), outside(premise.right)]:
        raise ProofRefused(f"it is not {shortened(premise.left)} = {shortened(premise.right)} with maxima moved")
    return f"step {step.premises[0]}, as a step that never falls commutes with a maximum"


def outside(term: Term) -> Term:
    """Maxima after steps that never fall."""
    term = term.with_inputs(tuple(outside(one) for one in term.inputs))
    if term.operation in RISING and term.inputs[0].operation == "Max":
        return Term("Max", tuple(outside(term.with_inputs((one,))) for one in term.inputs[0].inputs))
    return term


def same_step(step: ProofStep, premises: list[ProofStep]) -> str:
    left, right = step.left, step.right
    forms = [(one.operation, one.pair, one.numbers, len(one.inputs)) for one in (left, right)]
    if step.exact[0] != step.exact[1] or forms[0] != forms[1] or not left.operation:
        raise ProofRefused("its sides do not end in the same step of the same arithmetic")
    for premise, one, other in zip(premises, left.inputs, right.inputs, strict=True):
        if not premise.says(one, other, step.exact):
            raise ProofRefused(f"nothing shows {shortened(one)} = {shortened(other)}")
    return "the same step of equal numbers"


def generalization(step: ProofStep, premise: ProofStep, claim: PatternClaim) -> str:
    """What holds for every code holds for the one that a Q gives, if both sides compute it in the same arithmetic."""
    if step.exact[0] != step.exact[1]:
        raise ProofRefused("the sides' arithmetics differ, so that a part of both may not be the same number")
    candidates = dict.fromkeys(part for part in step.left.parts() if part.operation == "Q")
    for name in operands_of(premise.left, premise.right):
        kind = premise.operand_type(name, claim)
        for part in candidates:
            made = tuple(substituted(one, name, part) for one in (premise.left, premise.right))
            if made == (step.left, step.right) and kind in CODES and kind == claim.pairs.get(part.pair):
                return f"a case of step {step.premises[0]}, with {part} for {name}"
    raise ProofRefused(f"it is no case of {shortened(premise.left)} = {shortened(premise.right)}")
