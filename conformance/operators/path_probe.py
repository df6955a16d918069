"""A path probe as data, and the values that most probes share; cases/path_probes.py lays them out in arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Value = Fraction | float | int

# Multiples of a half of this are exact in float32 and float16; times its rounded reciprocal, 7.5 of it is below 7.5.
STEP = Fraction(41, 64)
LOW, HIGH = -64 * STEP, 191 * STEP  # 255 steps apart


@dataclass(frozen=True)
class PathProbe:
    """`node` are make_node's keywords, `parameters` a value for each input but the first.

    Of `values`, the inputs, the first `scanned` stand at every position of every length at level full; the last one
    fills large arrays: no kernel should err on it, since its element counts 65,000 times. `label` is unique among the
    operator's probes.
    """

    label: str
    node: Mapping[str, Any]
    parameters: tuple[Value, ...]
    values: tuple[Value, ...]
    scanned: int = 0


def steps(base: Fraction = Fraction(0), far: int = 10**30, smallest: int = 149) -> tuple[Value, ...]:
    """Seven, so that no vector's length divides them evenly.

    A tie, one that the reciprocal moves, one past any integer, NaN, a subnormal 2^-smallest, a third tie (where the
    range begins at zero, the three tell the five tie rules apart, and the reciprocal from them), and an ordinary one.
    """
    first, moved, third = (base + Fraction(twice, 2) * STEP for twice in (5, 15 if base else -15, 3))
    return first, moved, Fraction(far), math.nan, Fraction(1, 1 << smallest), third, base + Fraction(1003, 10) * STEP


def fake_steps(base: Fraction = Fraction(0), smallest: int = 149) -> tuple[Value, ...]:
    """NaN is the last, since the documents leave it open: every other result may be a unit in the last place off."""
    first, moved, far, nan, *others = steps(base, smallest=smallest)
    return first, moved, far, *others, nan
