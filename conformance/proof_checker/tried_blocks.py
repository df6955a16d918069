"""Steps of a proof that rest on trying: which blocks of scales they need, and what drawn blocks give.

If every number of both sides is proportional to the scale, then twice the scale gives the same codes, as long as no
number leaves the normal range: rounding commutes with powers of two there. One exponent's scales then stand for those
of every exponent for which that holds. The claim's extent "all" needs each scale of the others, "normal" has none of
them. Where a number is not proportional, each scale has to be tried.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tiebreak.conformance.proof_checker.claims import BlockDraw, CheckedClaim, ProofStep
from tiebreak.conformance.proof_checker.evaluation import (
    CODES,
    DTYPES,
    FORMATS,
    Values,
    floats_of,
    infinity_of,
    refuse_flushing,
)
from tiebreak.conformance.proof_checker.refusal import ProofRefused, check_form, shortened
from tiebreak.conformance.proof_checker.terms import Term
from tiebreak.conformance.proof_checker.tried_inputs import TriedGoal, by_codes, by_decisions

BLOCK = 1 << 16  # scales
FORM = {"exponents": [(int, int)], "scales": int, "blocks": [(str, int, int | None)], "chain": str}


class Magnitudes(NamedTuple):
    """For scales of [1, 2): nonzero numbers lie from 2^least to 2^most, and are multiples of 2^grain."""

    least: int
    most: int
    grain: int


def check_tried(claim: CheckedClaim, step: ProofStep, draw: BlockDraw) -> str:
    """What was tried again. ProofRefused if a scale is left out, a block gives something else, or the sides differ."""
    check_form(step.data, FORM, "a step")
    refuse_flushing()
    goal = goal_of(claim, step)
    spans, exponents = scales_needed(claim, step)
    said, data = step.data["blocks"], step.data
    if data["exponents"] != exponents:
        raise ProofRefused("the step claims other exponents of scales than its numbers allow")
    if len(said) != len(spans) or data["scales"] != sum(count for _, count in spans):
        raise ProofRefused(f"{len(said)} blocks of scales are listed: {len(spans)} are needed")
    check_chain(said, data["chain"])
    tried = 0
    for number in draw.drawn(len(spans)):
        if (found := block_of(claim, goal, *spans[number])) != said[number]:
            raise ProofRefused(f"block {number} of the scales gives other results: {found[1:]}")
        tried += 1
    return f"{tried} of {len(spans)} blocks of scales tried again, {step.rule} each"


def goal_of(claim: CheckedClaim, step: ProofStep) -> TriedGoal:
    for side, _ in step.sides:
        if any(part.operation == "Q" for one in side.inputs for part in one.parts()):
            raise ProofRefused(f"{shortened(side)} rounds to a code within, where each zero point counts")
    lowest, highest = CODES[claim.data["pairs"][step.pair]]
    return TriedGoal(step, claim.real, claim.sign, highest - lowest)


def check_chain(blocks: Sequence[Sequence[Any]], chain: str) -> None:
    last = hashlib.sha256(b"tiebreak-proof").hexdigest()
    for block in blocks:
        last = hashlib.sha256((last + json.dumps(block)).encode()).hexdigest()
    if last != chain:
        raise ProofRefused("the chain of digests is broken: a block was changed, left out or moved")


def scales_needed(claim: CheckedClaim, step: ProofStep) -> tuple[list[tuple[int, int]], list[list[int]]]:
    """Magnitudes' bit patterns to try, first and count of each block, and the exponents that one stands for."""
    digits, emin, emax = FORMATS[claim.real]
    size, limits = 1 << (digits - 1), standing_exponents(claim, step)
    low, high = limits or (1, 0)
    if claim.is_normal and low > high:
        raise ProofRefused("no scale keeps all numbers in the normal range, or stands for another")
    if limits is None:
        spans = [(1, infinity_of(claim.real))]
    else:
        exponents = [min(max(0, low), high)] if low <= high else []
        exponents += [] if claim.is_normal else [e for e in range(emin - 1, emax + 1) if not low <= e <= high]
        spans = [(max((e - emin + 1) * size, 1), (e - emin + 2) * size) for e in exponents]
    blocks = [
        (max(start, first), min(start + BLOCK, end) - max(start, first))
        for first, end in spans
        for start in range(first - first % BLOCK, end, BLOCK)
    ]
    return blocks, [[low, high]] if low <= high else []


