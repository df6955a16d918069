"""The domain of each element: whether its operands are as calibration makes them, at the edge, or pathological.

Calibrated: every scale lies between 2^-20 and 2^10, and no input is empty. The input and every zero point are at most
2^16 scales from zero, and a zero point is one of the integers that it belongs to. Pathological: an operand, a scale or
the result is subnormal, NaN or infinite, or a scale is zero. The edge is everything between.

An operator with ranges has a scale for each range: its width, divided by its number of steps. One with blocks has one
for each: its greatest magnitude, divided by the largest element. One without any has scale 1. Types of fewer than 16
bits have no pathological subnormals: no processor flushes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tiebreak.conformance.judging.codes import values_of_codes
from tiebreak.conformance.judging.families import Family
from tiebreak.golden.elements import FloatType, IntegerType
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array

CALIBRATED, EDGE, PATHOLOGICAL = 0, 1, 2  # numbers of DOMAINS
LEAST_SCALE, GREATEST_SCALE = 2.0**-20, 2.0**10
MOST_SCALES = 2.0**16  # of the distance from zero of an input, and of a zero point
FEWEST_BITS = 16  # of a type whose subnormals are pathological
BEGINS, ENDS = ("min", "low"), ("max", "high")
SUM = "sum"  # the name of an exact sum of products of two quantized operands
MAGNITUDE = "amax"  # begins the name of a block's greatest magnitude, ends that of the tensor's
ZERO_POINTS = ("zero_point", "zero_points", "zp", "offset")  # end the name of an operand that is one
OF_INPUT = ("input", "operand")  # begin the name of a parameter of the input where the output has its own
BITS = "num_bits"  # the name of an operand that says how many integers there are


def domains_of(family: Family, operator: str, exact: Array) -> Array:
    """The domain (uint8) of each element of a family of this operator; `exact` are the codes of its results."""
    problem = family.problem
    operands = [values_of_codes(codes, kind) for codes, kind in zip(problem.operands, problem.kinds, strict=False)]
    scales = list(scales_of(family, operands))
    strange, calibrated = odd(values_of_codes(exact, problem.result), problem.result), np.ones(exact.shape, bool)
    for values, kind in zip(operands, problem.kinds, strict=False):
        strange |= odd(values, kind)
    with np.errstate(all="ignore"):
        for scale in scales:
            strange |= (scale == 0) | odd(scale, problem.working)
            calibrated &= (scale >= LEAST_SCALE) & (scale <= GREATEST_SCALE)
        for zero_point in zero_points_of(family, operands):
            calibrated &= np.abs(zero_point) <= MOST_SCALES
        for zero_point, kind in zero_points_of_wider_types(family, operands):
            calibrated &= (kind.lowest <= zero_point) & (zero_point <= kind.highest)
        calibrated &= distance_in_scales(family, operator, operands, scales) <= MOST_SCALES
    return np.where(strange, PATHOLOGICAL, np.where(calibrated, CALIBRATED, EDGE)).astype(np.uint8)


def odd(values: Array, kind: FloatType | IntegerType) -> Array:
    """Which values are NaN, infinite, or subnormal in their type (bool)."""
    found = ~np.isfinite(values)
    if isinstance(kind, FloatType) and kind.bits >= FEWEST_BITS:
        found |= (values != 0) & (np.abs(values) < 2.0**kind.emin)
    return np.asarray(found)


def scales_of(family: Family, operands: Sequence[Array]) -> Iterator[Array]:
    """The scales (float64) of each element: the operand of that name, or the step of each range."""
    names = family.names
    for place, name in enumerate(names):
        if name.endswith("scale"):
            yield operands[place]
        if name.startswith(MAGNITUDE):
            yield operands[place] / getattr(family.problem, "constants", {})["largest"]
        if (name.endswith(ENDS) or name.startswith(ENDS)) and not name.endswith(MAGNITUDE):
            low = next(p for p in range(place - 1, -1, -1) if names[p].endswith(BEGINS) or names[p].startswith(BEGINS))
            with np.errstate(all="ignore"):
                yield (operands[place] - operands[low]) / steps_of(family, operands)


def zero_points_of(family: Family, operands: Sequence[Array]) -> list[Array]:
    """The zero points (float64) of each element."""
    return [values for name, values in zip(family.names, operands, strict=False) if name.endswith(ZERO_POINTS)]


def zero_points_of_wider_types(family: Family, operands: Sequence[Array]) -> Iterator[tuple[Array, IntegerType]]:
    """Those whose type has more bits than the integers that they belong to, with the type of these."""
    kinds, result = family.problem.kinds, family.problem.result
    for name, values, own in zip(family.names, operands, kinds, strict=False):
        of = kinds[0] if name.startswith(OF_INPUT) or isinstance(result, FloatType) else result
        if name.endswith(ZERO_POINTS) and isinstance(of, IntegerType) and own.bits > of.bits:
            yield values, of


def steps_of(family: Family, operands: Sequence[Array]) -> int | Array:
    """The number of steps in a range; one of each element (float64) where an operand is the number of bits."""
    constants = getattr(family.problem, "constants", {})
    if BITS in family.names:
        return np.asarray(np.exp2(operands[family.names.index(BITS)]) - 1)
    if "levels" in constants:
        return int(constants["levels"]) - 1
    if "highest" in constants:
        return int(constants["highest"]) - int(constants["lowest"])
    return int((1 << constants["T"].bits) - 1)


def distance_in_scales(family: Family, operator: str, operands: Sequence[Array], scales: Sequence[Array]) -> Array:
    """How many scales each input is from zero; 0 for an output that depends on the range alone."""
    if family.names[0].startswith(BEGINS):
        return np.zeros(operands[0].shape)
    if family.names[0] == SUM and len(scales) < 3:  # the output has no scale
        return np.zeros(operands[0].shape)
    if family.names[0] == SUM:  # of products, which the scales of both operands make real
        return np.asarray(np.abs(operands[0] * scales[0] * scales[1]) / np.abs(scales[2]))
    if get_operator(operator).family in ("dequantize", "cast"):  # whose integers are numbers of scales themselves
        zero_points = zero_points_of(family, operands)
        return np.asarray(np.abs(operands[0] - (zero_points[0] if zero_points else 0)))
    return np.asarray(np.abs(operands[0]) / np.abs(scales[0] if scales else np.float64(1)))
