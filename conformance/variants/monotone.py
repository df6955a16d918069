"""Whether a term never turns: whether its result only grows, or only falls, as one operand grows.

Each step has a direction: that of its operand, by the constants that it is multiplied with on its way, whose signs are
the same for all values of the operand. Rounding, clamps and additions keep it.
"""

from __future__ import annotations

import sys
from functools import lru_cache

from tiebreak.conformance.variants import conversions as to
from tiebreak.golden.arithmetic.term import Term, clamp, in_type, lifted, steps_of, where
from tiebreak.golden.elements import FLOAT_TYPES

Direction = tuple[tuple[str, Term | None], ...] | None  # None: the step may turn
KEEP = ("step", "held", "round", "clamp", "least", "greatest", "to-ends", "to-float", "whole", "in-precision", "add")
KEEPING = (  # conversions
    *(to.FLOAT16, to.BFLOAT16, to.TF32, to.CUT_TO_BFLOAT16, to.CUT_TO_FLOAT32),
    *map(to.flushed_in, FLOAT_TYPES.values()),
)
BELOW, ABOVE, LARGEST = lifted(-1) / 0, lifted(1) / 0, int(sys.float_info.max)


@lru_cache(maxsize=1 << 13)
def stage_of(term: Term, place: int) -> Term | None:
    """A number that never turns as the operand grows and says which code the result has. None: no such is known.

    Where a comparison with the operand alone decides what is put out, it is infinite.
    """
    if term.name == "in-precision":
        inner = stage_of(term.args[0], place)
        return inner and in_type(inner, term.constant)
    side = side_of(term, place)
    if side is None:
        number = level_of(term, place) or staged_number(term)
        return number if direction_of(number, place) is not None else None
    inner = stage_of(term.args[2], place)
    finite = inner and (inner if inner.name == "where" else clamp(inner, -LARGEST, LARGEST))
    return finite and where(term.args[0], side, finite)


def side_of(term: Term, place: int) -> Term | None:
    """Where a choice's first result stands that is put out for small operands, or for large ones alone."""
    if term.name != "where" or term.args[0].name not in ("less", "at-most") or depends(term.args[1], place):
        return None
    sides = zip((BELOW, ABOVE), term.args[0].args, strict=True)
    moving = [(side, one) for side, one in sides if depends(one, place)]
    return moving[0][0] if len(moving) == 1 and direction_of(moving[0][1], place) == () else None


def level_of(term: Term, place: int) -> Term | None:
    """The whole number through which alone the operand comes to a real result. It grows even where the result falls."""
    found, kind = term, None
    while found.name != "round":
        moving = [one for one in found.args if depends(one, place)]
        if term.name != "to-float" or len(moving) != 1:
            return None
        kind = found.constant if found.name == "in-precision" else kind
        (found,) = moving
    return in_type(found, kind) if kind else found


def staged_number(term: Term) -> Term:
    """The number of a result before it wraps, or after it is limited: it says which code the result has."""
    inner = term.args[0] if term.name in ("whole", "to-float") else term
    return inner.args[0] if inner.name == "wrap" else inner if term.name == "to-float" else term


@lru_cache(maxsize=1 << 14)
def depends(term: Term, place: int) -> bool:
    return any(one.name == "operand" and one.constant[0] == place for one in steps_of(term))


@lru_cache(maxsize=1 << 14)
def direction_of(term: Term, place: int) -> Direction:
    """The direction of a step that depends on the operand."""
    moving = [one for one in term.args if depends(one, place)]
    directions = {direction_of(one, place) for one in moving}
    if term.name == "operand":
        return ()
    if term.name == "where" and not depends(term.args[0], place):
        moving = list(term.args[1:])
        directions = {direction_of(one, place) for one in moving if depends(one, place)}
    elif term.name == "where":
        return of_sign(term, place)
    if len(directions) != 1:
        return None
    (own,) = directions
    keeps = term.constant in KEEPING if term.name == "changed" else term.name in (*KEEP, "where")
    if own is None or keeps:
        return own
    if len(moving) > 1:
        return None
    if term.name == "subtract":
        return own if moving[0] is term.args[0] else (*own, ("-", None))
    if term.name == "multiply" or (term.name == "divide" and moving[0] is term.args[0]):
        (other,) = (one for one in term.args if one is not moving[0])
        return (*own, (term.name, other))
    return None


def of_sign(term: Term, place: int) -> Direction:
    """A number for negative values and a greater one for the others: the direction of what is negative."""
    condition, below, above = term.args
    if condition.name != "is-negative" or below.name != "number" or above.name != "number":
        return None
    return direction_of(condition.args[0], place) if below.constant <= above.constant else None
