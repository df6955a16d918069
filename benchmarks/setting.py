"""What the kernel and its peers are to quantize: one setting, and the arrays that belong to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.rounding import EVEN

Array = np.ndarray[Any, Any]
OUTPUTS = ("uint8", "int8", "int16", "int32")
ONE, ROWS, COLUMNS = LAYOUTS = ("one scale", "a scale for each row", "a scale for each column")
SCALES = {
    "ordinary": 0.1,
    "ties": 0.125,
    "whole quotients": 0.125,
    "out of range": 0.1,
    "NaN and infinities": 0.1,
    "subnormal inputs": 0.1,
    "subnormal inputs and scale": 2.0**-145,
}
LARGEST_SUBNORMAL = 0x7FFFFF
EXACT_INTEGERS = 1 << 22  # float32 has halves up to here


@dataclass(frozen=True)
class Setting:
    """float32 in, `output` out; `form` is exact or working, `path` an instruction set's name or empty."""

    output: str = "int8"
    mode: str = EVEN
    data: str = "ordinary"
    form: str = "exact"
    layout: str = ONE
    path: str = ""
    threads: int = 1
    elements: int = 1 << 16

    @property
    def lowest(self) -> int:
        return INTEGER_TYPES[self.output].lowest

    @property
    def highest(self) -> int:
        return INTEGER_TYPES[self.output].highest

    @property
    def zero_point(self) -> int:
        return (self.lowest + self.highest + 1) // 2

    @property
    def shape(self) -> tuple[int, ...]:
        """(elements,), or with many scales as near to a square as powers of two get."""
        if self.layout == ONE:
            return (self.elements,)
        rows = 1 << int(math.log2(self.elements)) // 2
        return (rows, self.elements // rows)

    @property
    def x(self) -> Array:
        return inputs(self.data, self.output, self.elements).reshape(self.shape)

    @property
    def scale(self) -> Array:
        """float32, shape (1,) or one for each row or column."""
        count = {ONE: 1, ROWS: self.shape[0], COLUMNS: self.shape[-1]}[self.layout]
        return (SCALES[self.data] * (1 + np.arange(count) / 4096)).astype(np.float32)

    @property
    def zero_points(self) -> Array:
        return np.full(self.scale.shape, self.zero_point, self.output)

    @property
    def out(self) -> Array:
        """Memory for results, the same for all settings of this type and size, whose turns come one by one."""
        return memory(self.output, self.elements).reshape(self.shape)


@lru_cache(maxsize=4)
def memory(dtype: str, elements: int) -> Array:
    return np.ones(elements, dtype)


@lru_cache(maxsize=2)
def inputs(data: str, output: str, elements: int) -> Array:
    """float32, flat."""
    random, scale = np.random.default_rng(elements), np.float32(SCALES[data])
    half = (INTEGER_TYPES[output].highest - INTEGER_TYPES[output].lowest + 1) // 2
    whole = random.integers(-min(half, EXACT_INTEGERS), min(half, EXACT_INTEGERS), elements)
    if data == "ties":
        return ((whole + 0.5) * scale).astype(np.float32)
    if data == "whole quotients":
        return (whole * scale).astype(np.float32)
    if data == "out of range":
        return (np.where(whole < 0, -1, 1) * random.uniform(1.5, 100, elements) * half * scale).astype(np.float32)
    if data == "NaN and infinities":
        return np.where(whole % 2, np.nan, np.where(whole < 0, -np.inf, np.inf)).astype(np.float32)
    if data == "subnormal inputs":
        bits = random.integers(1, LARGEST_SUBNORMAL, elements, np.uint32, endpoint=True)
        return (bits | np.where(whole < 0, np.uint32(1 << 31), np.uint32(0))).view(np.float32)
    reach = 1.02 * half * float(scale)  # a little is out of range
    if data == "subnormal inputs and scale":
        reach = min(reach, LARGEST_SUBNORMAL * 2.0**-149)
    return random.uniform(-reach, reach, elements).astype(np.float32)