def standing_exponents(claim: CheckedClaim, step: ProofStep) -> tuple[int, int] | None:
    """The exponents of scales of which one stands for all; None if a number is not proportional to the scale."""
    _, emin, emax = FORMATS[claim.real]
    low, high = emin, emax
    for side, is_exact in step.sides:
        if is_exact:
            continue  # real arithmetic is the same for every scale
        for part in side.parts():
            if part.kind == claim.real:
                found = magnitudes_of(part, claim, step)
                if found is None:
                    return None
                low, high = max(low, emin + 1 - found.least), min(high, emax - found.most)
    return low, high


def magnitudes_of(term: Term, claim: CheckedClaim, step: ProofStep) -> Magnitudes | None:
    """Bounds of a number that is proportional to a scale of [1, 2); None of one that is not."""
    lowest, highest = CODES[claim.data["pairs"][step.pair]]
    bits, digits = (highest - lowest).bit_length(), FORMATS[claim.real][0]
    if not term.operation:  # near a decision: from 1/4 to 4 times the greatest
        return Magnitudes(-2, bits + 2, -2 - digits) if step.rule == "every decision" else None
    if term.operation == "DQ":
        return Magnitudes(0, bits + 1, 1 - digits)
    inner = [magnitudes_of(one, claim, step) for one in term.inputs]
    some = [one for one in inner if one is not None]
    if len(some) < len(inner) or term.operation not in ("Relu", "Max", "Add", "Sub", "Mean", "Linear"):
        return None
    least, most, grain = min(i.least for i in some), max(i.most for i in some), min(i.grain for i in some)
    if term.operation in ("Relu", "Max"):
        return Magnitudes(least, most, grain)
    grain -= {"Mean": 1, "Linear": 2}.get(term.operation, 0)
    return Magnitudes(grain, most + 1, grain)  # a difference may be as small as its grain


def block_of(claim: CheckedClaim, goal: TriedGoal, first: int, count: int) -> list[Any]:
    """A block's digest, at how many scales the sides differ, and the least distance of codes that shows it.

    ProofRefused if they differ for a zero point for which the proof says that they do not.
    """
    sign = 1 << (8 * DTYPES[claim.real].itemsize - 1) if claim.sign < 0 else 0
    scales = floats_of(np.arange(first, first + count) | sign, claim.real)
    digest, touched, least = hashlib.sha256(), np.zeros(count, bool), None
    kind = claim.data["pairs"][goal.step.pair]
    every, proved = (np.array(some, np.int64) for some in (claim.zero_points(kind), claim.proved[kind]))
    method = by_codes if goal.step.rule == "every code" else by_decisions
    for inputs, left, right, places in method(goal, scales, digest):
        if not len(places):
            continue
        low, high = showing(goal, kind, inputs, left, right)
        if (wrong := holds_one(proved, low, high)).any():
            where = int(np.argmax(wrong))
            raise ProofRefused(
                f"{shortened(goal.step.left)} and {shortened(goal.step.right)} differ for zero point "
                f"{proved[np.searchsorted(proved, low[where])]}: {left[where]} and {right[where]}"
            )
        counts = holds_one(every, low, high)
        touched[places[counts]] = True
        if len(inputs) and counts.any():
            near = int(np.abs(inputs[:, counts].astype(np.int64)).sum(axis=0).min())
            least = near if least is None else min(least, near)
    return [digest.hexdigest(), int(touched.sum()), least]


def holds_one(zeros: Values, low: Values, high: Values) -> Values:
    """Whether one of the zero points lies from `low` to `high`."""
    return np.asarray(np.searchsorted(zeros, low) < np.searchsorted(zeros, high, "right"))


def showing(goal: TriedGoal, kind: str, inputs: Values, left: Values, right: Values) -> tuple[Values, Values]:
    """The least and the greatest zero point for which results that differ ([n]) do so after clamping; none if crossed.

    `inputs` are differences of codes and the zero point, [operands, n]: each code has to be one of its type. Results
    stay apart unless both reach the lowest code, or both the highest. What Q makes of NaN no document says, and of
    floats NaN is no number: that is no difference.
    """
    lowest, highest = CODES[kind]
    codes = np.concatenate([np.zeros((1, len(left)), np.int64), inputs.astype(np.int64)])
    low, high = lowest - codes.min(axis=0), highest - codes.max(axis=0)
    if goal.step.left.kind in CODES:
        least, most = np.minimum(left, right).astype(np.int64), np.maximum(left, right).astype(np.int64)
        low, high = np.maximum(low, lowest - most + 1), np.minimum(high, highest - least - 1)
        return low, np.where(least == -goal.room - 2, low - 1, high)
    is_nan = np.isnan(floats_of(left, goal.real)) | np.isnan(floats_of(right, goal.real))
    return low, np.where(is_nan, low - 1, high)
