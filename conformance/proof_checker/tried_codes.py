"""Both sides for every combination of codes: of each only the difference from the zero point counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from tiebreak.conformance.proof_checker.float_terms import Values, float_values, packed
from tiebreak.conformance.proof_checker.refusal import ProofRefused, shortened
from tiebreak.conformance.proof_checker.terms import Term, operands_of
from tiebreak.conformance.proof_checker.tried_goal import TriedGoal

MOST = 1 << 22  # combinations
AT_ONCE = 1 << 16


def combinations_of(goal: TriedGoal) -> Values:
    """Differences, [combinations, operands], in ascending order: all that codes of one type have from a zero point."""
    operands, room = operands_of(goal.left, goal.right), goal.room
    if not operands or (2 * room + 1) ** len(operands) > MOST:
        raise ProofRefused("more combinations of codes than a step can have tried")
    for name in operands:
        if not goal.is_code(Term(name=name)):
            raise ProofRefused(f"{shortened(name)} is no code, but every code was tried")
    every = np.array(list(product(range(-room, room + 1), repeat=len(operands))), np.int32)
    spread = np.maximum(every.max(axis=1), 0) - np.minimum(every.min(axis=1), 0)
    return np.asarray(every[spread <= room])


def count_of_codes(goal: TriedGoal) -> int:
    return len(combinations_of(goal))


def by_codes(goal: TriedGoal, scales: Values, digest: Any) -> Iterator[tuple[Values, Values, Values]]:
    """Differences ([operands, n]) and both sides' results ([n]), packed, for every combination and scale.

    `digest` gets, for each combination, the results of each side that depends on the scale.
    """
    combinations, names, room = combinations_of(goal), operands_of(goal.left, goal.right), goal.room
    negative = goal.claim.sign == "negative"
    rows = max(1, AT_ONCE // len(scales))
    for start in range(0, len(combinations), rows):
        some = combinations[start : start + rows]
        known = {name: some[:, k : k + 1] for k, name in enumerate(names)}
        sides = []
        for side, is_exact in goal.sides:
            with np.errstate(all="ignore"):
                value = exact_codes(side, names, some, room, negative=negative) if is_exact else None
                sides.append(packed(float_values(side, known, scales, room) if value is None else value, room))
        if kept := [one for one in sides if one.shape[1] == len(scales)]:
            digest.update(np.ascontiguousarray(np.stack(kept, axis=1)).data)
        left, right = (np.broadcast_to(one, (len(some), len(scales))) for one in sides)
        which, places = np.nonzero(left != right)
        yield some[which].T, left[which, places], right[which, places]


def exact_codes(side: Term, names: list[str], some: Values, room: int, *, negative: bool) -> Values:
    """What real arithmetic gives, [combinations, 1]: the scale cancels, but for its sign."""
    if side.operation not in ("", "Q"):
        raise ProofRefused(f"exact({shortened(side)}) does not end in a Q")
    sign = -1 if negative else 1
    found = []
    for row in some.tolist():
        known = dict(zip(names, map(Fraction, row), strict=True))
        value = known[side.name] if not side.operation else real_value(side.inputs[0], known, sign) / sign
        found.append([min(max(round(value), -room - 1), room + 1)])
    return np.array(found, np.int32)


def real_value(term: Term, known: Mapping[str, Fraction], sign: int) -> Fraction:
    """A number in real arithmetic, for a scale of 1 or -1."""
    if not term.operation:
        return known[term.name]
    if term.operation == "DQ":
        return real_value(term.inputs[0], known, sign) * sign
    return real_step(term, [real_value(one, known, sign) for one in term.inputs])


def real_step(term: Term, inner: list[Fraction]) -> Fraction:
    """An operation whose result is proportional to a positive scale."""
    a, b = inner[0], inner[-1]
    if term.operation == "Relu":
        return max(a, Fraction(0))
    found = {
        "Max": max(a, b),
        "Add": a + b,
        "Sub": a - b,
        "Mean": (a + b) / 2,
        "Linear": (3 * a + b) / 4,
    }
    if term.operation not in found:
        raise ProofRefused(f"the exact truth of {term.operation} is not proportional to the scale")
    return found[term.operation]
