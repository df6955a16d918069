# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""com.microsoft.QLinearAdd in doubles.

A scale times a difference has 33 bits at most: a double holds it. Exactly, the sum, the quotient and the sum with the
zero point are rounded by at most 2^-53 of their results each. If no step rounds at all, or if no other integer is
within that error, the double decides; if not, integers of any size do.
"""

import numpy as np

from tiebreak.golden.kernels import integers, tensors
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED

from libc.math cimport fabs, fma, fmax, fmin, isfinite, isnan
from libc.stdint cimport int64_t, uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow
from tiebreak.golden.kernels.integral cimport integral, undecided

cdef double UNIT = 2.0**-51  # more than three roundings lose


cdef inline double lost(double a, double b) noexcept nogil:
    """What a + b loses as a double (two-sum)."""
    cdef double total = a + b
    cdef double part = total - a
    return (a - (total - part)) + (b - part)


cdef double stepwise(double a, double b, double scale, double zero, int mode, Format single) noexcept nogil:
    """The integer in working precision, before it saturates. `a` and `b` are products of a scale and a difference."""
    cdef double total = narrow(narrow(a, single) + narrow(b, single), single)  # MQA-F1, MQA-F2
    return integral(narrow(narrow(total / scale, single) + zero, single), mode)  # MQA-F3, MQA-F4, MQA-R1, MQA-U1


cdef double exactly(double a, double b, double scale, double zero, int mode, bint *doubtful) noexcept nogil:
    """The integer in real arithmetic, before it saturates; doubtful if doubles can't decide."""
    cdef double total = a + b  # MQA-F1, MQA-F2
    cdef double quotient = total / scale  # MQA-F3
    cdef double value = quotient + zero  # MQA-F4
    cdef bint rounds = lost(a, b) != 0.0 or fma(-quotient, scale, total) != 0.0 or lost(quotient, zero) != 0.0
    doubtful[0] = rounds and undecided(value, UNIT * (fabs(quotient) + fabs(zero)), mode)
    return integral(value, mode)  # MQA-R1


def output(problem, working, mode):
    """See LOOPS."""
    columns = [tensors.doubles(operand, kind) for operand, kind in zip(problem.operands, problem.kinds)]
    size, kind = columns[0].size, problem.result
    codes, states = np.zeros(size, np.int64), np.full(size, UNDEFINED, np.uint8)
    number, single = tensors.MODE_NUMBERS[mode], tensors.format_of(problem.working)
    doubts = loop(np.array(columns), working, number, single, kind.lowest, kind.highest, codes, states)
    for i in doubts:
        found = by_integers(*(float(column[i]) for column in columns), mode)
        codes[i] = min(max(found, kind.lowest), kind.highest)  # MQA-C1
        states[i] = IN_RANGE if codes[i] == found else OUT_OF_RANGE
    return codes, states


cdef list loop(const double[:, ::1] given, bint working, int mode, tuple described, double lowest, double highest,
               int64_t[::1] codes, uint8_t[::1] states):
    """Fills in what doubles can decide, and returns the other places. `given` has a row for each operand."""
    cdef Py_ssize_t i
    cdef Format single = format_of(described)
    cdef double a, b, value
    cdef bint doubtful
    cdef uint8_t in_range = IN_RANGE, beyond = OUT_OF_RANGE
    doubts = []
    for i in range(given.shape[1]):
        if not (isfinite(given[1, i]) and isfinite(given[4, i]) and isfinite(given[6, i])) or given[6, i] == 0.0:
            continue  # MQA-U2
        a, b = given[1, i] * (given[0, i] - given[2, i]), given[4, i] * (given[3, i] - given[5, i])  # MQA-F1
        doubtful = False
        if working:
            value = stepwise(a, b, given[6, i], given[7, i], mode, single)
        else:
            value = exactly(a, b, given[6, i], given[7, i], mode, &doubtful)
        if doubtful:
            doubts.append(i)
        elif not isnan(value):  # MQA-U3
            codes[i] = <int64_t>fmin(fmax(value, lowest), highest)  # MQA-C1
            states[i] = in_range if codes[i] == value else beyond
    return doubts


def by_integers(a, a_scale, a_zero, b, b_scale, b_zero, c_scale, c_zero, mode):
    """The exact integer before it saturates; scales in units of 2^-149."""
    first, second, divisor = (integers.units(scale) for scale in (a_scale, b_scale, c_scale))
    total = first * int(a - a_zero) + second * int(b - b_zero)  # MQA-F1, MQA-F2
    return integers.round_ratio(total + int(c_zero) * divisor, divisor, mode)  # MQA-F3, MQA-F4, MQA-R1


LOOPS = {"com.microsoft.QLinearAdd": output}
