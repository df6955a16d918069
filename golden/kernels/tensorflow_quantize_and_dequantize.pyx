# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""tensorflow.QuantizeAndDequantizeV2, V3 and V4 in doubles.

Exactly, with scale_factor = end / side for the side of the range that determines it, the result is k * side / end for
k = round(x * end / side) limited to lowest … highest: clamping before is the same, since the updated range ends at
lowest / scale_factor and highest / scale_factor. Double quotients have a relative error below 2^-50; where that leaves
a doubt, or integers of more than 32 bits are asked for, big integers decide.
"""

import numpy as np

from tiebreak.golden.kernels import integers, tensors
from tiebreak.golden.problem import IN_RANGE, UNDEFINED, ZERO

from libc.math cimport fabs, fma, isfinite, ldexp
from libc.stdint cimport uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow, to_odd
from tiebreak.golden.kernels.integral cimport integral, undecided

cdef double RELATIVE = ldexp(1.0, -50)
cdef double WIDEST = ldexp(1.0, 32)


def of_attributes(problem, working, mode):  # TQD-E1
    """V2 and V4, whose attributes have the integers' ends; see LOOPS."""
    lowest = problem.constants["lowest"]  # TQB-Q1, TQB-Q2, TQB-Q3, TQD-Q1, TQD-Q2, TQD-Q3
    highest = problem.constants["highest"]  # TQB-Q1, TQB-Q2, TQD-Q1, TQD-Q2
    return of_integers(problem, lowest, highest, working, mode)


def of_width(problem, working, mode):  # TQC-E1
    """V3, whose last operand is the number of bits: the elements of each number by themselves; see LOOPS."""
    bits = np.asarray(problem.operands[3])
    codes, states = np.zeros(len(bits), np.int64), np.full(len(bits), UNDEFINED, np.uint8)
    for width in np.unique(bits[(bits >= 1) & (bits <= 62)]).tolist():  # TQC-U5
        at = np.flatnonzero(bits == width)
        lowest, highest = ends(width, problem.constants["signed"], problem.constants["narrow_range"])
        codes[at], states[at] = of_integers(problem.some(at), lowest, highest, working, mode)
    return codes, states


cdef ends(bits, bint signed, bint narrow_range):
    if not signed:
        return 0, 2**bits - 1  # TQC-Q2
    half = 2 ** (bits - 1)
    return narrow_range - half, half - 1  # TQC-Q1, TQC-Q3


cdef of_integers(problem, lowest, highest, working, str mode):
    ranged = problem.operands[:3]  # TQB-R1, TQC-R1, TQD-R1, TQB-R2, TQC-R2, TQD-R2
    x, low, high = (tensors.doubles(operand, kind) for operand, kind in zip(ranged, problem.kinds))
    values = np.zeros(len(x))
    states = np.empty(len(x), np.uint8)
    described = tensors.format_of(problem.result)
    if not problem.constants["signed"]:
        low = np.where(np.isfinite(low) & (low <= high), 0.0, np.nan)  # TQB-S3, TQC-S3, TQD-S3
    loop(x, low, high, lowest, highest, mode, working, described, values, states)
    defined = states != UNDEFINED
    return np.where(defined, tensors.real_codes(values, problem.result), 0), states


