"""What is known of one block of a sweep, as plain data: it travels between machines and waits in a journal."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from tiebreak.adapters.sweeping import BlockAnswer
from tiebreak.conformance.sweep.intervals import Folded, fold, folded_from
from tiebreak.conformance.sweep.look import Judge, Look
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import ROUND_MODES
from tiebreak.golden.space import Space
from tiebreak.golden.verdicts import GRADES


@dataclass(frozen=True)
class Block:
    """A block's number, counts by grade, mismatches by mode (if asked for), intervals, checksum, and backend's seconds.

    `fault` says why there are no results; then everything else is empty.
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
    """What `Block.described` wrote. TypeError, KeyError or ValueError for anything else."""
    counts, differ = (tuple(map(int, data[name])) for name in ("counts", "differ"))
    if len(counts) != len(GRADES) or len(differ) != len(ROUND_MODES):
        raise ValueError("not the counts of a block")
    folded, text = folded_from(data["intervals"]), (str(data["sha256"]), str(data["fault"]))
    return Block(int(data["block"]), counts, differ, folded, text[0], float(data["seconds"]), text[1])


@dataclass
class Digests:
    """SHA-256 of results; of blocks whose results are all the same, as most of a sweep are, it is computed once."""

    known: dict[tuple[str, int], str] = field(default_factory=dict)

    def of(self, results: Array, element: str) -> str:
        """`element` is the one result that all are, as hexadecimal bytes, or empty."""
        key = element, results.size
        if key not in self.known:
            digest = hashlib.sha256(results.tobytes()).hexdigest()
            if not element:
                return digest
            self.known[key] = digest
        return self.known[key]


def judged(space: Space, judge: Judge, answer: BlockAnswer, digests: Digests, *, all_modes: bool) -> Block:
    """What a block's results show."""
    look, at = Look(), space.pieces(answer.block)[0]
    judge.look(at, answer.output, look)
    if all_modes:
        judge.look_at_modes(at, answer.output, look)
    counts, differ = (tuple(map(int, array)) for array in (look.counts, look.differ))
    digest = digests.of(answer.output, answer.element)
    return Block(answer.block, counts, differ, fold(space, look.wrong), digest, answer.seconds)
