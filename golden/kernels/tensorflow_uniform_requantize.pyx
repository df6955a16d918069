# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""tensorflow.UniformRequantize in doubles.

The difference of two integers of 32 bits is a double. Exactly, what follows is rounded by at most 2^-53 of its results
each. Where no step rounds, or no other integer is within that error, the double decides; if not, integers of any size.
"""

import numpy as np

from tiebreak.golden.kernels import integers, tensors
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED

from libc.math cimport fmax, fmin, isfinite, isnan
from libc.stdint cimport int64_t, uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow, product_narrowed
from tiebreak.golden.kernels.integral cimport integral
from tiebreak.golden.kernels.requantized cimport scaled_exactly


cdef double stepwise(double difference, double scale, double divisor, double zero, int mode,
                     Format single) noexcept nogil:
    """The integer with every step rounded, before it is clipped."""
    cdef double ratio = narrow(scale / divisor, single)  # TUR-F2
    cdef double product = product_narrowed(narrow(difference, single), ratio, single)  # TUR-F3
    return integral(narrow(product + narrow(zero, single), single), mode)  # TUR-F4, TUR-R1


def requantize(problem, working, mode):  # TUR-F5
    """See LOOPS."""
    columns = [tensors.doubles(operand, kind) for operand, kind in zip(problem.operands, problem.kinds)]
    size = columns[0].size
    codes, states = np.zeros(size, np.int64), np.full(size, UNDEFINED, np.uint8)
    least, greatest, usable = (problem.constants[name] for name in ("least", "greatest", "usable"))
    if not usable:  # TUR-U4
        return codes, states
    number, single = tensors.MODE_NUMBERS[mode], tensors.format_of(problem.working)
    doubts = loop(np.array(columns), working, number, single, least, greatest, codes, states)
    for i in doubts:
        found = by_integers(*(float(column[i]) for column in columns), mode)
        codes[i] = min(max(found, least), greatest)  # TUR-C1, TUR-C2
        states[i] = IN_RANGE if codes[i] == found else OUT_OF_RANGE
    return codes, states


cdef list loop(const double[:, ::1] given, bint working, int mode, tuple described, double least, double greatest,
               int64_t[::1] codes, uint8_t[::1] states):
    """Fills in what doubles can decide, and returns the other places. `given` has a row for each operand."""
    cdef Py_ssize_t i
    cdef Format single = format_of(described)
    cdef double difference, value
    cdef bint doubtful
    cdef uint8_t in_range = IN_RANGE, beyond = OUT_OF_RANGE
    doubts = []
    for i in range(given.shape[1]):
        if not (isfinite(given[1, i]) and isfinite(given[3, i])) or given[3, i] == 0.0:
            continue  # TUR-U2
        difference = given[0, i] - given[2, i]  # TUR-F1
        doubtful = False
        if working:
            value = stepwise(difference, given[1, i], given[3, i], given[4, i], mode, single)
        else:
            value = scaled_exactly(  # TUR-F2, TUR-F3, TUR-F4, TUR-R1, TUR-U1
                difference, given[1, i], given[3, i], given[4, i], mode, &doubtful
            )
        if doubtful:
            doubts.append(i)
        elif not isnan(value):  # TUR-U3
            codes[i] = <int64_t>fmin(fmax(value, least), greatest)  # TUR-C1, TUR-C2
            states[i] = in_range if codes[i] == value else beyond
    return doubts


def by_integers(x, s_in, z_in, s_out, z_out, mode):
    """The exact integer before it is clipped; scales in units of 2^-149."""
    number, divisor = int(x - z_in) * integers.units(s_in), integers.units(s_out)  # TUR-F1, TUR-F2, TUR-F3
    return integers.round_ratio(number + int(z_out) * divisor, divisor, mode)  # TUR-F4, TUR-R1


LOOPS = {"tensorflow.UniformRequantize": requantize}
