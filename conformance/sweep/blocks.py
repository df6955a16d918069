"""The judged results of one block of a sweep, as plain data for other machines and for the log."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tiebreak.adapters.sweeping import BlockAnswer
from tiebreak.conformance.sweep.intervals import Folded, fold, folded_from
from tiebreak.conformance.sweep.look import Judge, PieceGrades
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import ROUND_MODES
from tiebreak.golden.space import Space
from tiebreak.golden.verdicts import GRADES


@dataclass(frozen=True)
class Block:
    """A block's number, counts by grade, mismatches by mode (if asked for), intervals, checksum and seconds.

    `seconds` are the backend's. `fault` says why there are no results; then everything else is empty.
    """

    number: int
    counts: tuple[int, ...] = (0,) * len(GRADES)
    differ: tuple[int, ...] = (0,) * len(ROUND_MODES)
    folded: Folded = field(default_factory=Folded)
    sha256: str = ""
    seconds: float = 0.0
    fault: str = ""

    def described(self) -> dict[str, Any]:
        return {
            "block": self.number,
            "counts": list(self.counts),
            "differ": list(self.differ),
            "intervals": self.folded.described(),
            "sha256": self.sha256,
            "seconds": self.seconds,
            "fault": self.fault,
        }


def block_from(data: Any) -> Block:
    """A block from what `Block.described` wrote. TypeError, KeyError or ValueError for anything else."""
    counts, differ = (tuple(map(int, data[name])) for name in ("counts", "differ"))
    if len(counts) != len(GRADES) or len(differ) != len(ROUND_MODES):
        raise ValueError("not the counts of a block")
    folded, text = folded_from(data["intervals"]), (str(data["sha256"]), str(data["fault"]))
    return Block(int(data["block"]), counts, differ, folded, text[0], float(data["seconds"]), text[1])


@dataclass
class Digests:
    """SHA-256 of results, cached for blocks with a single result throughout, as most blocks of a sweep are."""

    known: dict[tuple[str, int], str] = field(default_factory=dict)

    def of(self, results: Array, element: str) -> str:
        """The checksum of `results`. `element` is their single value as hexadecimal bytes, empty if they differ."""
        key = element, results.size
        if key not in self.known:
            digest = hashlib.sha256(np.ascontiguousarray(results).view(np.uint8).data).hexdigest()
            if not element:
                return digest
            self.known[key] = digest
        return self.known[key]


def judge_block(space: Space, judge: Judge, answer: BlockAnswer, digests: Digests, *, all_modes: bool) -> Block:
    """Judge a block's results, with `all_modes` also by each rounding mode."""
    look, at = PieceGrades(), space.pieces(answer.block)[0]
    judge.look(at, answer.output, look)
    if all_modes:
        judge.look_at_modes(at, answer.output, look)
    counts, differ = (tuple(map(int, array)) for array in (look.counts, look.differ))
    digest = digests.of(answer.output, answer.element)
    return Block(answer.block, counts, differ, fold(space, look.wrong), digest, answer.seconds)
