"""Claims about two arithmetics: their counts of differing inputs, block by block, and the counterexample.

A step is about one zero point, or about all where neither arithmetic depends on it. Of each block of scales it has
SHA-256 of the counts (little-endian uint32, in the order of the scales), their sum, and how many are 0. Of float32 a
block is 65,536 scales with the same upper bits, of narrower types 2,048. The scales of exponent 0 stand for those of
each exponent at which nothing near a decision is subnormal or overflows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.proof_checker.claims import BlockDraw, chosen_zero_points, spanned
from tiebreak.conformance.proof_checker.evaluation import (
    CODES,
    DTYPES,
    FORMATS,
    REALS,
    Values,
    floats_of,
    infinity_of,
    refuse_flushing,
)
from tiebreak.conformance.proof_checker.named_arithmetics import CheckedArithmetic, arithmetic_of
from tiebreak.conformance.proof_checker.recounting import CountedPair, counts_of
from tiebreak.conformance.proof_checker.refusal import ProofRefused, check_form
from tiebreak.conformance.proof_checker.tried_blocks import check_chain

Sides = tuple[CheckedArithmetic, CheckedArithmetic]
FORM = {
    "left": str,
    "right": str,
    "type": set(CODES),
    "real": REALS,
    "zero_points": str,
    "extent": {"normal", "all"},
}
STEP = {
    "rule": {"every scale"},
    "zero_point": int | None,
    "exponents": [(int, int)],
    "blocks": [(str, int, int)],
    "chain": str,
}
WITNESS = {"zero_points": (int, int), "operands": {"x": str}, "scales": {"scale": str}}
EXAMPLE = {**WITNESS, "zero_points": {"scale": int}, "left": str, "right": str}


def check_arithmetics(data: Mapping[str, Any], draw: BlockDraw) -> list[str]:
    """What was checked, a line each. ProofRefused if the certificate does not hold."""
    claim = data["claim"]
    check_form(claim, FORM, "the claim")
    refuse_flushing()
    sides = arithmetic_of(claim["left"]), arithmetic_of(claim["right"])
    chosen = list(chosen_zero_points(claim["zero_points"], claim["type"]))
    holds = spanned(data["holds"])
    found: dict[int | None, bool] = {}
    told = []
    for step in data["steps"]:
        check_form(step, {**STEP, "left": {claim["left"]}, "right": {claim["right"]}}, "a step")
        pair = pair_of(sides, claim, step["zero_point"])
        found[step["zero_point"]] = all(block[1] == 0 for block in step["blocks"])
        told.append(check_counts(CountedStep(pair, claim["extent"]), step, draw))
    if list(found) not in ([None], chosen) or len(found) != len(data["steps"]):
        raise ProofRefused("the steps are neither about all zero points at once nor about each of the claim's")
    if all(found.values()) != (data["verdict"] == "PROVED"):
        raise ProofRefused(f"the verdict is {data['verdict']}, but the steps say something else")
    equal = [zero for zero in chosen if found.get(zero, found.get(None))]
    if data["verdict"] == "PROVED":
        if holds != chosen or data["differs"]:
            raise ProofRefused("the lists of zero points are not those of a claim that is proved")
        return told
    told_apart = None not in found
    check_form(data["differs"], [WITNESS], "differs")
    spans = [witness["zero_points"] for witness in data["differs"]]
    if holds != (equal if told_apart else []) or spans != [[z, z] for z in chosen if told_apart and z not in equal]:
        raise ProofRefused("the lists of zero points are not those of the steps")
    for witness in data["differs"]:
        left, right = codes_of(sides, claim, witness, witness["zero_points"][0])
        if left == right:
            raise ProofRefused(f"a witness shows no difference for zero point {witness['zero_points'][0]}")
    return [*told, check_example(sides, claim, data["counterexample"], chosen)]


def pair_of(sides: Sides, claim: Mapping[str, Any], zero: int | None) -> CountedPair:
    """Two arithmetics at a zero point, or for all, where codes are differences from it."""
    lowest, highest = CODES[claim["type"]]
    if zero is None:
        if any(one.before_and_after(1)[0] for one in sides):
            raise ProofRefused("an arithmetic depends on the zero point, but all are claimed at once")
        return CountedPair(sides, claim["real"], 0, lowest - highest, highest - lowest)
    return CountedPair(sides, claim["real"], zero, lowest, highest)


@dataclass(frozen=True)
class CountedStep:
    """Two arithmetics and the extent of the scales for which they are compared."""

    pair: CountedPair
    extent: str

    @property
    def block_size(self) -> int:
        return 1 << (16 if self.pair.real == "float32" else 11)

    def scales_of(self, block: int) -> Values:
        first, end = block * self.block_size, min((block + 1) * self.block_size, infinity_of(self.pair.real))
        return floats_of(np.arange(max(first, 1), end), self.pair.real)

    def exponents_like_zero(self) -> list[int]:
        """The exponents of float32 scales at which all that is computed near decisions is normal."""
        codes, quotients = np.arange(self.pair.lowest, self.pair.highest), []
        for side in self.pair.sides:
            before, after = side.before_and_after(self.pair.zero_point)
            quotients += np.abs(side.thresholds(codes - after)[0] - before).tolist()
        _, emin, emax = FORMATS["float32"]
        least, most = Fraction(min(quotients)), Fraction(max(quotients))
        highest = -emin - 1 if any(one.inverts for one in self.pair.sides) else emax
        return [
            e
            for e in range(emin, highest + 1)
            if least * Fraction(2) ** e >= Fraction(2) ** (emin + 1)
            and most * Fraction(2) ** (e + 1) <= Fraction(2) ** emax
        ]

    def blocks(self, normal: list[int]) -> list[int]:
        """The numbers of the blocks to count, in order. ProofRefused if exponent 0 does not stand for all listed."""
        if self.pair.real != "float32":
            if self.extent != "all" or normal:
                raise ProofRefused("of narrow types each scale is counted by itself")
            return list(range(-(-infinity_of(self.pair.real) // self.block_size)))
        _, emin, emax = FORMATS["float32"]
        allowed = self.exponents_like_zero()
        if sorted(set(normal)) != normal or not set(normal) <= set(allowed) or (normal and 0 not in normal):
            raise ProofRefused("exponent 0 does not stand for each exponent that the certificate lists")
        if self.extent == "normal" and not set(allowed[1:-1] or [0]) <= set(normal):
            raise ProofRefused("the certificate leaves out exponents of scales that the claim is about")
        others = [e for e in range(emin - 1, emax + 1) if e not in normal] if self.extent == "all" else []
        return [128 * (e - emin + 1) + number for e in [*([0] if normal else []), *others] for number in range(128)]


def check_counts(counted: CountedStep, step: Mapping[str, Any], draw: BlockDraw) -> str:
    spans = [range(max(first, -200), min(last, 200) + 1) for first, last in step["exponents"]]
    blocks, said = counted.blocks([e for span in spans for e in span]), step["blocks"]
    if len(said) != len(blocks):
        raise ProofRefused(f"{len(said)} blocks are listed: {len(blocks)} are needed")
    check_chain(said, step["chain"])
    for block, row in zip(blocks, said, strict=True):
        if row[1] == 0 and row != of_counts(np.zeros(len(counted.scales_of(block)), np.uint32)):
            raise ProofRefused("a block's digest is not that of counts of zero")
    tried = 0
    for number in draw.drawn(len(blocks)):
        if (found := of_counts(counts_of(counted.pair, counted.scales_of(blocks[number])))) != said[number]:
            raise ProofRefused(f"block {number} of the scales gives other counts than the certificate has: {found[1:]}")
        tried += 1
    zero = "" if step["zero_point"] is None else f" for zero point {step['zero_point']}"
    return f"{tried} of {len(blocks)} blocks of scales counted again{zero}, every input and code"


def of_counts(counts: Values) -> list[Any]:
    digest = hashlib.sha256(counts.astype("<u4").tobytes()).hexdigest()
    return [digest, int(counts.sum(dtype=np.uint64)), int((counts == 0).sum())]


def codes_of(sides: Sides, claim: Mapping[str, Any], example: Mapping[str, Any], zero: int) -> list[int]:
    """Both codes of an example. ProofRefused if the claim is not about it."""
    pair = pair_of(sides, claim, zero)
    numbers = []
    for text in (example["operands"]["x"], example["scales"]["scale"]):
        try:
            with np.errstate(all="ignore"):
                numbers.append(np.array([float(text)]).astype(DTYPES[pair.real]))
        except ValueError:
            raise ProofRefused("the counterexample has no numbers") from None
        if float(numbers[-1][0]) != float(text) or not np.isfinite(numbers[-1][0]):
            raise ProofRefused(f"a number of the counterexample is no finite {pair.real}")
    x, scale = numbers
    if not scale[0] > 0:
        raise ProofRefused("a scale is not positive")
    if claim["extent"] == "normal":
        allowed = CountedStep(pair, "normal").exponents_like_zero()
        if not any(2.0**e <= float(scale[0]) < 2.0 ** (e + 1) for e in allowed):
            raise ProofRefused("the claim is not about the counterexample's scale")
    return [int(code[0]) for code in pair.codes(x, scale)]


def check_example(sides: Sides, claim: Mapping[str, Any], example: Mapping[str, Any], chosen: list[int]) -> str:
    check_form(example, EXAMPLE, "the counterexample")
    zero = example["zero_points"]["scale"]
    if zero not in chosen:
        raise ProofRefused("the counterexample has another zero point than the claim")
    found = codes_of(sides, claim, example, zero)
    if [str(code) for code in found] != [example["left"], example["right"]] or found[0] == found[1]:
        raise ProofRefused("the codes are not what the counterexample says, or do not differ")
    return f"x = {example['operands']['x']} with scale {example['scales']['scale']} gives {found[0]} and {found[1]}"
