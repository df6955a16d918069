"""Decides whether two arithmetics of round(x / scale) + zero_point give the same codes for every input and scale."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tiebreak.conformance.proving.blocks import chained
from tiebreak.conformance.proving.claim import chosen_zero_points
from tiebreak.conformance.proving.findings import (
    PROVED,
    REFUTED,
    Decision,
    Reasoning,
    WrittenCounterexample,
    ZeroPointWitness,
    spans_of,
)
from tiebreak.conformance.theorems.arithmetics import NamedArithmetic
from tiebreak.conformance.theorems.compare import ScaleComparison, counter_of, summed
from tiebreak.conformance.theorems.scale_domains import WIDEST, ScaleDomain
from tiebreak.conformance.theorems.threads import in_threads
from tiebreak.golden.elements import INTEGER_TYPES, numpy_dtype
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.untrusted_text import printable

MOST_ZERO_POINTS = 256  # each takes some seconds
NAME = re.compile(r"(exact|[a-z-]+ in [a-z0-9]+)(\s*,.*)?")  # as arithmetic_named takes it
Progress = Callable[[int, int], None]


def is_arithmetic(text: str) -> bool:
    """Whether it is written like the name of an arithmetic: `reciprocal in float32, before-rounding`."""
    return NAME.fullmatch(text) is not None


def domains_of(
    pair: tuple[NamedArithmetic, NamedArithmetic], type_: str, real: str, zero_points: str, extent: str
) -> list[ScaleDomain]:
    """A domain for each zero point, or one for all where neither arithmetic depends on it. InvalidInput."""
    check_arithmetic_type(type_)
    ends = extent == "all" or real != "float32"  # all scales of narrower types are compared
    chosen = chosen_zero_points(zero_points, type_)
    if len(chosen) > 1 and not any(one.combination.zero_point.first for one in pair):
        return [ScaleDomain(real, type_, None, ends)]
    if len(chosen) > MOST_ZERO_POINTS:
        raise InvalidInput(
            f"{len(chosen)} zero points, each with every scale: at most {MOST_ZERO_POINTS} are allowed where an "
            "arithmetic depends on them"
        )
    return [ScaleDomain(real, type_, zero, ends) for zero in chosen]


def check_arithmetic_type(type_: str) -> None:
    known = [name for name, one in INTEGER_TYPES.items() if one.bits <= WIDEST]
    if type_ not in known:
        raise InvalidInput(f"type {printable(type_, 40)!r} is none of {', '.join(known)}")


def count_scales(
    pair: tuple[NamedArithmetic, NamedArithmetic],
    zero_points: str,
    domains: list[ScaleDomain],
    progress: Progress,
    workers: int,
) -> Decision:
    """PROVED or REFUTED, with how many inputs and scales differ; each zero point by itself if they are told apart."""
    kind = domains[0].quantized_type
    chosen = chosen_zero_points(zero_points, kind.name)
    steps: list[Reasoning] = []
    found = list(all_compared(pair, domains, progress, workers, steps))
    if domains[0].zero_point is None and len(chosen) < kind.highest - kind.lowest + 1 and not found[0].equal:
        domains, steps = [replace(domains[0], zero_point=zero) for zero in chosen], []
        found = list(all_compared(pair, domains, progress, workers, steps))
    if all(one.equal for one in found):
        return Decision(PROVED, steps, holds=chosen)
    different = [one for one in found if not one.equal]
    first = min(different, key=lambda one: (abs(one.domain.zero_point or 0), one.domain.zero_point or 0))
    if domains[0].zero_point is None:
        return Decision(REFUTED, steps, refutation_of(first))
    holds = [zero for zero, one in zip(chosen, found, strict=True) if one.equal]
    return Decision(REFUTED, steps, refutation_of(first), holds, [witness_of_zero_point(one) for one in different])


def all_compared(
    pair: tuple[NamedArithmetic, NamedArithmetic],
    domains: list[ScaleDomain],
    progress: Progress,
    workers: int,
    steps: list[Reasoning],
) -> Iterator[ScaleComparison]:
    """A comparison for each domain; the progress is that of all together."""
    for number, domain in enumerate(domains):

        def told(done: int, of: int, before: int = number) -> None:
            if done or not before:
                progress(before * of + done, len(domains) * of)

        yield compared(pair, domain, told, workers, steps)


def compared(
    pair: tuple[NamedArithmetic, NamedArithmetic],
    domain: ScaleDomain,
    progress: Progress,
    workers: int,
    steps: list[Reasoning],
) -> ScaleComparison:
    """A comparison, whose blocks become a step."""
    counter = counter_of(*pair, domain)
    wanted, blocks = counter.blocks(), []
    progress(0, len(wanted))
    for block in in_threads(counter.counted, wanted, workers):
        blocks.append(block)
        progress(len(blocks), len(wanted))
    rows = [[block.sha256, block.differing, block.without] for block in blocks]
    exponents = spans_of(counter.normal)
    evidence: dict[str, Any] = {
        "exact": [False, False],
        "codes": {},
        "zero_point": domain.zero_point,
        "exponents": exponents,
        "blocks": rows,
        "chain": chained(rows),
    }
    steps.append(Reasoning("every scale", pair[0].name, pair[1].name, (), evidence))
    return summed(counter, blocks)


def witness_of_zero_point(found: ScaleComparison) -> ZeroPointWitness:
    example = refutation_of(found)
    zero = example.zero_points["scale"]
    return ZeroPointWitness(zero, zero, example.operands, example.scales)


def refutation_of(found: ScaleComparison) -> WrittenCounterexample:
    example = found.counterexample
    assert example is not None
    dtype = numpy_dtype(found.domain.real)
    x, scale = (np.array([word], f"u{dtype.itemsize}").view(dtype)[0] for word in (example.x, example.scale))
    zero, sides = found.domain.zero_point, (example.left, example.right)
    if zero is None:  # the codes are those of zero point 0, without ends: one is chosen that shows the difference
        kind = found.domain.quantized_type
        low = max(kind.lowest, kind.lowest - max(sides) + 1)
        high = min(kind.highest, kind.highest - min(sides) - 1)
        zero = min(max(0, low), high)
        left, right = (min(max(side + zero, kind.lowest), kind.highest) for side in sides)
        sides = left, right
    results = str(sides[0]), str(sides[1])
    return WrittenCounterexample({"x": repr(float(x))}, {"scale": repr(float(scale))}, {"scale": zero}, *results)


def described_arithmetics(
    pair: tuple[NamedArithmetic, NamedArithmetic], zero_points: str, domain: ScaleDomain
) -> dict[str, Any]:
    """The claim, for a certificate."""
    return {
        "kind": "arithmetics",
        "left": pair[0].name,
        "right": pair[1].name,
        "type": domain.quantized,
        "real": domain.real,
        "zero_points": zero_points,
        "extent": "all" if domain.ends else "normal",
    }
