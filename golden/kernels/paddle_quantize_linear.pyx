# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""paddle.QuantizeLinear in doubles.

A float32 times a range of at most 15 bits is exact in double; the quotient has a relative error of at most 2^-53.
Where that leaves a doubt about the integer, big integers decide. Results beyond 32 bits are undefined.
"""

import numpy as np

from tiebreak.golden.kernels import integers, tensors
from tiebreak.golden.problem import IN_RANGE, UNDEFINED, ZERO

from libc.math cimport fabs, isfinite, ldexp
from libc.stdint cimport uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow
from tiebreak.golden.kernels.integral cimport integral, undecided

cdef double UNIT = ldexp(1.0, -52)
cdef double FAR = ldexp(1.0, 40)  # beyond every qmin and qmax


def quantize(problem, working, mode):
    """See LOOPS."""
    x, scale, zero_point = (tensors.doubles(o, kind) for o, kind in zip(problem.operands, problem.kinds))
    values, states = np.zeros(len(x)), np.full(len(x), UNDEFINED, np.uint8)
    described = tensors.format_of(problem.result)
    steps = (1 << (problem.constants["bit_length"] - 1)) - 1  # PQL-F1
    low, high = problem.constants["qmin"], problem.constants["qmax"]
    fill(x, scale, zero_point, steps, low, high, mode, working, described, values, states)
    return np.where(states != UNDEFINED, tensors.real_codes(values, problem.result), 0), states


cdef fill(const double[::1] x, const double[::1] scale, const double[::1] zero_point, double steps, double low,
          double high, str mode, bint working, tuple described, double[::1] values, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef Format f = format_of(described)
    cdef int number = tensors.MODE_NUMBERS[mode]
    cdef uint8_t in_range = IN_RANGE, zero = ZERO
    cdef double found
    for i in range(x.shape[0]):
        if not (isfinite(x[i]) and isfinite(scale[i]) and isfinite(zero_point[i])):
            continue  # PQL-U1, PQL-U2
        if scale[i] <= 0.0 or zero_point[i] != 0.0:
            continue  # PQL-U3, PQL-U5
        if working:
            found = integral(narrow(narrow(x[i] * steps, f) / scale[i], f), number)  # PQL-F2, PQL-F3, PQL-R1, PQL-R2
        else:
            found = exactly(x[i], scale[i], steps, number, mode)
        if not low <= found <= high:
            continue  # PQL-U4
        values[i] = narrow(found, f) + 0.0  # PQL-U6
        states[i] = zero if found == 0.0 else in_range


cdef double exactly(double x, double scale, double steps, int number, str mode):
    """round(x * steps / scale); what is far beyond every integer stays as it is."""
    cdef double quotient = x * steps / scale  # PQL-F2, PQL-F3
    if fabs(quotient) > FAR or not undecided(quotient, fabs(quotient) * UNIT, number):
        return integral(quotient, number)  # PQL-R1, PQL-R2
    top, bottom = integers.ratio(x)
    scale_top, scale_bottom = integers.ratio(scale)
    return integers.round_ratio(top * int(steps) * scale_bottom, bottom * scale_top, mode)


LOOPS = {"paddle.QuantizeLinear": quantize}
