# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""com.microsoft.QLinearMul in doubles.

The product of the differences has 17 bits, that of two scales 48: doubles hold both. Exactly, their product, the
quotient and the sum with the zero point are rounded by at most 2^-53 of their results each. If no step rounds at all,
or if no other integer is within that error, the double decides; if not, integers of any size do.
"""

import numpy as np

from tiebreak.golden.kernels import integers, tensors
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED

from libc.math cimport fmax, fmin, isfinite, isnan
from libc.stdint cimport int64_t, uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow
from tiebreak.golden.kernels.integral cimport integral
from tiebreak.golden.kernels.requantized cimport scaled_exactly


cdef double stepwise(double product, double scales, double divisor, double zero, int mode,
                     Format single) noexcept nogil:
    """The integer in working precision, before it saturates."""
    cdef double number = narrow(product * narrow(scales, single), single)  # MQM-F2
    return integral(narrow(narrow(number / divisor, single) + zero, single), mode)  # MQM-F3, MQM-F4, MQM-R1, MQM-U1


def output(problem, working, mode):
    """See LOOPS."""
    columns = [tensors.doubles(operand, kind) for operand, kind in zip(problem.operands, problem.kinds)]
    size, kind = columns[0].size, problem.result
    codes, states = np.zeros(size, np.int64), np.full(size, UNDEFINED, np.uint8)
    number, single = tensors.MODE_NUMBERS[mode], tensors.format_of(problem.working)
    doubts = loop(np.array(columns), working, number, single, kind.lowest, kind.highest, codes, states)
    for i in doubts:
        found = by_integers(*(float(column[i]) for column in columns), mode)
        codes[i] = min(max(found, kind.lowest), kind.highest)  # MQM-C1
        states[i] = IN_RANGE if codes[i] == found else OUT_OF_RANGE
    return codes, states


cdef list loop(const double[:, ::1] given, bint working, int mode, tuple described, double lowest, double highest,
               int64_t[::1] codes, uint8_t[::1] states):
    """Fills in what doubles can decide, and returns the other places. `given` has a row for each operand."""
    cdef Py_ssize_t i
    cdef Format single = format_of(described)
    cdef double product, scales, value
    cdef bint doubtful
    cdef uint8_t in_range = IN_RANGE, beyond = OUT_OF_RANGE
    doubts = []
    for i in range(given.shape[1]):
        if not (isfinite(given[1, i]) and isfinite(given[4, i]) and isfinite(given[6, i])) or given[6, i] == 0.0:
            continue  # MQM-U2
        product = (given[0, i] - given[2, i]) * (given[3, i] - given[5, i])  # MQM-F1
        scales = given[1, i] * given[4, i]
        doubtful = False
        if working:
            value = stepwise(product, scales, given[6, i], given[7, i], mode, single)
        else:
            value = scaled_exactly(  # MQM-F2, MQM-F3, MQM-F4, MQM-R1
                product, scales, given[6, i], given[7, i], mode, &doubtful
            )
        if doubtful:
            doubts.append(i)
        elif not isnan(value):  # MQM-U3
            codes[i] = <int64_t>fmin(fmax(value, lowest), highest)  # MQM-C1
            states[i] = in_range if codes[i] == value else beyond
    return doubts


def by_integers(a, a_scale, a_zero, b, b_scale, b_zero, c_scale, c_zero, mode):
    """The exact integer before it saturates; scales in units of 2^-149."""
    first, second, divisor = (integers.units(scale) for scale in (a_scale, b_scale, c_scale))
    number = int(a - a_zero) * int(b - b_zero) * first * second  # MQM-F1, MQM-F2
    denominator = divisor << integers.UNIT
    return integers.round_ratio(number + int(c_zero) * denominator, denominator, mode)  # MQM-F3, MQM-F4, MQM-R1


LOOPS = {"com.microsoft.QLinearMul": output}
