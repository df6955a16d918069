"""What a theorem is about: inputs and scales of a type, an integer type, and a zero point or all of them."""

from __future__ import annotations

from dataclasses import dataclass

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, FloatType, IntegerType
from tiebreak.golden.errors import InvalidInput

REALS = ("float32", "float16", "bfloat16")
WIDEST = 16  # bits of codes


@dataclass(frozen=True)
class ScaleDomain:
    """All positive finite scales and all inputs but NaN of the type `real`; -0 and 0 are one input.

    `zero_point` None stands for all: an input and a scale differ if their codes do for some zero point. Without `ends`
    only those exponents of scales count on which nothing is subnormal or overflows (float32 only).
    """

    real: str = "float32"
    quantized: str = "uint8"
    zero_point: int | None = 0
    ends: bool = True

    def __post_init__(self) -> None:
        if self.real not in REALS:
            raise InvalidInput(f"inputs of type {self.real!r:.80}: there are {', '.join(REALS)}")
        narrow = [name for name, one in INTEGER_TYPES.items() if one.bits <= WIDEST]
        if self.quantized not in narrow:
            raise InvalidInput(f"codes of type {self.quantized!r:.80}: there are {', '.join(narrow)}")
        kind = self.quantized_type
        if self.zero_point is not None and not kind.lowest <= self.zero_point <= kind.highest:
            raise InvalidInput(f"zero point {self.zero_point}: {kind.name} has {kind.lowest} to {kind.highest}")
        if self.real != "float32" and not self.ends:
            raise InvalidInput(f"all scales of {self.real} are compared: take ends, too")

    @property
    def real_type(self) -> FloatType:
        return FLOAT_TYPES[self.real]

    @property
    def quantized_type(self) -> IntegerType:
        return INTEGER_TYPES[self.quantized]

    @property
    def text(self) -> str:
        which = "every zero point" if self.zero_point is None else f"zero point {self.zero_point}"
        return f"{self.real} to {self.quantized}, {which}"
