"""Claims about two arithmetics: their counts of differing inputs, block by block, and the counterexample.

A certificate holds 16 digits of SHA-256 of each block's counts (little-endian uint32, in the order of the scales),
and SHA-256 of all digests. Of float32 a block is 65,536 scales with the same upper bits, of narrower types 2,048.
The scales of exponent 0 stand for those of each exponent at which nothing near a decision is subnormal or overflows.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.proof_checker.claim_terms import CODES, REALS
from tiebreak.conformance.proof_checker.counted_totals import CountedTotals, check_totals
from tiebreak.conformance.proof_checker.exact_numbers import NoNumber, number_of, power, rounded
from tiebreak.conformance.proof_checker.float_terms import FORMATS, Values, refuse_flushing, scales_from
from tiebreak.conformance.proof_checker.named_arithmetics import CheckedArithmetic, arithmetic_of
from tiebreak.conformance.proof_checker.recounting import CountedPair, counts_of, infinity_of
from tiebreak.conformance.proof_checker.refusal import (
    ProofRefused,
    chosen_in,
    mapping_in,
    mappings_in,
    of_type,
    shortened,
    text_in,
    whole_in,
)

DRAWN = 2  # blocks that are counted again
DIGITS = 16  # of a block's digest


@dataclass(frozen=True)
class ArithmeticClaim:
    """Two arithmetics on a domain; `zero_point` None stands for all, where codes are differences from it."""

    pair: CountedPair
    quantized: str
    zero_point: int | None
    extent: str

    @property
    def block_size(self) -> int:
        return 1 << (16 if self.pair.real == "float32" else 11)

    def scales_of(self, block: int) -> Values:
        first = max(block * self.block_size, 1)
        end = min((block + 1) * self.block_size, infinity_of(self.pair.real))
        return scales_from(first, end - first, self.pair.real)


def check_arithmetics(data: Mapping[str, Any], whole: bool, draw: random.Random) -> list[str]:
    """What was checked, a line each. ProofRefused if the certificate does not hold."""
    claim = arithmetics_in(mapping_in(data, "claim"))
    refuse_flushing()
    steps = mappings_in(data, "steps")
    if len(steps) != 1 or steps[0].get("rule") != "every scale":
        raise ProofRefused("a claim about arithmetics is shown by one step, every scale")
    found = mapping_in(steps[0], "comparison")
    check_subject(claim, mapping_in(data, "claim"), found)
    normal, blocks = blocks_of(claim, found)
    digests = digests_in(found, len(blocks))
    totals = check_totals(found, normal, 1 << (FORMATS[claim.pair.real][0] - 1), blocks_of_all(claim, blocks))
    if (totals.differing == 0) != (data["verdict"] == "PROVED"):
        raise ProofRefused(f"the verdict is {data['verdict']}, but {totals.differing} pairs of input and scale differ")
    told = recounted(claim, found, list(zip(blocks, digests, strict=True)), totals, whole, draw)
    if data["verdict"] == "PROVED":
        check_zeros(claim, blocks, digests)
        if data.get("counterexample") is not None:
            raise ProofRefused("a claim that is proved has no counterexample")
        return [*told, "every block's digest is that of counts of zero"]
    return [*told, check_example(claim, mapping_in(data, "counterexample"))]


def arithmetics_in(claim: Mapping[str, Any]) -> ArithmeticClaim:
    quantized, real = chosen_in(claim, "type", tuple(CODES)), chosen_in(claim, "real", REALS)
    lowest, highest = CODES[quantized]
    zero = None if claim.get("zero_point") is None else whole_in(claim, "zero_point")
    if zero is not None and not lowest <= zero <= highest:
        raise ProofRefused(f"{quantized} has no zero point {zero}")
    left, right = (arithmetic_of(text_in(claim, name)) for name in ("left", "right"))
    if zero is None:  # differences of two codes
        size = highest - lowest + 1
        lowest, highest = 1 - size, size - 1
        if left.before_and_after(1)[0] or right.before_and_after(1)[0]:
            raise ProofRefused("an arithmetic depends on the zero point, but all are claimed at once")
    pair = CountedPair((left, right), real, zero or 0, lowest, highest)
    return ArithmeticClaim(pair, quantized, zero, chosen_in(claim, "extent", ("normal", "all")))


def check_subject(claim: ArithmeticClaim, said: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """ProofRefused unless the comparison is one of the claim's arithmetics and domain."""
    domain = mapping_in(found, "domain")
    wanted = {
        "real": claim.pair.real,
        "quantized": claim.quantized,
        "zero_point": claim.zero_point,
        "ends": claim.extent == "all",
    }
    if dict(domain) != wanted:
        raise ProofRefused("the comparison is about another domain than the claim")
    for name, side in zip(("left", "right"), claim.pair.sides, strict=True):
        facets = {
            "precision": side.precision,
            "scaling": side.scaling,
            "subnormals": "kept",
            "zero_point": side.order,
            "round_mode": side.mode,
            "saturation": "saturate",
        }
        if dict(mapping_in(found, name)) != facets:
            raise ProofRefused(f"the comparison is about another arithmetic than {shortened(said[name])}")


