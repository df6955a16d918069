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
)
from tiebreak.conformance.proving.records import Differing
from tiebreak.conformance.proving.rewriting import generalized, maxima_outside, parts_of
from tiebreak.conformance.proving.scalars import Scalar
from tiebreak.conformance.proving.search import nearest, search, shown
from tiebreak.conformance.proving.thresholds import try_thresholds
from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.patterns.graph import ScalePair

MOST = 1 << 36  # results that a claim may need: some minutes


class Differs(Exception):  # noqa: N818 - a finding
    """A goal does not hold: what was tried, and the simplest scale and results."""

    def __init__(self, goal: Goal, pair: str, tried: Tried, simplest: Differing, zero_point: int) -> None:
        super().__init__(str(goal))
        self.goal, self.pair, self.tried, self.simplest, self.zero_point = goal, pair, tried, simplest, zero_point


@dataclass
class Prover:
    """Proves the goals of one claim; steps are in the order in which they were proven."""

    claim: Claim
    most: int
    progress: Progress
    workers: int
    steps: list[Reasoning] = field(default_factory=list)
    proven: dict[Goal, int] = field(default_factory=dict)
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
        tried = method(goal, scales, self.most, self.progress, self.workers)
        if (one := tried.differing.simplest) is not None:
            shown_by = [z for z in claim.zero_points_of(kind) if one.zeros[0] <= z <= one.zeros[1]]
            raise Differs(goal, pair, tried, one, nearest(0, shown_by))
        rule = "every code" if method is try_codes else "every decision"
        return self.add(rule, goal, (), evidence_of(tried))

    def add(self, rule: str, goal: Goal, premises: tuple[int, ...] = (), evidence: dict[str, Any] | None = None) -> int:
        left, right = (str(one) for one in (goal.left, goal.right))
        self.steps.append(Reasoning(rule, left, right, premises, {"exact": list(goal.exact), **(evidence or {})}))
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
                return refuted(claim, own, found, prover.steps)
            missing.append(f"{found.goal} does not hold, on which a proof of {goal} would rest")
        hints += [setting_of(claim, one) for one in prover.failed.values() if isinstance(one, Differs)]
    if not missing:
        every = [claim.zero_points_of(kind) for kind in claim.pairs.values()]
        return Decision(PROVED, prover.steps, holds=every[0] if len(every) == 1 else [])
    counterexample = search(claim, hints)
    if counterexample is not None:
        return Decision(REFUTED, prover.steps, counterexample, notes=["found by a search of chosen scales"])
    return Decision(UNKNOWN, prover.steps, missing="; ".join(dict.fromkeys(missing)))


def goals_of(claim: Claim) -> Iterator[Goal]:
    exact = (claim.left.is_exact, claim.right.is_exact)
    for left, right in zip(claim.left.numbers, claim.right.numbers, strict=True):
        yield Goal(left, right, exact)


def own_form(found: Goal, goal: Goal, claim: Claim) -> Goal | None:
    """A goal, or what it is with its maxima outside, whichever a found goal is but for names; None if neither."""
    positive = claim.sign == "positive"
    left, right = (maxima_outside(one, positive=positive) for one in (goal.left, goal.right))
    return next((one for one in (goal, Goal(left, right, goal.exact)) if renamed(one) == renamed(found)), None)


def renamed(goal: Goal) -> Goal:
    """The goal with its operands called by their order: two goals that differ in names are one."""
    names = {one: replace(one, name=f"#{number}", index=0) for number, one in enumerate(goal.operands())}

    def visit(number: Scalar) -> Scalar:
        if number in names:
            return names[number]
        return replace(number, inputs=tuple(visit(one) for one in number.inputs))

    return Goal(visit(goal.left), visit(goal.right), goal.exact)


def refuted(claim: Claim, goal: Goal, found: Differs, steps: list[Reasoning]) -> Decision:
    """The counterexample, in the goal's own names; zero points only where the goal is the whole claim."""
    tried = found.tried
    kind = claim.pairs[found.pair]
    differs = tried.differing.differs()
    holds = sorted(set(claim.zero_points_of(kind)) - set(differs))
    notes = [f"the sides differ at {tried.differing.with_any:,} of the {tried.scales:,} scales tried"]
    if all(one.is_code for one in goal.operands()) and len(goal.operands()) == 1:
        notes.append(f"the least distance of a code from the zero point that shows one is {tried.differing.least}")
    counterexample = counterexample_of(claim, goal, found)
    if len(claim.left.numbers) > 1 or len(claim.pairs) > 1:
        return Decision(REFUTED, steps, counterexample, notes=notes)
    return Decision(REFUTED, steps, counterexample, holds, differs, notes)


def counterexample_of(claim: Claim, goal: Goal, found: Differs) -> WrittenCounterexample:
    one, kind = found.simplest, claim.pairs[found.pair]
    codes = dict(zip(goal.operands(), one.inputs, strict=True)) if one.inputs else {}
    operands = {
        str(operand): str(codes[operand] + found.zero_point)
        if operand.is_code
        else shown(number_of(one.operand, claim.real))
        for operand in goal.operands()
    }
    sides = (one.left, one.right)
    results = [
        str(clamped(value, found.zero_point, kind)) if goal.left.is_code else shown(number_of(value, claim.real))
        for value in sides
    ]
    scale = shown(number_of(one.word, claim.real))
    return WrittenCounterexample(operands, {found.pair: scale}, {found.pair: found.zero_point}, *results)


def setting_of(claim: Claim, found: Differs) -> dict[str, ScalePair]:
    """The scale of a difference, for each pair of the claim."""
    scale = number_of(found.simplest.word, claim.real)
    return {
        name: ScalePair(scale, nearest(found.zero_point, claim.zero_points_of(kind)), kind)
        for name, kind in claim.pairs.items()
    }


def number_of(word: int, real: str) -> Any:
    dtype = numpy_dtype(real)
    return np.array([word], f"u{dtype.itemsize}").view(dtype)[0]


def evidence_of(tried: Tried) -> dict[str, Any]:
    """What was tried, for a certificate."""
    return {
        "scales": tried.scales,
        "points": tried.points,
        "exponents": [tried.standing.low, tried.standing.high],
        **tried.chain.described(),
    }
