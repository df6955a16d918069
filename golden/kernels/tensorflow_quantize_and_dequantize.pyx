# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""tensorflow.QuantizeAndDequantizeV4 in doubles.

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


def quantize_and_dequantize(problem, working, mode):  # TQD-E1
    """See LOOPS."""
    x, low, high = (tensors.doubles(o, kind) for o, kind in zip(problem.operands, problem.kinds))  # TQD-R1, TQD-R2
    values = np.zeros(len(x))
    states = np.empty(len(x), np.uint8)
    described = tensors.format_of(problem.result)
    if not problem.constants["signed"]:
        low = np.where(np.isfinite(low) & (low <= high), 0.0, np.nan)  # TQD-S3
    lowest, highest = problem.constants["lowest"], problem.constants["highest"]  # TQD-Q1, TQD-Q2, TQD-Q3
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
    """Every step rounded; what overflows goes on as infinity or NaN. False if there is no factor, or it is 0."""
    cdef double from_min = 0.0, from_max = 0.0, scale, clamped, integer
    if low >= 0.0 and high <= 0.0:
        return False
    if low < 0.0:
        from_min = narrow(lowest / low, f)  # TQD-S1
    if high > 0.0:
        from_max = narrow(highest / high, f)  # TQD-S1
    if low < 0.0 and (high <= 0.0 or from_min < from_max):
        scale = from_min
        high = narrow(highest / scale, f)  # TQD-S2
    else:
        scale = from_max
        low = narrow(lowest / scale, f)  # TQD-S2
    if scale == 0.0:
        return False
    clamped = min(max(x, low), high)  # TQD-F1
    integer = integral(narrow(clamped * scale, f), mode)  # TQD-F2, TQD-M1, TQD-M2
    value[0] = narrow(integer / scale, f)  # TQD-F3
    return True


cdef bint exactly(double x, double low, double high, lowest, highest, int number, str mode, Format f, tuple described,
                  double* value):
    """False if nothing bounds the factor, or it is 0."""
    if low >= 0.0 and high <= 0.0:
        return False
    cdef bint by_min = low < 0.0 and (high <= 0.0 or min_decides(low, high, lowest, highest))  # TQD-S1
    cdef double side = low if by_min else high
    end = lowest if by_min else highest
    if end == 0:
        return False
    k_exact = rounded(x, side, end, lowest, highest, number, mode)  # TQD-S2, TQD-F1, TQD-F2, TQD-M1, TQD-M2
    if k_exact == 0:
        value[0] = 0.0
        return True
    value[0] = taken_back(k_exact, side, end, f, described)  # TQD-F3
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
                return min(max(int(integral(t, number)), lowest), highest)
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


LOOPS = {"tensorflow.QuantizeAndDequantizeV4": quantize_and_dequantize}
