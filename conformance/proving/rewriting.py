"""Ways from a claim to simpler ones that imply it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from tiebreak.conformance.proving.codes import Goal
from tiebreak.conformance.proving.scalars import MAX, MEAN, Scalar
from tiebreak.golden.patterns.graph import DEQUANTIZE, QUANTIZE

COMMUTATIVE = ("Add", "Mul", MAX, MEAN)  # IEEE 754's sum and product, NaN aside
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


def parts_of(goal: Goal) -> tuple[str, list[Goal]] | None:
    """Claims that imply the claim because both sides do the same with them, and the rule; None if they do not.

    Operands of a sum, a product or a maximum may have changed places.
    """
    left, right = goal.left, goal.right
    same = (left.operation, left.pair, left.numbers) == (right.operation, right.pair, right.numbers)
    if not left.operation or not same or goal.exact[0] != goal.exact[1]:
        return None
    if left.operation in COMMUTATIVE and are_crossed(left.inputs, right.inputs):
        rule, others = "same step, operands changed places", right.inputs[::-1]
    else:
        rule, others = "same step", right.inputs
    return rule, [Goal(one, other, goal.exact) for one, other in zip(left.inputs, others, strict=True)]


def are_crossed(left: Sequence[Scalar], right: Sequence[Scalar]) -> bool:
    """Whether more operands equal, but for their own order, the one in the other place than the one in their own."""
    (a, b), (c, d) = ([in_order(one) for one in side] for side in (left, right))
    return (a == d) + (b == c) > (a == c) + (b == d)


def in_order(number: Scalar) -> Scalar:
    """The number with the operands of sums, products and maxima in the order of their texts."""
    inputs = tuple(in_order(one) for one in number.inputs)
    return replace(number, inputs=tuple(sorted(inputs, key=str)) if number.operation in COMMUTATIVE else inputs)


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
