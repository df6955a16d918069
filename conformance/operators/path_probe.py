"""A path probe as data, and the values that most probes share; cases/path_probes.py arranges them in arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Value = Fraction | float | int

# Multiples of STEP / 2 are exact in float32 and float16; 7.5 * STEP times the rounded reciprocal is below 7.5.
STEP = Fraction(41, 64)
LOW, HIGH = -64 * STEP, 191 * STEP  # 255 steps apart


@dataclass(frozen=True)
class PathProbe:
    """A node (make_node's keywords), a value for each input but the first (`parameters`), and a few inputs (`values`).

    Level full puts the first `scanned` values at every position of every length. The last value fills large arrays, so
    it should be one that no kernel gets wrong: it counts 65,000 times. `label` is unique among the operator's probes.
    """

    label: str
    node: Mapping[str, Any]
    parameters: tuple[Value, ...]
    values: tuple[Value, ...]
    scanned: int = 0


def probe_values(base: Fraction = Fraction(0), far: int = 10**30, smallest: int = 149) -> tuple[Value, ...]:
    """Seven inputs for a quantizer of scale STEP; seven, so that no vector length divides them evenly.

    They are a tie, a tie that the reciprocal moves, a huge value, NaN, the subnormal 2^-smallest, a third tie and an
    ordinary value. In a range that begins at zero the ties separate the five tie rules and the reciprocal.
    """
    first, moved, third = (base + Fraction(twice, 2) * STEP for twice in (5, 15 if base else -15, 3))
    return first, moved, Fraction(far), math.nan, Fraction(1, 1 << smallest), third, base + Fraction(1003, 10) * STEP


def fake_quantize_values(base: Fraction = Fraction(0), smallest: int = 149) -> tuple[Value, ...]:
    """The values of `probe_values` with NaN last: the documents leave NaN open, so no kernel can get it wrong."""
    first, moved, far, nan, *others = probe_values(base, smallest=smallest)
    return first, moved, far, *others, nan
