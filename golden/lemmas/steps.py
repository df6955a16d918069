"""The arithmetic that lemmas are about: TOSA's scaling helpers, gemmlowp's two roundings, the kernels' one rounding.

Each follows its source step by step, for words of w bits where the source has 32. `product` is value * multiplier,
which these steps have in common; product_range.py says where it lies. The constants below are
the sources.
"""

from __future__ import annotations

from tiebreak.golden.lemmas.words import Word

TOSA = "TOSA 1.0, scaling helpers"
GEMMLOWP = "gemmlowp at 988d35e, fixedpoint/fixedpoint.h"
NEON = "gemmlowp at ba0bbc8, fixedpoint/fixedpoint_neon.h"
EARLIER = "gemmlowp at 12c15b7, fixedpoint/fixedpoint_neon.h"
COMMON = "LiteRT at 14906c9, tflite/kernels/internal/common.cc, MultiplyByQuantizedMultiplier"


def half_of(shift: Word) -> Word:
    """2^(shift - 1)."""
    return shift.of(1) << (shift - 1)


def single(product: Word, shift: Word) -> Word:
    """apply_scale_16, and apply_scale_32 without double_round."""
    return (product + half_of(shift)) >> shift


def nudge(w: int, negative: Word) -> Word:
    """What double_round adds: 2^30 with the sign of the value."""
    return negative.choose(-(1 << (w - 2)), 1 << (w - 2))


def double(w: int, product: Word, negative: Word, shift: Word) -> Word:
    """apply_scale_32 with double_round."""
    more = (shift > w - 1).choose(nudge(w, negative), 0)
    return (product + half_of(shift) + more) >> shift


def high_mul(w: int, product: Word) -> Word:
    """SaturatingRoundingDoublingHighMul, but for the one product that saturates: of the two least words."""
    quarter = 1 << (w - 2)
    return (product + (product >= 0).choose(quarter, 1 - quarter)).divided(1 << (w - 1))


def divide_by_power(number: Word, exponent: Word) -> Word:
    """RoundingDivideByPOT."""
    mask = (number.of(1) << exponent) - 1
    threshold = (mask >> 1) + (number < 0).choose(1, 0)
    return (number >> exponent) + (number.bits_and(mask) > threshold).choose(1, 0)


def upward_by_power(number: Word, exponent: Word) -> Word:
    """A rounding shift as vector instructions have it (NEON's vrshl): ties to the greater integer."""
    return (number + ((number.of(1) << exponent) >> 1)) >> exponent


def kernels_single(product: Word, total_shift: Word) -> Word:
    """MultiplyByQuantizedMultiplier with TFLITE_SINGLE_ROUNDING; total_shift is 31 - shift."""
    rounding = total_shift.of(1) << (total_shift - 1)
    return (product + rounding) >> total_shift
