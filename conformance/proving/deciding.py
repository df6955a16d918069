"""Decides a claim about patterns: by identity, by simpler claims, by trying everything, or by a counterexample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tiebreak.conformance.proving.blocks import Progress
from tiebreak.conformance.proving.claim import Claim
from tiebreak.conformance.proving.codes import Goal, ScaleSet, Tried, clamped, try_codes
from tiebreak.conformance.proving.findings import (
    PROVED,
    REFUTED,
    UNKNOWN,
    Decision,
    Reasoning,
    Undecidable,
    WrittenCounterexample,
    ZeroPointWitness,
)
from tiebreak.conformance.proving.records import Differing, ZeroPoints
from tiebreak.conformance.proving.rewriting import generalized, maxima_outside, parts_of
from tiebreak.conformance.proving.scalars import Scalar
from tiebreak.conformance.proving.search import nearest, search, shown
from tiebreak.conformance.proving.simplest import with_simplest_input
from tiebreak.conformance.proving.thresholds import try_thresholds
from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.patterns.graph import ScalePair

MOST = 1 << 36  # results that a claim may need: some minutes


class Differs(Exception):  # noqa: N818 - a finding
    """A goal does not hold: what was tried, and the simplest scale and results."""

    def __init__(self, goal: Goal, pair: str, tried: Tried, simplest: Differing) -> None:
        super().__init__(str(goal))
        self.goal, self.pair, self.tried, self.simplest = goal, pair, tried, simplest


@dataclass
class Prover:
    """Proves the goals of one claim; steps are in the order in which they were proven."""

    claim: Claim
    most: int
    progress: Progress
    workers: int
    steps: list[Reasoning] = field(default_factory=list)
    proven: dict[Goal, int] = field(default_factory=dict)
    known: dict[Goal, Tried] = field(default_factory=dict)  # what was tried, for the zero points that it holds for
    failed: dict[Goal, Differs | Undecidable] = field(default_factory=dict)

    def prove(self, goal: Goal) -> int:
        """The number of the step that proves a goal. Differs or Undecidable if there is none."""
        plain = renamed(goal)
        if plain in self.failed:
            raise self.failed[plain]
        if plain in self.proven:
            known = self.proven[plain]
            same = (self.steps[known].left, self.steps[known].right) == (str(goal.left), str(goal.right))
            return known if same else self.add("renaming", goal, (known,))
        try:
            self.proven[plain] = self.attempted(goal)
        except (Differs, Undecidable) as reason:
            self.failed[plain] = reason
            raise
        return self.proven[plain]

    def attempted(self, goal: Goal) -> int:
        if goal.left == goal.right and (goal.exact[0] == goal.exact[1] or not goal.left.operation):
            return self.add("identity", goal)
        positive = self.claim.sign == "positive"
        outside = replace(
            goal,
            left=maxima_outside(goal.left, positive=positive),
            right=maxima_outside(goal.right, positive=positive),
        )
        if outside != goal:
            return self.add("maximum", goal, (self.prove(outside),))
        if (general := generalized(goal)) is not None:
            try:
                return self.add("generalization", goal, (self.prove(general),))
            except (Differs, Undecidable) as reason:
                return self.tried_directly(goal, reason)
        if (found := parts_of(goal)) is not None:
            rule, parts = found
            try:
                return self.add(rule, goal, tuple(self.prove(part) for part in parts))
            except (Differs, Undecidable) as reason:
                return self.tried_directly(goal, reason)
        return self.tried_directly(goal, None)

    def tried_directly(self, goal: Goal, reason: Exception | None) -> int:
        try:
            return self.directly(goal)
        except Undecidable as problem:
            raise problem from reason

    def directly(self, goal: Goal) -> int:
        """Try every code, or both sides of every decision, with every scale."""
        method = try_codes if all(one.is_code for one in goal.operands()) else try_thresholds
        pair = goal.pair()
        kind, claim = self.claim.pairs[pair], self.claim
        scales = ScaleSet(kind, claim.real, claim.sign, claim.extent, claim.zero_points_of(kind))
        tried = self.known.get(renamed(goal)) or method(goal, scales, self.most, self.progress, self.workers)
        if (one := tried.differing.simplest) is not None and renamed(goal) not in self.known:
            raise Differs(goal, pair, tried, one)
        rule = "every code" if method is try_codes else "every decision"
        return self.add(rule, goal, (), evidence_of(tried))

    def prove_where_it_holds(self, goal: Goal, found: Differs) -> None:
        """Steps that prove a goal for the zero points without a difference, from what was tried for all of them."""
        self.known[renamed(found.goal)] = found.tried
        for one in (goal, *outside_of(goal, positive=self.claim.sign == "positive"), found.goal):
            self.failed.pop(renamed(one), None)
        self.prove(goal)

    def add(self, rule: str, goal: Goal, premises: tuple[int, ...] = (), evidence: dict[str, Any] | None = None) -> int:
        left, right = (str(one) for one in (goal.left, goal.right))
        codes = {one.name: one.type for one in goal.operands() if one.is_code}
        about = {"exact": list(goal.exact), "codes": codes}
        self.steps.append(Reasoning(rule, left, right, premises, {**about, **(evidence or {})}))
        return len(self.steps) - 1


def decide(claim: Claim, most: int = MOST, progress: Progress = lambda done, of: None, workers: int = 1) -> Decision:
    """PROVED with its steps, REFUTED with a counterexample, or UNKNOWN with what is missing."""
    prover = Prover(claim, most, progress, workers)
    missing: list[str] = []
    hints: list[dict[str, ScalePair]] = []
    for goal in goals_of(claim):
        try:
            prover.prove(goal)
        except Undecidable as reason:
            missing.append(str(reason))
        except Differs as found:
            if (own := own_form(found.goal, goal, claim)) is not None:
                return refuted(prover, goal, own, found)
            missing.append(f"{found.goal} does not hold, on which a proof of {goal} would rest")
        hints += [setting_of(claim, one) for one in prover.failed.values() if isinstance(one, Differs)]
    if not missing:
        every = [claim.zero_points_of(kind) for kind in claim.pairs.values()]
        return Decision(PROVED, prover.steps, holds=every[0] if len(every) == 1 else [])
    counterexample = search(claim, hints)
    if counterexample is not None:
        return Decision(REFUTED, [], counterexample)
    return Decision(UNKNOWN, prover.steps, missing="; ".join(dict.fromkeys(missing)))


def goals_of(claim: Claim) -> Iterator[Goal]:
    exact = (claim.left.is_exact, claim.right.is_exact)
    for left, right in zip(claim.left.numbers, claim.right.numbers, strict=True):
        yield Goal(left, right, exact)


def own_form(found: Goal, goal: Goal, claim: Claim) -> Goal | None:
    """A goal, or what it is with its maxima outside, whichever a found goal is but for names; None if neither."""
    forms = (goal, *outside_of(goal, positive=claim.sign == "positive"))
    return next((one for one in forms if renamed(one) == renamed(found)), None)


def outside_of(goal: Goal, *, positive: bool) -> tuple[Goal]:
    """The goal with its maxima outside."""
    left, right = (maxima_outside(one, positive=positive) for one in (goal.left, goal.right))
    return (Goal(left, right, goal.exact),)


def renamed(goal: Goal) -> Goal:
    """The goal with its operands called by their order: two goals that differ in names are one."""
    names = {one: replace(one, name=f"#{number}", index=0) for number, one in enumerate(goal.operands())}

    def visit(number: Scalar) -> Scalar:
        if number in names:
            return names[number]
        return replace(number, inputs=tuple(visit(one) for one in number.inputs))

    return Goal(visit(goal.left), visit(goal.right), goal.exact)


def refuted(prover: Prover, goal: Goal, own: Goal, found: Differs) -> Decision:
    """The counterexample, in the goal's own names; zero points only where the goal is the whole claim."""
    claim = prover.claim
    prover.prove_where_it_holds(goal, found)
    counterexample = counterexample_of(claim, own, found)
    if len(claim.left.numbers) > 1 or len(claim.pairs) > 1:
        return Decision(REFUTED, prover.steps, counterexample)
    differing = found.tried.differing
    witnesses = [witness_of(claim, own, found.pair, one) for one in differing.fewest_witnesses()]
    return Decision(REFUTED, prover.steps, counterexample, differing.holds(), witnesses)


