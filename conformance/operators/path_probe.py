"""A path probe as data, and the values that most probes share; cases/path_probes.py arranges them in arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tiebreak.conformance.operators.layouts import ProbeLayout

Value = Fraction | float | int

# Multiples of STEP / 2 are exact in float32 and float16; 7.5 * STEP times the rounded reciprocal is below 7.5.
STEP = Fraction(41, 64)
LOW, HIGH = -64 * STEP, 191 * STEP  # 255 steps apart


@dataclass(frozen=True)
class PathProbe:
    """A node (make_node's keywords), a value for each input but the first (`parameters`), and a few inputs (`values`).

    A `layout` puts the values into another input or shape; `parameters` are those of all other inputs in order.

    Level full puts the first `scanned` values at every position of every length. The last value fills large arrays, so
    it should be one that no kernel gets wrong: it counts 65,000 times. `label` is unique among the operator's probes.
    With `constants_only` the same array is asked with no parameter as a constant, with each alone, and with all.
    """

    label: str
    node: Mapping[str, Any]
    parameters: tuple[Value, ...]
    values: tuple[Value, ...]
    scanned: int = 0
    constants_only: bool = False
    layout: ProbeLayout | None = None

    @property
    def into(self) -> int:
        return self.layout.into if self.layout else 0


def probe_values(base: Fraction = Fraction(0), far: int = 10**30, smallest: int = 149) -> tuple[Value, ...]:
    """Seven inputs for a quantizer of scale STEP; seven, so that no vector length divides them evenly.

    They are a tie, a tie that the reciprocal moves, a huge value, NaN, the subnormal 2^-smallest, a third tie and an
    ordinary value. In a range that begins at zero the ties separate the five tie rules and the reciprocal.
    """
    first, moved, third = (base + Fraction(twice, 2) * STEP for twice in (5, 15 if base else -15, 3))
    return first, moved, Fraction(far), math.nan, Fraction(1, 1 << smallest), third, base + Fraction(1003, 10) * STEP


@dataclass(frozen=True)
class ScaleClass:
    """A scale that a kernel, a compiler or an unpacked reciprocal may treat apart."""

    name: str
    scale: Fraction


def scale_classes(least: int = 149, emin: int = -126, emax: int = 127) -> tuple[ScaleClass, ...]:
    """Subnormal, the least normal, those whose reciprocals are the least normal number or subnormal, and negative."""
    return (
        ScaleClass("subnormal", Fraction(3, 1 << least)),
        ScaleClass("least-normal", Fraction(2) ** emin),
        ScaleClass("large", Fraction(2) ** (emax - 1)),
        ScaleClass("largest-power", Fraction(2) ** emax),
        ScaleClass("negative", -STEP),
    )


def step_classes(steps: int) -> tuple[ScaleClass, ...]:
    """The positive classes, as steps of a range: the largest ones are such that this many steps are a float32."""
    return scale_classes(emax=127 - steps.bit_length() + 1)[:-1]


def multiples(scale: Fraction) -> tuple[Value, ...]:
    """Ties and other multiples of a scale, of both signs, none beyond twice the scale."""
    return tuple(scale * Fraction(n, 4) for n in (2, -2, 6, -6, 3, -5, 4))


def fake_quantize_values(base: Fraction = Fraction(0), smallest: int = 149) -> tuple[Value, ...]:
    """The values of `probe_values` with NaN last: the documents leave NaN open, so no kernel can get it wrong."""
    first, moved, far, nan, *others = probe_values(base, smallest=smallest)
    return first, moved, far, *others, nan
