"""The flags of a vector: those of its sample, and those that follow from its values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from tiebreak.golden.elements import FloatType, decode, ulp
from tiebreak.golden.flags import FLAGS
from tiebreak.golden.problem import OUT_OF_RANGE, Array, Quantization, along, codes_of, kind_of
from tiebreak.golden.vector_inputs.plain_quotients import quotient
from tiebreak.golden.vector_results import SolvedSample

# Flags that a theme aims at but the values decide: a sample with a mode keeps these only if the values show them.
SHOWN_BY_VALUES = {"Tie", "NearTie", "PrecisionSensitive"}


def flags_of(solved: SolvedSample, *, sensitive: bool) -> list[str]:
    """The sample's flags and those that its values show, in the order of FLAGS. `sensitive`: the truths differ."""
    sample = solved.sample
    unknown = set(sample.flags) - set(FLAGS)
    if unknown:
        raise ValueError(f"{sample.theme}: no such flags: {', '.join(sorted(unknown))}")
    found = set(sample.flags) - (SHOWN_BY_VALUES if sample.mode else set()) | operands_flags(solved.case.inputs)
    found |= {"PrecisionSensitive"} if sensitive else set()
    found |= quantization_flags(solved) if sample.mode else set()
    return [flag for flag in FLAGS if flag in found]


def operands_flags(inputs: Sequence[Array]) -> set[str]:
    found: set[str] = set()
    for array in inputs:
        type_ = kind_of(array)
        if isinstance(type_, FloatType):
            found |= operand_flags(codes_of(array).reshape(-1).tolist(), type_)
    return found


def operand_flags(codes: Sequence[int], type_: FloatType) -> set[str]:
    if type_.specials == "e8m0":
        return {"NaN"} if 255 in codes else set()
    sign = 1 << (type_.bits - 1)
    magnitudes = {code & ~sign for code in codes}
    found = {"Subnormal"} if any(0 < m < 1 << (type_.precision - 1) for m in magnitudes) else set()
    found |= {"NegativeZero"} if sign in codes and type_.specials != "fnuz" else set()
    found |= {"Infinity"} if type_.specials == "ieee" and type_.infinity_bits in magnitudes else set()
    return found | ({"NaN"} if any(type_.is_nan(code) for code in codes) else set())


def quantization_flags(solved: SolvedSample) -> set[str]:
    """The flags that the quotients, scales and results of a Quantization show."""
    (results,) = solved.exact
    problem = results.problem
    assert isinstance(problem, Quantization)
    scales = np.broadcast_to(along(problem.scale, problem.axes, problem.shape), problem.shape)
    pairs = zip(problem.x.reshape(-1).tolist(), scales.reshape(-1).tolist(), strict=True)
    near = {tie_flag(x, scale, problem.real) for x, scale in pairs}
    found = near - {""} | scale_flags(problem.scale.reshape(-1).tolist(), problem.real)
    return found | ({"Saturates"} if np.any(results.states == OUT_OF_RANGE) else set())


@lru_cache(maxsize=1 << 16)
def tie_flag(x: int, scale: int, real: FloatType) -> str:
    """The flag that the exact quotient shows, if any; a near tie is within 2 ulp of one."""
    q = quotient(x, scale, real, working=False)
    if not isinstance(q, Fraction):
        return ""
    distance = abs(q - (q.numerator // q.denominator) - Fraction(1, 2))
    return "Tie" if distance == 0 else "NearTie" if distance <= 2 * ulp(q, real) <= Fraction(1, 4) else ""


def scale_flags(scales: Iterable[int], real: FloatType) -> set[str]:
    values = [value for value in (decode(bits, real) for bits in scales) if isinstance(value, Fraction)]
    flags = {"NegativeScale"} if any(value < 0 for value in values) else set()
    powers = all(value and abs(value.numerator) & (abs(value.numerator) - 1) == 0 for value in values)
    return flags if powers or any(not value for value in values) else flags | {"ScaleNotPowerOfTwo"}
