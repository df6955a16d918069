"""Golden vectors of com.microsoft.QLinearAdd."""

from __future__ import annotations

from collections.abc import Iterator

from tiebreak.golden.samples import microsoft_qlinear
from tiebreak.golden.samples.microsoft_qlinear import Design
from tiebreak.golden.samples.model import Sample

ID = "com.microsoft.QLinearAdd"
DESIGN = Design(
    first="numbers",
    halves=(0.5, 1.0, 1.0),
    near=(
        ("half-and-three-quarters", (0.02, 0.03, 0.04)),
        ("fifths", (0.1, 0.3, 0.2)),
        ("sevenths", (0.7, 0.07, 1.4)),
        ("thirds", (0.3, 0.1, 0.6)),
    ),
    usual=(
        ("models", (0.0235, 0.0117, 0.0291)),
        ("one-small", (0.9, 0.0041, 1.3)),
        ("one-large", (0.0041, 0.9, 1.3)),
    ),
    large=(0.9, 1.1, 0.33),
    overflowing=((2.0**126, -(2.0**126), 2.0**100), (2.0**127, 2.0**127, 2.0**127), (2.0**-140, 2.0**-149, 2.0**-140)),
)


def samples(real: str, kind: str) -> Iterator[Sample]:
    yield from microsoft_qlinear.samples(DESIGN, kind)
    yield from microsoft_qlinear.separating(ID, DESIGN, kind)
