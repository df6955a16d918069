"""Claims about two arithmetics: their counts of differing inputs, block by block, and the counterexample.

A step is about one zero point, or about all where neither arithmetic depends on it. Of each block of scales it has
SHA-256 of the counts (little-endian uint32, in the order of the scales), their sum, and how many are 0. Of float32 a
block is 65,536 scales with the same upper bits, of narrower types 2,048. The scales of exponent 0 stand for those of
each exponent at which nothing near a decision is subnormal or overflows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tiebreak.conformance.proof_checker.blocks import BlockDraw, Span, blocks_of, exponents_spans
from tiebreak.conformance.proof_checker.claims import FORM as PATTERNS
from tiebreak.conformance.proof_checker.claims import chosen_zero_points, spanned
from tiebreak.conformance.proof_checker.evaluation import CODES, DTYPES, FORMATS, Values, floats_of, infinity_of
from tiebreak.conformance.proof_checker.named_arithmetics import CheckedArithmetic, arithmetic_of
from tiebreak.conformance.proof_checker.refusal import NUMBER, check_form, require

AT_ONCE = 1 << 16
FORM = {name: PATTERNS[name] for name in ("left", "right", "real", "zero_points", "extent")} | {"type": set(CODES)}
STEP: dict[str, Any] = {"rule": {"every scale"}, "zero_point": int | None, "exponents": [(int, int)], "chain": str}
STEP |= {"blocks": [(str, int, int)]}
WITNESS = {"zero_points": (int, int), "operands": {"x": NUMBER}, "scales": {"scale": NUMBER}}
EXAMPLE = {**WITNESS, "zero_points": {"scale": int}}


class CountedPair(NamedTuple):
    """Two arithmetics of inputs of type `real`; codes are from `lowest` to `highest`."""

    sides: tuple[CheckedArithmetic, CheckedArithmetic]
    real: str
    zero_point: int
    lowest: int
    highest: int


def check_arithmetics(data: Mapping[str, Any], draw: BlockDraw) -> list[str]:
    """What was checked, a line each. ProofRefused if the certificate does not hold."""
    claim, steps, is_proved = data["claim"], data["steps"], data["verdict"] == "PROVED"
    check_form(claim, FORM, "the claim")
    for step in steps:
        check_form(step, {**STEP, "left": {claim["left"]}, "right": {claim["right"]}}, "a step")
    chosen = list(chosen_zero_points(claim["zero_points"], claim["type"]))
    about = [step["zero_point"] for step in steps]
    require(about in ([None], chosen), "the steps are neither about all zero points at once, nor each of the claim's")
    equal = [step["zero_point"] for step in steps if not any(block[1] for block in step["blocks"])]
    require((equal == about) == is_proved, f"the verdict is {data['verdict']}, but the steps say something else")
    holds = chosen if is_proved else [zero for zero in equal if zero is not None]
    differs = [zero for zero in about if zero not in (None, *holds)]
    check_form(data["differs"], [WITNESS], "differs")
    shown = [witness["zero_points"] for witness in data["differs"]]
    fit = spanned(data["holds"]) == holds and shown == [[zero, zero] for zero in differs]
    require(fit, "the lists of zero points are not those of the steps")
    told = [check_counts(pair_of(claim, step["zero_point"]), claim["extent"], step, draw) for step in steps]
    for zero, witness in zip(differs, data["differs"], strict=True):
        require(len(set(codes_of(claim, witness, zero))) == 2, f"a witness shows no difference for zero point {zero}")
    return told if is_proved else [*told, check_example(claim, data["counterexample"], chosen)]


def pair_of(claim: Mapping[str, Any], zero: int | None) -> CountedPair:
    """Two arithmetics at a zero point, or for all, where codes are differences from it."""
    sides = arithmetic_of(claim["left"]), arithmetic_of(claim["right"])
    lowest, highest = CODES[claim["type"]]
    if zero is not None:
        return CountedPair(sides, claim["real"], zero, lowest, highest)
    depends = any(one.before_and_after(1)[0] for one in sides)
    require(not depends, "an arithmetic depends on the zero point, but all are claimed at once")
    return CountedPair(sides, claim["real"], 0, lowest - highest, highest - lowest)


def check_counts(pair: CountedPair, extent: str, step: Mapping[str, Any], draw: BlockDraw) -> str:
    spans = [range(max(first, -200), min(last, 200) + 1) for first, last in step["exponents"]]
    blocks = blocks_needed(pair, extent, [e for span in spans for e in span])
    for (first, end), row in zip(blocks, step["blocks"], strict=False):
        is_so = row[1] or row == digest_of(np.zeros(end - first, "<u4"))
        require(is_so, "a block's digest is not that of counts of zero")
    told = draw.check(step, blocks, lambda block: digest_of(counts_of(pair, floats_of(np.arange(*block), pair.real))))
    zero = "" if step["zero_point"] is None else f" for zero point {step['zero_point']}"
    return f"{told}{zero}, every input and code counted"


def blocks_needed(pair: CountedPair, extent: str, normal: list[int]) -> list[Span]:
    """The blocks to count, in order. ProofRefused if exponent 0 does not stand for all that are listed."""
    if pair.real != "float32":
        require(extent == "all" and not normal, "of narrow types each scale is counted by itself")
        return blocks_of([(1, infinity_of(pair.real))], 1 << 11)
    _, emin, emax = FORMATS["float32"]
    allowed = exponents_like_zero(pair)
    stands = sorted(set(normal)) == normal and set(normal) <= set(allowed) and (0 in normal or not normal)
    require(stands, "exponent 0 does not stand for each exponent that the certificate lists")
    has_all = extent == "all" or set(allowed[1:-1] or [0]) <= set(normal)
    require(has_all, "the certificate leaves out exponents of scales that the claim is about")
    others = [e for e in range(emin - 1, emax + 1) if e not in normal] if extent == "all" else []
    return blocks_of(exponents_spans([*([0] if normal else []), *others], "float32"), 1 << 16)


def exponents_like_zero(pair: CountedPair) -> list[int]:
    """The exponents of float32 scales at which all that is computed near decisions is normal."""
    codes = np.arange(pair.lowest, pair.highest)
    sizes = np.abs([side.thresholds(codes, pair.zero_point) for side in pair.sides])
    least, most = float(sizes.min()), float(sizes.max())
    _, emin, emax = FORMATS["float32"]
    every = range(emin, -emin if any(one.inverts for one in pair.sides) else emax + 1)
    return [e for e in every if least * 2.0**e >= 2.0 ** (emin + 1) and most * 2.0 ** (e + 1) <= 2.0**emax]


def counts_of(pair: CountedPair, scales: Values) -> Values:
    """The number of inputs (uint32) with different codes, for each scale.

    They lie between the two sides' least inputs with more than a code, for some code.
    """
    counts, end = np.zeros(len(scales), np.int64), np.full(len(scales), -(1 << 40))
    rows = max(1, AT_ONCE // len(scales))
    for start in range(pair.lowest, pair.highest, rows):
        codes = np.arange(start, min(start + rows, pair.highest))[:, None]
        left, right = (side.least_inputs(pair.real, codes, scales, pair.zero_point) for side in pair.sides)
        for low, high in zip(np.minimum(left, right), np.maximum(left, right), strict=True):
            counts += np.maximum(high - np.maximum(low, end), 0)
            end = np.maximum(end, high)
    return counts.astype("<u4")


def digest_of(counts: Values) -> list[Any]:
    return [hashlib.sha256(counts.tobytes()).hexdigest(), int(counts.sum(dtype=np.uint64)), int((counts == 0).sum())]


def codes_of(claim: Mapping[str, Any], example: Mapping[str, Any], zero: int) -> list[int]:
    """Both codes of an example. ProofRefused if the claim is not about it."""
    pair = pair_of(claim, zero)
    numbers = np.array([float(example["operands"]["x"]), float(example["scales"]["scale"])])
    with np.errstate(all="ignore"):
        floats = numbers.astype(DTYPES[pair.real])
    fit = np.isfinite(numbers).all() and (floats.astype(np.float64) == numbers).all()
    require(fit, f"a number of the counterexample is no finite {pair.real}")
    require(numbers[1] > 0, "a scale is not positive")
    inside = claim["extent"] == "all" or any(2.0**e <= numbers[1] < 2.0 ** (e + 1) for e in exponents_like_zero(pair))
    require(inside, "the claim is not about the counterexample's scale")
    found = [side.codes(floats[:1], floats[1:], zero)[0] for side in pair.sides]
    return [int(np.fmin(np.fmax(code, pair.lowest), pair.highest)) for code in found]


def check_example(claim: Mapping[str, Any], example: Mapping[str, Any], chosen: list[int]) -> str:
    check_form(example, EXAMPLE, "the counterexample")
    require(example["zero_points"]["scale"] in chosen, "the counterexample has another zero point than the claim")
    left, right = codes_of(claim, example, example["zero_points"]["scale"])
    fit = [str(left), str(right)] == [example["left"], example["right"]] and left != right
    require(fit, "the codes are not what the counterexample says, or do not differ")
    return f"x = {example['operands']['x']} with scale {example['scales']['scale']} gives {left} and {right}"
