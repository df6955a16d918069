"""Compares two arithmetics of round(x / scale) + zero_point on every input and every scale of a type.

    compare(arithmetic_named("reciprocal in float32"), arithmetic_named("divide in float32"), ScaleDomain())

Nothing is sampled and nothing assumed but IEEE 754 arithmetic: docs/theorems.md has the argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.conformance.theorems.arithmetics import NamedArithmetic
from tiebreak.conformance.theorems.counterexample import Counterexample, simplest_counterexample
from tiebreak.conformance.theorems.counting import SingleCounter
from tiebreak.conformance.theorems.counting_narrow import NarrowCounter
from tiebreak.conformance.theorems.decisions import setting_of
from tiebreak.conformance.theorems.exponents import BLOCKS_OF_EXPONENT, EVERY, blocks_of
from tiebreak.conformance.theorems.scale_blocks import CountedScales, digest_of, simplicity
from tiebreak.conformance.theorems.scale_domains import ScaleDomain
from tiebreak.conformance.theorems.theorem_log import TheoremLog
from tiebreak.conformance.theorems.threads import in_threads

Progress = Callable[[int, int], None]
Counter = SingleCounter | NarrowCounter
FORMAT = {"format": "tiebreak-theorem-log", "version": 1}


@dataclass(frozen=True)
class CountedPart:
    """Sums over some scales. `exponents` are those of the scales; `differing` counts pairs of an input and a scale.

    `without` counts scales without any. `worst` is the most inputs of a scale, `worst_scale` the first that has them
    (a bit pattern); where one exponent stands for others, it is one from 1 to 2.
    """

    exponents: tuple[int, ...]
    scales: int
    differing: int
    without: int
    worst: int
    worst_scale: int

    @property
    def mean(self) -> float:
        """Differing inputs per scale."""
        return self.differing / self.scales


@dataclass(frozen=True)
class ScaleComparison:
    """How two arithmetics differ. Scales and inputs are bit patterns of the domain's type.

    `normal` sums over all exponents that are like each other, `ends` over the others; one of them may be None.
    `counterexample` is None if nothing differs.
    `undefined` counts pairs without a code: where 1 / scale is infinite and x is 0. No other count has them.
    `digests` are the blocks' SHA-256, those of scales from 1 to 2 first; `sha256` is over all.
    """

    left: NamedArithmetic
    right: NamedArithmetic
    domain: ScaleDomain
    normal: CountedPart | None
    ends: CountedPart | None
    counterexample: Counterexample | None
    undefined: int
    digests: tuple[str, ...]
    sha256: str

    @property
    def scales(self) -> int:
        return sum(part.scales for part in self.parts)

    @property
    def differing(self) -> int:
        """Pairs of an input and a scale whose codes differ."""
        return sum(part.differing for part in self.parts)

    @property
    def without(self) -> int:
        """Scales at which no input differs."""
        return sum(part.without for part in self.parts)

    @property
    def parts(self) -> tuple[CountedPart, ...]:
        return tuple(part for part in (self.normal, self.ends) if part is not None)

    @property
    def equal(self) -> bool:
        return self.differing == 0


def compare(
    left: NamedArithmetic,
    right: NamedArithmetic,
    domain: ScaleDomain,
    *,
    log: Path | None = None,
    progress: Progress = lambda done, of: None,
    workers: int = 1,
) -> ScaleComparison:
    """Count every input and scale at which the codes differ. InvalidInput where an arithmetic is not defined.

    `log` gets a line for each block of scales; a log of the same comparison is gone on with. `progress` is called with
    the blocks that are done and the number of all. `workers` are threads.
    """
    counter = counter_of(left, right, domain)
    wanted = counter.blocks()
    written = TheoremLog(log, {**FORMAT, **described(left, right, domain)}) if log is not None else None
    try:
        known = dict(written.blocks) if written else {}
        progress(sum(block in known for block in wanted), len(wanted))
        for block in in_threads(counter.counted, [block for block in wanted if block not in known], workers):
            known[block.block] = block
            if written:
                written.add(block)
            progress(sum(block in known for block in wanted), len(wanted))
    finally:
        if written:
            written.close()
    return summed(counter, [known[block] for block in wanted])


def counter_of(left: NamedArithmetic, right: NamedArithmetic, domain: ScaleDomain) -> Counter:
    """What counts a block of scales. InvalidInput where an arithmetic is not defined."""
    counter = (SingleCounter if domain.real == "float32" else NarrowCounter)(left, right, domain)
    counter.check()
    return counter


def described(left: NamedArithmetic, right: NamedArithmetic, domain: ScaleDomain) -> dict[str, Any]:
    """What is compared, as plain data."""
    return {"left": asdict(left), "right": asdict(right), "domain": asdict(domain)}


def summed(counter: Counter, blocks: list[CountedScales]) -> ScaleComparison:
    """The result of a comparison whose blocks are all counted."""
    normal = [block for block in blocks if block.block in set(blocks_of([0]) if counter.normal else ())]
    ends = blocks[len(normal) :]
    return ScaleComparison(
        *(*counter.pair, counter.domain),
        part_of(normal, counter.normal, len(counter.normal)) if normal else None,
        part_of(ends, exponents_of(counter, ends), 1) if ends else None,
        counterexample_of(counter, normal if any(block.differing for block in normal) else ends),
        counter.undefined,
        tuple(block.sha256 for block in blocks),
        digest_of(blocks),
    )


def part_of(blocks: list[CountedScales], exponents: Iterable[int], times: int) -> CountedPart:
    """The sums of blocks that stand for so many exponents each."""
    worst = max(blocks, key=lambda block: block.worst)
    return CountedPart(
        tuple(exponents),
        scales=sum(block.scales for block in blocks) * times,
        differing=sum(block.differing for block in blocks) * times,
        without=sum(block.without for block in blocks) * times,
        worst=worst.worst,
        worst_scale=worst.worst_scale,
    )


def exponents_of(counter: Counter, blocks: list[CountedScales]) -> list[int]:
    if isinstance(counter, NarrowCounter):
        return []  # every one
    return [EVERY[number] for number in sorted({block.block // BLOCKS_OF_EXPONENT for block in blocks})]


def counterexample_of(counter: Counter, blocks: list[CountedScales]) -> Counterexample | None:
    scales = np.array([block.simplest for block in blocks if block.simplest is not None], np.uint32)
    if not scales.size:
        return None
    real = counter.domain.real_type
    scale = int(scales[np.argmin(simplicity(scales, real))])
    lowest = int(setting_of(counter.left, counter.domain).codes[0])
    return simplest_counterexample(real, scale, lowest, *counter.least_inputs(scale))
