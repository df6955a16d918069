"""The sums over all scales that a certificate about arithmetics has, and what follows from each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tiebreak.conformance.proof_checker.float_terms import Values
from tiebreak.conformance.proof_checker.refusal import ProofRefused, mapping_in, whole_in

NAMES = ("scales", "differing", "without", "worst", "worst_scale")


class ListedPart(NamedTuple):
    """Sums over some scales, each of which stands for `times` of them; `blocks` of them are listed."""

    scales: int
    differing: int
    without: int
    worst: int
    worst_scale: int
    times: int
    blocks: int


class CountedTotals(NamedTuple):
    """The parts in the order of their blocks."""

    parts: tuple[ListedPart, ...]

    @property
    def differing(self) -> int:
        return sum(part.differing for part in self.parts)

    @property
    def worst(self) -> int:
        return max(part.worst for part in self.parts)

    def check_counts(self, counts: Sequence[Values]) -> None:
        """ProofRefused unless the sums are those of all blocks' counts."""
        start = 0
        for part in self.parts:
            some = counts[start : start + part.blocks]
            start += part.blocks
            found = (
                sum(len(one) for one in some) * part.times,
                sum(int(one.sum(dtype="uint64")) for one in some) * part.times,
                sum(int((one == 0).sum()) for one in some) * part.times,
                max(int(one.max()) for one in some),
            )
            if found != part[:4]:
                raise ProofRefused("the sums are not those of the blocks")


def check_totals(
    found: Mapping[str, Any], normal: Sequence[int], of_exponent: int, sizes: Sequence[int]
) -> CountedTotals:
    """The sums. ProofRefused if they contradict each other, or the numbers of scales."""
    parts = []
    standing = of_exponent // (1 << 16) if normal else 0  # blocks of exponent 0
    for name, times, blocks in (("normal", len(normal), standing), ("ends", 1, len(sizes) - standing)):
        if (found.get(name) is not None) != (blocks > 0):
            raise ProofRefused(f"the comparison's {name} exponents have sums without blocks, or blocks without sums")
        if blocks:
            row = mapping_in(found, name)
            sums = {one: whole_in(row, one) for one in NAMES}
            part = ListedPart(**sums, times=times, blocks=blocks)
            some = sizes[:standing] if name == "normal" else sizes[standing:]
            check_part(part, sum(some) * times)
            parts.append(part)
    if not parts:
        raise ProofRefused("the comparison has no scales")
    return CountedTotals(tuple(parts))


def check_part(part: ListedPart, scales: int) -> None:
    some = part.scales - part.without
    if part.scales != scales:
        raise ProofRefused(f"the sums are over {part.scales} scales, not over {scales}")
    if min(part) < 0 or some < 0 or part.differing % part.times or part.without % part.times:
        raise ProofRefused("a sum is negative, or no multiple of the exponents that it stands for")
    if not max(some, part.worst) <= part.differing <= some * part.worst:
        raise ProofRefused("the sums of differing inputs, of scales without any and of the worst contradict each other")
