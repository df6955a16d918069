"""Which exponents of a float32 scale are like every other one, and which have to be swept by themselves.

Multiply x and the scale by a power of two: as long as every operand and every result of a step stays a normal number,
no significand changes. So one exponent stands for all where that holds of every input near a decision. What happens to
inputs farther away follows, since the code never falls as x grows.

The limits below leave a factor of two at both ends. An exponent that is taken for an end needlessly costs seconds.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tiebreak.conformance.theorems.arithmetics import NamedArithmetic
from tiebreak.conformance.theorems.decisions import Decisions
from tiebreak.golden.elements import FLOAT_TYPES

SINGLE = FLOAT_TYPES["float32"]
SUBNORMAL = SINGLE.emin - 1  # stands for all scales below the normal ones: they share a field of exponents
EVERY = range(SUBNORMAL, SINGLE.emax + 1)
REPRESENTATIVE = 0  # scales from 1 to 2
BLOCK = 1 << 16  # scales: those with the same upper 16 bits
BLOCKS_OF_EXPONENT = (1 << (SINGLE.precision - 1)) // BLOCK


def normal_exponents(sides: Iterable[tuple[NamedArithmetic, Decisions]]) -> list[int]:
    """The exponents of scales at which every count is what it is for scales from 1 to 2; empty if that is none."""
    found = set(EVERY)
    for arithmetic, decisions in sides:
        found &= {exponent for exponent in EVERY if is_normal(arithmetic, decisions, exponent)}
    return sorted(found) if REPRESENTATIVE in found else []


def is_normal(arithmetic: NamedArithmetic, decisions: Decisions, exponent: int) -> bool:
    """Whether scales in [2^exponent, 2^(exponent + 1)) and all that is computed near decisions are normal numbers."""
    quotients = np.abs(decisions.start)
    inputs = quotients.min() * 2.0**exponent >= 2 * 2.0**SINGLE.emin and (
        quotients.max() * 2.0 ** (exponent + 1) <= 2.0**SINGLE.emax
    )
    return bool(exponent >= SINGLE.emin and inputs and constants_are_normal(arithmetic, decisions, exponent))


def constants_are_normal(arithmetic: NamedArithmetic, decisions: Decisions, exponent: int) -> bool:
    """Whether a reciprocal, or a range's ends, width and factor are normal; in float64 they are at every scale."""
    scaling = arithmetic.combination.scaling
    if scaling.of_range:
        quantized = decisions.quantized
        widest = 2 * max(abs(quantized.lowest), quantized.highest) * 2.0 ** (exponent + 1)
        return exponent + 2 <= -SINGLE.emin and widest <= 2.0**SINGLE.emax
    rounded = scaling.id != "divide" and (arithmetic.precision == "float32" or scaling.id == "narrow-reciprocal")
    return not rounded or exponent + 1 <= -SINGLE.emin


def blocks_of(exponents: Iterable[int]) -> list[int]:
    """The blocks of scales with these exponents, by their upper 16 bits."""
    first = [(exponent - SUBNORMAL) * BLOCKS_OF_EXPONENT for exponent in exponents]
    return [start + number for start in first for number in range(BLOCKS_OF_EXPONENT)]


def scales_of(block: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    """The bit patterns of a block's positive scales; 0 is none."""
    first = block * BLOCK
    return np.arange(max(first, 1), first + BLOCK, dtype=np.uint32)
