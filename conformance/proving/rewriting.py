"""Ways from a claim to simpler ones that imply it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from tiebreak.conformance.proving.codes import Goal
from tiebreak.conformance.proving.scalars import MAX, Scalar
from tiebreak.golden.patterns.graph import DEQUANTIZE, QUANTIZE

RISING = (QUANTIZE, DEQUANTIZE, "Relu", "Clip")  # never fall as their input grows, if scales are positive


def maxima_outside(number: Scalar, *, positive: bool) -> Scalar:
    """The same number with each maximum taken after steps that never fall: f(max(a, b)) = max(f(a), f(b))."""
    inner = tuple(maxima_outside(one, positive=positive) for one in number.inputs)
    number = replace(number, inputs=inner)
    rises = number.operation in RISING and (positive or not number.pair)
    if rises and inner[0].operation == MAX:
        parts = tuple(maxima_outside(replace(number, inputs=(one,)), positive=positive) for one in inner[0].inputs)
        return Scalar(MAX, parts, type=number.type)
    return number


def parts_of(goal: Goal) -> list[Goal]:
    """Claims that imply the claim because both sides do the same with them; none if they do not."""
    left, right = goal.left, goal.right
    same = (left.operation, left.pair, left.numbers) == (right.operation, right.pair, right.numbers)
    if not left.operation or not same or goal.exact[0] != goal.exact[1]:
        return []
    return [Goal(one, other, goal.exact) for one, other in zip(left.inputs, right.inputs, strict=True)]


def generalized(goal: Goal) -> Goal | None:
    """The claim with its greatest common part of codes replaced by an operand; None if there is no such part.

    It implies the claim. A part counts if it is a result of Q whose operands stand nowhere else. Where only one side's
    arithmetic is real, the same part is not the same number.
    """
    if goal.exact[0] != goal.exact[1]:
        return None
    candidates = [part for part in goal.left.parts() if part.operation == QUANTIZE and part in set(goal.right.parts())]
    for part in sorted(candidates, key=lambda one: -len(list(one.parts()))):
        if part in (goal.left, goal.right) and goal.left == goal.right:
            continue
        fresh = Scalar("", name=fresh_name(goal), type=part.type)
        left, right = (substituted(side, part, fresh) for side in (goal.left, goal.right))
        if not set(part.operands()) & {*left.operands(), *right.operands()}:
            return Goal(left, right, goal.exact)
    return None


def substituted(number: Scalar, part: Scalar, by: Scalar) -> Scalar:
    if number == part:
        return by
    return replace(number, inputs=tuple(substituted(one, part, by) for one in number.inputs))


def fresh_name(goal: Goal) -> str:
    taken = Counter(one.name for one in goal.operands())
    return next(name for name in ("q", *(f"q{k}" for k in range(99))) if name not in taken)
