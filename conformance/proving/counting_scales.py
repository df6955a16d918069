"""Decides whether two arithmetics of round(x / scale) + zero_point give the same codes for every input and scale."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from tiebreak.conformance.proving.findings import PROVED, REFUTED, Decision, Reasoning, WrittenCounterexample
from tiebreak.conformance.theorems.arithmetics import NamedArithmetic, arithmetic_named
from tiebreak.conformance.theorems.certificates import certificate_of
from tiebreak.conformance.theorems.compare import ScaleComparison, compare
from tiebreak.conformance.theorems.scale_domains import ScaleDomain
from tiebreak.golden.elements import INTEGER_TYPES, numpy_dtype
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.untrusted_text import printable

NAME = re.compile(r"(exact|[a-z-]+ in [a-z0-9]+)(\s*,.*)?")  # as arithmetic_named takes it
Progress = Callable[[int, int], None]


def is_arithmetic(text: str) -> bool:
    """Whether it is written like the name of an arithmetic: `reciprocal in float32, before-rounding`."""
    return NAME.fullmatch(text) is not None


def domain_of(type_: str, real: str, zero_points: str, extent: str) -> ScaleDomain:
    """The inputs, scales and zero points. InvalidInput for a set of zero points that is neither all nor one."""
    ends = extent == "all" or real != "float32"  # all scales of narrower types are compared
    if zero_points == "all":
        return ScaleDomain(real, type_, None, ends)
    kind = INTEGER_TYPES.get(type_)
    named = {"lowest": kind.lowest, "highest": kind.highest} if kind else {}
    try:
        return ScaleDomain(real, type_, named[zero_points] if zero_points in named else int(zero_points), ends)
    except ValueError:
        raise InvalidInput(
            f"zero points {printable(zero_points, 40)!r}: two arithmetics are compared for all, lowest, highest, or one"
        ) from None


def count_scales(
    left: str, right: str, domain: ScaleDomain, progress: Progress, workers: int
) -> tuple[Decision, ScaleComparison]:
    """PROVED or REFUTED, with how many inputs and scales differ."""
    pair = arithmetic_named(left), arithmetic_named(right)
    found = compare(*pair, domain, progress=progress, workers=workers)
    evidence = {"exact": [False, False], "comparison": certificate_of(found)}
    steps = [Reasoning("every scale", pair[0].name, pair[1].name, (), evidence)]
    if found.equal:
        return Decision(PROVED, steps), found
    return Decision(REFUTED, steps, refutation_of(found), notes=notes_of(found)), found


def notes_of(found: ScaleComparison) -> list[str]:
    mean = found.differing / found.scales
    return [
        f"{found.differing:,} pairs of an input and a scale differ, {mean:.3g} inputs per scale",
        f"{found.without:,} of {found.scales:,} scales have no difference",
        *([f"{found.undefined:,} pairs without a code are left out: 0 times infinity"] if found.undefined else []),
    ]


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


def described_arithmetics(left: NamedArithmetic, right: NamedArithmetic, domain: ScaleDomain) -> dict[str, Any]:
    """The claim, for a certificate."""
    return {
        "kind": "arithmetics",
        "left": left.name,
        "right": right.name,
        "type": domain.quantized,
        "real": domain.real,
        "zero_point": domain.zero_point,
        "extent": "all" if domain.ends else "normal",
    }
