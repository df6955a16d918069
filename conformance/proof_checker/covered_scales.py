"""Whether blocks of scales cover all that a claim is about.

If every number of both sides is proportional to the scale, then twice the scale gives the same codes, as long as no
number leaves the normal range: rounding commutes with powers of two there. One exponent's scales then stand for those
of every exponent for which that holds. The claim's extent "all" needs each scale of the others, "normal" has none of
them. Where a number is not proportional, each scale has to be tried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tiebreak.conformance.proof_checker.float_terms import DTYPES, FORMATS
from tiebreak.conformance.proof_checker.refusal import ProofRefused, wholes_in
from tiebreak.conformance.proof_checker.terms import Term
from tiebreak.conformance.proof_checker.tried_goal import TriedGoal

MOST_BLOCKS = 1 << 16


class Magnitudes(NamedTuple):
    """For scales of [1, 2): nonzero numbers lie from 2^least to 2^most, and are multiples of 2^grain."""

    least: int
    most: int
    grain: int


def check_coverage(
    goal: TriedGoal, step: Mapping[str, Any], blocks: Sequence[tuple[int, int, str]], *, by: str
) -> None:
    """ProofRefused if a scale that the claim is about is neither tried nor stood for."""
    _, emin, emax = FORMATS[goal.claim.real]
    limits = standing_exponents(goal, by=by)
    if wholes_in(step, "exponents") != list(limits or (emin, emax)):
        raise ProofRefused("the step claims other exponents of scales than its numbers allow")
    tried = merged(goal, blocks)
    low, high = limits or (0, -1)
    if limits is None:
        wanted = list(range(emin - 1, emax + 1))
    elif goal.claim.extent == "all":
        wanted = [e for e in range(emin - 1, emax + 1) if not low <= e <= high]
    else:
        wanted = []
        if low > high:
            raise ProofRefused("no scale keeps all numbers in the normal range")
    if limits is not None and low <= high and not any(covers(tried, goal, e) for e in range(low, high + 1)):
        raise ProofRefused("of no exponent that stands for others were all scales tried")
    if missing := [e for e in wanted if not covers(tried, goal, e)]:
        raise ProofRefused(f"not all scales of exponent {missing[0]} were tried")


def standing_exponents(goal: TriedGoal, *, by: str) -> tuple[int, int] | None:
    """The exponents of scales of which one stands for all; None if a number is not proportional to the scale."""
    _, emin, emax = FORMATS[goal.claim.real]
    low, high = emin, emax
    for side, is_exact in goal.sides:
        if is_exact:
            continue  # real arithmetic is the same for every scale
        for part in side.parts():
            if not goal.is_code(part):
                found = magnitudes_of(part, goal, by=by)
                if found is None:
                    return None
                low, high = max(low, emin + 1 - found.least), min(high, emax - found.most)
    return low, high


def magnitudes_of(term: Term, goal: TriedGoal, *, by: str) -> Magnitudes | None:
    """Bounds of a number that is proportional to a scale of [1, 2); None of one that is not."""
    bits, digits = goal.room.bit_length(), FORMATS[goal.claim.real][0]
    if not term.operation:  # near a decision: from 1/4 to 4 times the greatest
        return Magnitudes(-2, bits + 2, -2 - digits) if by == "every decision" else None
    if term.operation == "DQ":
        return Magnitudes(0, bits + 1, 1 - digits)
    inner = [magnitudes_of(one, goal, by=by) for one in term.inputs]
    some = [one for one in inner if one is not None]
    if len(some) < len(inner) or term.operation not in ("Relu", "Max", "Add", "Sub", "Mean", "Linear"):
        return None
    least, most, grain = min(i.least for i in some), max(i.most for i in some), min(i.grain for i in some)
    if term.operation in ("Relu", "Max"):
        return Magnitudes(least, most, grain)
    grain -= {"Mean": 1, "Linear": 2}.get(term.operation, 0)
    return Magnitudes(grain, most + 1, grain)  # a difference may be as small as its grain


def merged(goal: TriedGoal, blocks: Sequence[tuple[int, int, str]]) -> list[list[int]]:
    """Spans of magnitudes' bit patterns that were tried, first and end, in order."""
    sign = 1 << (8 * DTYPES[goal.claim.real].itemsize - 1)
    bit = sign if goal.claim.sign == "negative" else 0
    if len(blocks) > MOST_BLOCKS:
        raise ProofRefused(f"a step lists {len(blocks)} blocks: at most {MOST_BLOCKS} are allowed")
    found: list[list[int]] = []
    for first, count in sorted((first - bit, count) for first, count, _ in blocks):
        if not 0 < first < first + count <= sign:
            raise ProofRefused(f"a block of {count} scales from {first + bit:#x} has none, or one of another sign")
        if found and first <= found[-1][1]:
            found[-1][1] = max(found[-1][1], first + count)
        else:
            found.append([first, first + count])
    return found


def covers(tried: Sequence[Sequence[int]], goal: TriedGoal, exponent: int) -> bool:
    """Whether every scale of an exponent was tried; that below the least normal one has the subnormal scales."""
    digits, emin, _ = FORMATS[goal.claim.real]
    size = 1 << (digits - 1)
    first = max((exponent - emin + 1) * size, 1)
    end = (exponent - emin + 2) * size
    return any(one[0] <= first and end <= one[1] for one in tried)