cdef loop(const double[::1] x, const double[::1] low, const double[::1] high, lowest, highest, str mode, bint working,
          tuple described, double[::1] values, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef Format f = format_of(described)
    cdef int number = tensors.MODE_NUMBERS[mode]
    cdef uint8_t in_range = IN_RANGE, undefined = UNDEFINED, zero = ZERO
    cdef double value, least = narrow(lowest, f), greatest = narrow(highest, f)
    for i in range(x.shape[0]):
        states[i] = undefined
        if not (isfinite(x[i]) and isfinite(low[i]) and isfinite(high[i]) and (low[i] <= high[i] or low[i] == 0.0)):
            continue
        if not (stepwise(x[i], low[i], high[i], least, greatest, number, f, &value) if working else
                exactly(x[i], low[i], high[i], lowest, highest, number, mode, f, described, &value)):
            continue
        values[i] = 0.0 if value == 0.0 else value
        states[i] = zero if value == 0.0 else in_range


cdef bint stepwise(double x, double low, double high, double lowest, double highest, int mode, Format f,
                   double* value) noexcept:
    """Every step rounded. False if there is no factor, or it is 0, or a step overflows."""
    cdef double from_min = 0.0, from_max = 0.0, scale, clamped, product, integer
    if low >= 0.0 and high <= 0.0 or not (isfinite(lowest) and isfinite(highest)):  # TQB-U6, TQC-U6, TQD-U6
        return False
    if low < 0.0:
        from_min = narrow(lowest / low, f)  # TQB-S1, TQC-S1, TQD-S1
    if high > 0.0:
        from_max = narrow(highest / high, f)  # TQB-S1, TQC-S1, TQD-S1
    if low < 0.0 and (high <= 0.0 or from_min < from_max):
        scale = from_min
        high = narrow(highest / scale, f)  # TQB-S2, TQC-S2, TQD-S2
    else:
        scale = from_max
        low = narrow(lowest / scale, f)  # TQB-S2, TQC-S2, TQD-S2
    if scale == 0.0:
        return False
    if not (isfinite(scale) and isfinite(low) and isfinite(high)):  # TQB-U6, TQC-U6, TQD-U6
        return False
    clamped = min(max(x, low), high)  # TQB-F1, TQC-F1, TQD-F1
    product = narrow(clamped * scale, f)  # TQB-F2, TQC-F2, TQD-F2
    if not isfinite(product):  # TQB-U6, TQC-U6, TQD-U6
        return False
    integer = integral(product, mode)  # TQB-M1, TQC-M1, TQD-M1, TQB-M2, TQD-M2
    value[0] = narrow(integer / scale, f)  # TQB-F3, TQC-F3, TQD-F3
    return True


cdef bint exactly(double x, double low, double high, lowest, highest, int number, str mode, Format f, tuple described,
                  double* value):
    """False if nothing bounds the factor, or it is 0."""
    if low >= 0.0 and high <= 0.0:
        return False
    cdef bint by_min = low < 0.0 and (high <= 0.0 or min_decides(low, high, lowest, highest))  # TQB-S1, TQC-S1, TQD-S1
    cdef double side = low if by_min else high
    end = lowest if by_min else highest
    if end == 0:
        return False
    k_exact = rounded(x, side, end, lowest, highest, number, mode)  # TQB-S2, TQC-S2, TQD-S2, TQB-F1, TQC-F1, TQD-F1
    if k_exact == 0:
        value[0] = 0.0
        return True
    value[0] = taken_back(k_exact, side, end, f, described)  # TQB-F3, TQC-F3, TQD-F3
    return True


cdef bint min_decides(double low, double high, lowest, highest):
    """Whether lowest / low < highest / high, for low < 0 < high."""
    cdef double a = <double>lowest * high, b = <double>highest * low
    if fabs(a - b) > RELATIVE * max(fabs(a), fabs(b)):
        return a > b
    p, q = integers.ratio(high)
    r, s = integers.ratio(low)
    return lowest * p * s > highest * r * q


cdef rounded(double x, double side, end, lowest, highest, int number, str mode):
    """round(x * end / side), limited to lowest … highest."""
    cdef double edge = end, t
    if x == 0.0:
        return 0
    if fabs(edge) <= WIDEST:
        t = x * edge / side
        if isfinite(t):
            if t > <double>highest + 1.0:
                return highest
            if t < <double>lowest - 1.0:
                return lowest
            if not undecided(t, fabs(t) * RELATIVE, number) and fabs(t) > 1e-280:
                whole = int(integral(t, number))  # TQB-F2, TQC-F2, TQD-F2, TQB-M1, TQC-M1, TQD-M1, TQB-M2, TQD-M2
                return min(max(whole, lowest), highest)
    top, bottom = integers.ratio(x)
    side_top, side_bottom = integers.ratio(side)
    return min(max(integers.round_ratio(top * end * side_bottom, bottom * side_top, mode), lowest), highest)


cdef double taken_back(k, double side, end, Format f, tuple described):
    """k * side / end, rounded once: to odd in double and then to the type where k * side is exact, else by integers."""
    cdef double edge = end, factor = k, product, quotient, rest
    if fabs(edge) <= WIDEST:
        product = factor * side
        if isfinite(product) and fabs(product) > 1e-200 and fma(factor, side, -product) == 0.0:
            quotient = product / edge
            if f.precision == 53:
                return quotient
            rest = fma(-quotient, edge, product)
            return narrow(to_odd(quotient, rest if edge > 0.0 else -rest), f)
    top, bottom = integers.ratio(side)
    return integers.ratio_to_real(k * top, bottom * end, described)


LOOPS = {
    "tensorflow.QuantizeAndDequantizeV2": of_attributes,
    "tensorflow.QuantizeAndDequantizeV3": of_width,
    "tensorflow.QuantizeAndDequantizeV4": of_attributes,
}
