"""Golden vectors of com.microsoft.QLinearMul."""

from __future__ import annotations

from collections.abc import Iterator

from tiebreak.golden.samples import microsoft_qlinear
from tiebreak.golden.samples.microsoft_qlinear import ALWAYS, Design
from tiebreak.golden.samples.model import Sample, Tensor
from tiebreak.golden.vector_inputs.by_witness import witnesses_of

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
    yield from separating(kind)


def separating(kind: str) -> Iterator[Sample]:
    """Integers times one number, on which two of the plainest arithmetics differ."""
    for number, codes, a in witnesses_of(ID, f"{kind}-{kind}"):
        kinds = ("float32", kind, kind, "float32", kind, "float32", kind)
        others = (Tensor(one, (), [code]) for one, code in zip(kinds, codes, strict=True))
        given = (Tensor(kind, (len(a),), a), *others)
        roles = (DESIGN.first, *ALWAYS, "saturate")
        yield Sample(f"separating-{number}", {"quantized": kind}, given, ("Separating",), roles)
