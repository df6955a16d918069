"""The judged results of one block of a sweep of every scale, as plain data for other machines and for the log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

COUNTS = ("scales", "asked", "working", "wrong", "differing", "located", "located_pairs", "pairs")


class Worst(NamedTuple):
    """The located scale (bit pattern) with most differing inputs, and how many it has; 0 and 0 if none has any.

    `places` is how far a backend's threshold is from the right one at most, `step` the step below it.
    """

    scale: int = 0
    pairs: int = 0
    places: int = 0
    step: int = 0


@dataclass(frozen=True)
class ScaleBlock:
    """A block's number, counts, checksum and seconds. `fault` says why there are no results; then all else is empty.

    Of the inputs `asked`, `working` have the answer of working precision alone and `wrong` neither form's. `differing`
    are the scales with a wrong answer. All thresholds of `located` of them were found, and `located_pairs` counts every
    x with which such a scale differs. `pairs` adds the inputs asked that are wrong with the others: it is a lower bound
    where not all are located. `seconds` are the backend's.
    """

    number: int
    scales: int = 0
    asked: int = 0
    working: int = 0
    wrong: int = 0
    differing: int = 0
    located: int = 0
    located_pairs: int = 0
    pairs: int = 0
    worst: Worst = field(default_factory=Worst)
    sha256: str = ""
    seconds: float = 0.0
    fault: str = ""

    def described(self) -> dict[str, Any]:
        return {
            "block": self.number,
            "counts": [getattr(self, name) for name in COUNTS],
            "worst": list(self.worst),
            "sha256": self.sha256,
            "seconds": self.seconds,
            "fault": self.fault,
        }


def scale_block_from(data: Mapping[str, Any]) -> ScaleBlock:
    """A block from what `ScaleBlock.described` wrote. TypeError, KeyError or ValueError for anything else."""
    counts = dict(zip(COUNTS, map(int, data["counts"]), strict=True))
    worst, text = Worst(*map(int, data["worst"])), (str(data["sha256"]), str(data["fault"]))
    return ScaleBlock(
        int(data["block"]), **counts, worst=worst, sha256=text[0], seconds=float(data["seconds"]), fault=text[1]
    )
