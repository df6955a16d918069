"""Steps of a proof that rest on trying: their blocks cover every scale, and drawn blocks give their digests."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tiebreak.conformance.proof_checker.claim_terms import CODES, zero_points_of
from tiebreak.conformance.proof_checker.covered_scales import check_coverage
from tiebreak.conformance.proof_checker.float_terms import Values, refuse_flushing, scales_from
from tiebreak.conformance.proof_checker.refusal import ProofRefused, of_type, shortened, text_in, whole_in
from tiebreak.conformance.proof_checker.tried_codes import by_codes, count_of_codes
from tiebreak.conformance.proof_checker.tried_decisions import by_decisions, check_rising
from tiebreak.conformance.proof_checker.tried_goal import TriedGoal

CHAIN_START = hashlib.sha256(b"tiebreak-proof").digest()
DRAWN = 2  # blocks of a step that are tried again


def check_tried(goal: TriedGoal, step: Mapping[str, Any], *, by: str, whole: bool, draw: random.Random) -> str:
    """What was tried again. ProofRefused if a scale is left out, a digest is another, or the sides differ."""
    refuse_flushing()
    for side, _ in goal.sides:
        if any(part.operation == "Q" for one in side.inputs for part in one.parts()):
            raise ProofRefused(f"{shortened(side)} rounds to a code within, where each zero point counts")
    if by == "every decision":
        check_rising(goal)
    blocks = blocks_in(step)
    check_coverage(goal, step, blocks, by=by)
    check_chain(step, blocks)
    if whole_in(step, "scales") != sum(count for _, count, _ in blocks):
        raise ProofRefused("the number of scales is not the sum of the blocks'")
    points = count_of_codes(goal) if by == "every code" else 4 * goal.room + 10
    if whole_in(step, "points") != points:
        raise ProofRefused(f"{whole_in(step, 'points')} points were tried for each scale: {points} are needed")
    chosen = blocks if whole else draw.sample(blocks, min(DRAWN, len(blocks)))
    for block in chosen:
        try_block(goal, block, by)
    return f"{len(chosen)} of {len(blocks)} blocks of scales tried again, {by} each"


def blocks_in(step: Mapping[str, Any]) -> list[tuple[int, int, str]]:
    found = []
    for one in of_type(step, "blocks", list):
        if not isinstance(one, list) or [type(part) for part in one] != [int, int, str]:
            raise ProofRefused("a block is a bit pattern, a number of scales and a digest")
        found.append((one[0], one[1], one[2]))
    if not found:
        raise ProofRefused("a step lists no block of scales")
    return found


def check_chain(step: Mapping[str, Any], blocks: Sequence[tuple[int, int, str]]) -> None:
    last = CHAIN_START
    for _, _, digest in blocks:
        try:
            last = hashlib.sha256(last + bytes.fromhex(digest)).digest()
        except ValueError:
            raise ProofRefused(f"{shortened(digest)} is no SHA-256") from None
    if last.hex() != text_in(step, "chain"):
        raise ProofRefused("the chain of digests is broken: a block was changed, left out or moved")


def try_block(goal: TriedGoal, block: tuple[int, int, str], by: str) -> None:
    first, count, digest = block
    scales, found = scales_from(first, count, goal.claim.real), hashlib.sha256()
    results: Iterator[tuple[Values, Values, Values]] = (by_codes if by == "every code" else by_decisions)(
        goal, scales, found
    )
    for inputs, left, right in results:
        if (places := np.flatnonzero(left != right)).size:
            compare_clamped(goal, inputs[:, places], left[places], right[places])
    if found.hexdigest() != digest:
        raise ProofRefused(f"the block of scales from {first:#x} gives other results than the certificate has")


def compare_clamped(goal: TriedGoal, inputs: Values, left: Values, right: Values) -> None:
    """ProofRefused if results that differ ([n]) do so after clamping, for a zero point of the claim.

    `inputs` are differences of codes and the zero point, [operands, n]: each code has to be one of its type. Results
    stay apart unless both reach the lowest code, or both the highest. What Q makes of NaN no document says: that is no
    difference.
    """
    lowest, highest = CODES[goal.kind]
    every = np.zeros((1, len(left)), np.int64)
    all_inputs = np.concatenate([every, inputs.astype(np.int64)])
    first, last = lowest - all_inputs.min(axis=0), highest - all_inputs.max(axis=0)
    if goal.is_code(goal.left):
        least, most = np.minimum(left, right).astype(np.int64), np.maximum(left, right).astype(np.int64)
        first, last = np.maximum(first, lowest - most + 1), np.minimum(last, highest - least - 1)
        last = np.where(least == -goal.room - 2, first - 1, last)
    zeros = np.array(zero_points_of(goal.claim, goal.kind))
    places = np.searchsorted(zeros, first)
    apart = (places < len(zeros)) & (zeros[np.minimum(places, len(zeros) - 1)] <= last)
    if apart.any():
        where = int(np.argmax(apart))
        raise ProofRefused(
            f"{shortened(goal.left)} and {shortened(goal.right)} differ for zero point {zeros[places[where]]}: "
            f"{left[where]} and {right[where]} steps from it"
        )
