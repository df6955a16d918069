"""Whether a term never turns: whether its result only grows, or only falls, as one operand grows.

Each step has a direction: that of its operand, by the constants that it is multiplied with on its way, whose signs are
the same for all values of the operand. Rounding, clamps and additions keep it.
"""

from __future__ import annotations

from functools import lru_cache

from tiebreak.conformance.variants import conversions as to
from tiebreak.golden.arithmetic.term import Term, steps_of
from tiebreak.golden.elements import FLOAT_TYPES

Direction = tuple[tuple[str, Term | None], ...] | None  # None: the step may turn
KEEP = ("step", "held", "round", "clamp", "least", "greatest", "to-ends", "to-float", "whole", "in-precision", "add")
KEEPING = (  # conversions
    *(to.FLOAT16, to.BFLOAT16, to.TF32, to.CUT_TO_BFLOAT16, to.CUT_TO_FLOAT32),
    *map(to.flushed_in, FLOAT_TYPES.values()),
)


@lru_cache(maxsize=1 << 12)
def never_turns(term: Term, place: int) -> bool:
    """Whether a result never turns as the operand at this place grows, but for where it wraps."""
    return direction_of(staged_number(term), place) is not None


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