def blocks_of(claim: ArithmeticClaim, found: Mapping[str, Any]) -> tuple[list[int], list[int]]:
    """The exponents for which exponent 0 stands, and the numbers of the blocks to count, in order."""
    if claim.pair.real != "float32":
        if claim.extent != "all" or found.get("normal") is not None:
            raise ProofRefused("of narrow types each scale is counted by itself")
        return [], list(range(-(-infinity_of(claim.pair.real) // claim.block_size)))
    _, emin, emax = FORMATS["float32"]
    normal = normal_exponents(claim, found)
    every = range(emin - 1, emax + 1)
    counted = ([0] if normal else []) + ([e for e in every if e not in normal] if claim.extent == "all" else [])
    return normal, [128 * (e - emin + 1) + number for e in counted for number in range(128)]


def normal_exponents(claim: ArithmeticClaim, found: Mapping[str, Any]) -> list[int]:
    """The exponents that the certificate lists. ProofRefused if 0 does not stand for one, or one is missing."""
    allowed = exponents_like_zero(claim)
    listed: list[int] = []
    if found.get("normal") is not None:
        for span in of_type(mapping_in(found, "normal"), "exponents", list):
            if not isinstance(span, list) or [type(one) for one in span] != [int, int] or max(map(abs, span)) > 1 << 11:
                raise ProofRefused("the exponents are no spans")
            listed += range(span[0], span[1] + 1)
    if sorted(set(listed)) != listed or any(one not in allowed for one in listed) or (listed and 0 not in listed):
        raise ProofRefused("exponent 0 does not stand for each exponent that the certificate lists")
    if claim.extent == "normal" and any(one not in listed for one in allowed[1:-1] or [0]):
        raise ProofRefused("the certificate leaves out exponents of scales that the claim is about")
    return listed


def exponents_like_zero(claim: ArithmeticClaim) -> list[int]:
    """The exponents of float32 scales at which all that is computed near decisions is normal."""
    pair, found = claim.pair, []
    codes = np.arange(pair.lowest, pair.highest)
    quotients: list[float] = []
    for side in pair.sides:
        before, after = side.before_and_after(pair.zero_point)
        quotients += np.abs(side.thresholds(codes - after)[0] - before).tolist()
    _, emin, emax = FORMATS["float32"]
    for exponent in range(emin, emax + 1):
        inputs = Fraction(min(quotients)) * power(exponent) >= power(emin + 1)
        largest = Fraction(max(quotients)) * power(exponent + 1) <= power(emax)
        if inputs and largest and (exponent + 1 <= -emin or not any(map(inverts, pair.sides))):
            found.append(exponent)
    return found


def inverts(side: CheckedArithmetic) -> bool:
    """Whether 1 / scale is rounded to float32."""
    return side.scaling == "narrow-reciprocal" or (side.scaling == "reciprocal" and side.precision == "float32")


def digests_in(found: Mapping[str, Any], count: int) -> list[str]:
    digests: list[str] = of_type(found, "digests", list)
    if len(digests) != count:
        raise ProofRefused(f"{len(digests)} blocks are listed: {count} are needed")
    if any(not isinstance(one, str) or len(one) != DIGITS for one in digests):
        raise ProofRefused(f"a block's digest has not {DIGITS} digits")
    return digests


def blocks_of_all(claim: ArithmeticClaim, blocks: Sequence[int]) -> list[int]:
    """How many scales each block has."""
    infinity = infinity_of(claim.pair.real)
    size = claim.block_size
    return [min((one + 1) * size, infinity) - max(one * size, 1) for one in blocks]


def recounted(
    claim: ArithmeticClaim,
    found: Mapping[str, Any],
    blocks: list[tuple[int, str]],
    totals: CountedTotals,
    whole: bool,
    draw: random.Random,
) -> list[str]:
    chosen = blocks if whole else draw.sample(blocks, min(DRAWN, len(blocks)))
    lines, kept = [], []
    for block, digest in chosen:
        counts = counts_of(claim.pair, claim.scales_of(block))
        full = hashlib.sha256(counts.astype("<u4").tobytes()).hexdigest()
        if not full.startswith(digest):
            raise ProofRefused(f"block {block} of the scales gives other counts than the certificate has")
        if counts.max() > totals.worst:
            raise ProofRefused(f"block {block} has a scale with more differing inputs than the certificate says")
        lines.append(f"{full}\n")
        kept.append(counts)
    if whole:
        if hashlib.sha256("".join(lines).encode()).hexdigest() != text_in(found, "sha256"):
            raise ProofRefused("the SHA-256 of all blocks is another")
        totals.check_counts(kept)
    return [f"{len(chosen)} of {len(blocks)} blocks of scales counted again, every input and code"]


def check_zeros(claim: ArithmeticClaim, blocks: Sequence[int], digests: Sequence[str]) -> None:
    for size, digest in zip(blocks_of_all(claim, blocks), digests, strict=True):
        if not hashlib.sha256(bytes(4 * size)).hexdigest().startswith(digest):
            raise ProofRefused("a block's digest is not that of counts of zero")


def check_example(claim: ArithmeticClaim, example: Mapping[str, Any]) -> str:
    """A counterexample, by fractions."""
    real = claim.pair.real
    texts = [of_type(mapping_in(example, name), key, str) for name, key in (("operands", "x"), ("scales", "scale"))]
    x, scale = (number_of(text) for text in texts)
    if not isinstance(scale, Fraction) or scale <= 0 or rounded(scale, real) != scale:
        raise ProofRefused(f"{shortened(texts[1])} is no positive finite {real}")
    if not isinstance(x, Fraction) or rounded(x, real) != x:
        raise ProofRefused(f"{shortened(texts[0])} is no finite {real}")
    zero = whole_in(mapping_in(example, "zero_points"), "scale")
    if zero != (claim.zero_point or 0):
        raise ProofRefused("the counterexample has another zero point than the claim")
    if claim.extent == "normal" and not any(power(e) <= scale < power(e + 1) for e in exponents_like_zero(claim)):
        raise ProofRefused("the claim is not about the counterexample's scale")
    ends = claim.pair.lowest, claim.pair.highest
    try:
        found = [side.code(x, scale, zero, real, ends) for side in claim.pair.sides]
    except NoNumber:
        raise ProofRefused("at the counterexample an arithmetic has no code") from None
    if found != [number_of(example.get(name)) for name in ("left", "right")] or found[0] == found[1]:
        raise ProofRefused("the codes are not what the counterexample says, or do not differ")
    return f"x = {texts[0]} with scale {texts[1]} gives {found[0]} and {found[1]}, by fractions"
