# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""tensorflow.UniformQuantize in doubles.

Working precision: each step in double, narrowed to float32. Exactly: the quotient in double, whose relative error is
below 2^-52. Where that leaves two integers, big ones decide.
"""

import numpy as np

from tiebreak.golden.kernels import integers, tensors
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED

from libc.math cimport fabs, floor, isfinite, isnan
from libc.stdint cimport int64_t, uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow
from tiebreak.golden.kernels.integral cimport integral, undecided

cdef double FAR = 1099511627776.0  # 2^40: with any zero point beyond every range
cdef double RELATIVE = 2.0**-52
cdef int UPWARD = 3


def uniform_quantize(problem, working, mode):
    """See LOOPS."""
    x, scale = (tensors.doubles(problem.operands[place], problem.kinds[place]) for place in (0, 1))
    zero_point = np.ascontiguousarray(problem.operands[2], np.int64)
    codes, states = np.zeros(len(x), np.int64), np.full(len(x), UNDEFINED, np.uint8)
    least, greatest, usable = (problem.constants[name] for name in ("least", "greatest", "usable"))
    if usable:  # TUQ-U4
        single = tensors.format_of(problem.working)
        doubts = loop(x, scale, zero_point, working, mode, single, least, greatest, codes, states)
        for i in doubts:
            (top, bottom), (part, whole) = integers.ratio(x[i]), integers.ratio(scale[i])
            total = integers.round_ratio(top * whole, bottom * part, mode) + zero_point[i]
            codes[i] = min(max(total, least), greatest)
            states[i] = IN_RANGE if codes[i] == total else OUT_OF_RANGE
    return codes, states


cdef inline double stepwise(double x, double scale, int mode, Format f) noexcept nogil:
    """The integer, an infinity or NaN, with every step rounded."""
    cdef double product = narrow(x * narrow(1.0 / scale, f), f)  # TUQ-F1, TUQ-U3
    if mode == UPWARD:
        return floor(narrow(product + 0.5, f))  # TUQ-R1
    return integral(product, mode)


cdef list loop(const double[::1] x, const double[::1] scale, const int64_t[::1] zero_point, bint working, str mode,
               tuple described, int64_t least, int64_t greatest, int64_t[::1] codes, uint8_t[::1] states):
    """Fills in the results that doubles can decide; returns the indices of the others."""
    cdef Py_ssize_t i
    cdef Format f = format_of(described)
    cdef int number = tensors.MODE_NUMBERS[mode]
    cdef double q, total
    cdef uint8_t in_range = IN_RANGE, beyond = OUT_OF_RANGE
    doubts = []
    for i in range(x.shape[0]):
        if not isfinite(x[i]) or not isfinite(scale[i]) or scale[i] == 0.0:  # TUQ-U1, TUQ-U2
            continue
        if working:
            q = stepwise(x[i], scale[i], number, f)
        else:
            q = x[i] / scale[i]  # TUQ-F1
            if fabs(q) < FAR and undecided(q, fabs(q) * RELATIVE, number):
                doubts.append(i)
                continue
            q = integral(q, number)  # TUQ-R1
        if isnan(q):  # TUQ-U3
            continue
        total = min(max(q, -FAR), FAR) + <double>zero_point[i]  # TUQ-F2
        states[i] = in_range if <double>least <= total <= <double>greatest else beyond
        codes[i] = <int64_t>min(max(total, <double>least), <double>greatest)  # TUQ-C2, TUQ-U5
    return doubts


LOOPS = {"tensorflow.UniformQuantize": uniform_quantize}
