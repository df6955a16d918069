"""What a pattern is: operands, steps in the order in which they run, and pairs of scale and zero point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tiebreak.golden.elements import INTEGER_TYPES

QUANTIZE, DEQUANTIZE = "Q", "DQ"
REAL = "float32"  # the type of every value that is not quantized


@dataclass(frozen=True)
class Operand:
    """An input: its element type, and how many values of it a row has. A constant is the same for all rows.

    `columns` says that it is the second operand of a product of matrices: its values stand below each other.
    """

    name: str
    type: str
    width: int
    constant: bool = False
    columns: bool = False

    @property
    def is_quantized(self) -> bool:
        return self.type != REAL


@dataclass(frozen=True)
class PatternStep:
    """An operation on named values. Q and DQ name the pair of scale and zero point that they use."""

    operation: str
    inputs: tuple[str, ...]
    output: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    pair: str = ""


@dataclass(frozen=True)
class Pattern:
    """A graph whose last step gives its output, of type `output`. `pairs` are element types of zero points by name."""

    name: str
    text: str
    operands: tuple[Operand, ...]
    steps: tuple[PatternStep, ...]
    pairs: Mapping[str, str]
    output: str

    @property
    def result(self) -> str:
        return self.steps[-1].output

    @property
    def inputs(self) -> tuple[Operand, ...]:
        """The operands that differ from row to row."""
        return tuple(operand for operand in self.operands if not operand.constant)


@dataclass(frozen=True)
class ScalePair:
    """A scale, as a float32, and a zero point of the type."""

    scale: np.float32
    zero_point: int
    type: str

    @property
    def ends(self) -> tuple[int, int]:
        """The lowest and the highest code."""
        return INTEGER_TYPES[self.type].lowest, INTEGER_TYPES[self.type].highest

    def __str__(self) -> str:
        return f"{self.scale} @ {self.zero_point}"
