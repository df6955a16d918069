# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""stablehlo.uniform_quantize in doubles.

Exactly, a number is an integer times a scale, or the operand itself, divided by the result's scale. Three steps round,
each by at most 2^-53 of its result. Where none does, or no other integer is within that error, the double decides; if
not, integers of any size. Rounding is monotone: an integer may be clamped after it.
"""

import numpy as np

from tiebreak.golden.kernels import integers, tensors
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED

from libc.math cimport fmax, fmin, isfinite, isnan
from libc.stdint cimport int64_t, uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow, product_narrowed
from tiebreak.golden.kernels.integral cimport integral
from tiebreak.golden.kernels.requantized cimport scaled_exactly


cdef double stepwise(double x, double own_scale, double scale, double zero, double least, double greatest,
                     bint quantized, int mode, Format f, uint8_t *clamped) noexcept nogil:
    """The integer with every step rounded, which the storage type may lack; `clamped` says whether it is an end."""
    cdef double number = product_narrowed(narrow(x, f), own_scale, f) if quantized else x  # SUQ-F3
    cdef double total = narrow(narrow(number / scale, f) + narrow(zero, f), f)  # SUQ-F1, SUQ-F2, SUQ-F4
    cdef double found = integral(fmin(fmax(total, narrow(least, f)), narrow(greatest, f)), mode)  # SUQ-C1, SUQ-R1
    clamped[0] = found != integral(total, mode)
    return total if isnan(total) else found


def uniform_quantize(problem, working, mode):
    """See LOOPS."""
    columns = [tensors.doubles(operand, kind) for operand, kind in zip(problem.operands, problem.kinds)]
    quantized = len(columns) == 5
    x = columns[0] - columns[4] if quantized else columns[0]  # SUQ-F3
    own = columns[3] if quantized else np.ones(x.size)
    codes, states = np.zeros(x.size, np.int64), np.full(x.size, UNDEFINED, np.uint8)
    least, greatest = problem.constants["least"], problem.constants["greatest"]
    given = np.array([x, own, columns[1], columns[2]]).reshape(4, -1)
    ends = (least, greatest, problem.result.lowest, problem.result.highest)
    number, described = tensors.MODE_NUMBERS[mode], tensors.format_of(problem.working)
    doubts = loop(given, ends, working, quantized, number, described, codes, states)
    for i in doubts:
        found = by_integers(*(float(row[i]) for row in given), mode)
        codes[i] = min(max(found, least), greatest)  # SUQ-C1, SUQ-C2
        states[i] = IN_RANGE if codes[i] == found else OUT_OF_RANGE
    return codes, states


cdef list loop(const double[:, ::1] given, tuple ends, bint working, bint quantized, int mode, tuple described,
               int64_t[::1] codes, uint8_t[::1] states):
    """Fills in what doubles can decide, and returns the other places. Rows: number, its scale, scale, zero point."""
    cdef Py_ssize_t i
    cdef Format f = format_of(described)
    cdef double value, least, greatest, lowest, highest
    cdef bint doubtful
    cdef uint8_t in_range = IN_RANGE, beyond = OUT_OF_RANGE, clamped
    least, greatest, lowest, highest = ends
    doubts = []
    for i in range(given.shape[1]):
        doubtful, clamped = False, False
        if working:
            value = stepwise(given[0, i], given[1, i], given[2, i], given[3, i], least, greatest, quantized, mode, f,
                             &clamped)
        elif not isfinite(given[0, i]):
            value = given[0, i]
        else:
            value = scaled_exactly(  # SUQ-F1, SUQ-F2, SUQ-R1
                given[0, i], given[1, i], given[2, i], given[3, i], mode, &doubtful
            )
        if doubtful:
            doubts.append(i)
        elif not (isnan(value) or (working and not lowest <= value <= highest)):  # SUQ-U1, SUQ-U2
            codes[i] = <int64_t>fmin(fmax(value, least), greatest)  # SUQ-C1, SUQ-C2
            states[i] = beyond if clamped or codes[i] != value else in_range
    return doubts


def by_integers(x, own_scale, scale, zero, mode):
    """The exact integer before it is clamped; numbers and scales in units of 2^-149, and of 2^-298."""
    number, divisor = integers.units(x) * integers.units(own_scale), integers.units(scale)  # SUQ-F1, SUQ-F3
    return integers.round_ratio(number + (int(zero) * divisor << integers.UNIT), divisor << integers.UNIT, mode)


LOOPS = {"stablehlo.uniform_quantize": uniform_quantize}
