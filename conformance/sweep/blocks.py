"""The judged results of one block of a sweep, as plain data for other machines and for the log."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tiebreak.adapters.sweeping import BlockAnswer
from tiebreak.conformance.sweep.intervals import Folded, fold, folded_from
from tiebreak.conformance.sweep.look import Judge, PieceGrades
from tiebreak.golden.rounding import ROUND_MODES
from tiebreak.golden.space import Space
from tiebreak.golden.verdicts import GRADES


@dataclass(frozen=True)
class Block:
    """A block's number, counts by grade, mismatches by mode (if asked for), intervals, checksum and seconds.

    `seconds` are the backend's. `fault` says why there are no results; then everything else is empty. `finite` is the
    checksum of what a document can settle; see digests.of_finite.
    """

    number: int
    counts: tuple[int, ...] = (0,) * len(GRADES)
    differ: tuple[int, ...] = (0,) * len(ROUND_MODES)
    folded: Folded = field(default_factory=Folded)
    sha256: str = ""
    seconds: float = 0.0
    fault: str = ""
    finite: str = ""

    def described(self) -> dict[str, Any]:
        return {
            "block": self.number,
            "counts": list(self.counts),
            "differ": list(self.differ),
            "intervals": self.folded.described(),
            "sha256": self.sha256,
            "seconds": self.seconds,
            "fault": self.fault,
            **({"finite": self.finite} if self.finite else {}),
        }


def block_from(data: Any) -> Block:
    """A block from what `Block.described` wrote. TypeError, KeyError or ValueError for anything else."""
    counts, differ = (tuple(map(int, data[name])) for name in ("counts", "differ"))
    if len(counts) != len(GRADES) or len(differ) != len(ROUND_MODES):
        raise ValueError("not the counts of a block")
    folded, digest, finite = folded_from(data["intervals"]), str(data["sha256"]), str(data.get("finite", ""))
    seconds, fault = float(data["seconds"]), str(data["fault"])
    return Block(int(data["block"]), counts, differ, folded, digest, seconds, fault, finite)


def judge_block(space: Space, judge: Judge, answer: BlockAnswer, *, all_modes: bool) -> Block:
    """Judge a block's results, with `all_modes` also by each rounding mode; its checksums are still to come."""
    look, at = PieceGrades(), space.pieces(answer.block)[0]
    judge.look(at, answer.output, look)
    if all_modes:
        judge.look_at_modes(at, answer.output, look)
    counts, differ = (tuple(map(int, array)) for array in (look.counts, look.differ))
    return Block(answer.block, counts, differ, fold(space, look.wrong), seconds=answer.seconds)
