"""Golden vectors of com.microsoft.QLinearMul."""

from __future__ import annotations

from collections.abc import Iterator

from tiebreak.golden.samples import microsoft_qlinear
from tiebreak.golden.samples.microsoft_qlinear import Design
from tiebreak.golden.samples.model import Sample

ID = "com.microsoft.QLinearMul"
DESIGN = Design(
    first="differences",
    halves=(0.25, 0.5, 0.25),
    near=(
        ("three-two-hundredths", (0.02, 0.03, 0.04)),
        ("tenth", (0.1, 0.2, 0.2)),
        ("thirtieth", (0.05, 0.2, 0.3)),
        ("hundredth", (0.7, 0.02, 1.4)),
    ),
    usual=(
        ("models", (0.0235, 0.0117, 0.0091)),
        ("one-small", (0.9, 0.0041, 0.13)),
        ("one-large", (0.0041, 0.9, 0.13)),
    ),
    large=(0.9, 1.1, 0.33),
    overflowing=((2.0**127, 2.0, 2.0**110), (2.0**100, 2.0**100, 2.0**127), (2.0**-100, 2.0**-60, 2.0**-149)),
)


def samples(real: str, kind: str) -> Iterator[Sample]:
    yield from microsoft_qlinear.samples(DESIGN, kind)
    yield from microsoft_qlinear.separating(ID, DESIGN, kind)