def witness_of(claim: Claim, goal: Goal, pair: str, one: Differing) -> ZeroPointWitness:
    operands = {str(operand): str(code) for operand, code in zip(goal.operands(), one.inputs, strict=False)}
    if not one.inputs:
        operands = {str(operand): shown(number_of(one.operand, claim.real)) for operand in goal.operands()}
    return ZeroPointWitness(*one.zeros, operands, {pair: shown(number_of(one.word, claim.real))})


def counterexample_of(claim: Claim, goal: Goal, found: Differs) -> WrittenCounterexample:
    kind = claim.pairs[found.pair]
    chosen = claim.zero_points_of(kind)
    one = found.simplest
    if not one.inputs:
        one = with_simplest_input(goal, one, ZeroPoints(kind, chosen, goal.left.is_code, claim.real))
    zero = nearest(0, [z for z in chosen if one.zeros[0] <= z <= one.zeros[1]])
    codes = dict(zip(goal.operands(), one.inputs, strict=True)) if one.inputs else {}
    operands = {
        str(operand): str(codes[operand] + zero) if operand.is_code else shown(number_of(one.operand, claim.real))
        for operand in goal.operands()
    }
    results = [
        str(clamped(value, zero, kind)) if goal.left.is_code else shown(number_of(value, claim.real))
        for value in (one.left, one.right)
    ]
    return WrittenCounterexample(
        operands, {found.pair: shown(number_of(one.word, claim.real))}, {found.pair: zero}, *results
    )


def setting_of(claim: Claim, found: Differs) -> dict[str, ScalePair]:
    """The scale of a difference, for each pair of the claim."""
    scale = number_of(found.simplest.word, claim.real)
    return {
        name: ScalePair(scale, nearest(found.simplest.zeros[0], claim.zero_points_of(kind)), kind)
        for name, kind in claim.pairs.items()
    }


def number_of(word: int, real: str) -> Any:
    dtype = numpy_dtype(real)
    return np.array([word], f"u{dtype.itemsize}").view(dtype)[0]


def evidence_of(tried: Tried) -> dict[str, Any]:
    """What was tried, for a certificate."""
    return {
        "scales": tried.scales,
        "exponents": [[tried.standing.low, tried.standing.high]] if tried.standing.low <= tried.standing.high else [],
        **tried.chain.described(),
    }
