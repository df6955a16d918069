# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""onnx.QLinearConv: sums in 64-bit integers, quotients in doubles.

The product of two scales is a double: each has 24 bits. Its product with a sum and the quotient by y_scale are each off
by at most 2^-53 of themselves. Where that leaves the rounded quotient in doubt, big integers decide.
"""

import numpy as np

from tiebreak.golden.kernels import integers, tensors
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED

from libc.math cimport fabs, isfinite
from libc.stdint cimport int64_t, uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow
from tiebreak.golden.kernels.integral cimport integral, undecided

cdef uint8_t FITS = IN_RANGE, EXCEEDS = OUT_OF_RANGE
cdef double BOUND = 2.0**-51
cdef double BEYOND = 2.0**40  # a quotient beyond every range, which no rounding brings back
LOWEST, HIGHEST = -(1 << 31), (1 << 31) - 1
cdef int64_t BEYOND_WORD = 1 << 31  # for each sum that leaves 32 bits


def y(problem, working, mode):
    """See LOOPS."""
    terms, operands = problem.constants["terms"], problem.operands
    x, w = (np.array(operands[n * terms : (n + 1) * terms], np.int64) for n in range(2))
    parameters = operands[2 * terms :]
    bias, x_point, w_point, x_scale, w_scale, y_scale, y_point = parameters
    above, below = np.maximum(bias, 0), np.minimum(bias, 0)  # OQC-F3
    add_products(x, w, np.array([x_point, w_point], np.int64), above, below)
    fits = (above <= HIGHEST) & (below >= LOWEST)  # OQC-U3
    sums = np.where(fits, above + below, BEYOND_WORD)
    scales = np.array([tensors.doubles(codes, problem.working) for codes in (x_scale, w_scale, y_scale)])
    codes, states = np.zeros(len(sums), np.int64), np.full(len(sums), UNDEFINED, np.uint8)
    ends, points = (problem.result.lowest, problem.result.highest), np.array(y_point, np.int64)
    if working:
        stepwise(sums, scales, mode, tensors.format_of(problem.working), points, ends, codes, states)
    else:
        once(sums, scales, mode, points, ends, codes, states)
    return codes, states


cdef add_products(const int64_t[:, ::1] x, const int64_t[:, ::1] w, const int64_t[:, ::1] points,
                  int64_t[::1] above, int64_t[::1] below):
    """A row of x and w for each term of the sums, a column for each element; rows of points for x and for w.

    Products above 0 and below it have sums of their own: between those lies every sum of some of them.
    """
    cdef Py_ssize_t term, i
    cdef int64_t product
    for term in range(x.shape[0]):
        for i in range(x.shape[1]):
            product = (x[term, i] - points[0, i]) * (w[term, i] - points[1, i])  # OQC-F1
            above[i] += max(product, 0)  # OQC-F2
            below[i] += min(product, 0)


cdef inline bint defined(int64_t total, double x_scale, double w_scale, double y_scale) noexcept nogil:
    cdef bint all_finite = isfinite(x_scale) and isfinite(w_scale) and isfinite(y_scale)  # OQC-U1
    return all_finite and y_scale != 0.0 and total != BEYOND_WORD  # OQC-U2


cdef inline void put(double rounded, int64_t point, double lowest, double highest, int64_t* code,
                     uint8_t* state) noexcept nogil:
    """The sum with the zero point, saturated. The rounded quotient may be infinite."""
    cdef double total = rounded + <double>point  # OQC-F5
    state[0] = FITS if lowest <= total <= highest else EXCEEDS
    code[0] = <int64_t>min(max(total, lowest), highest)  # OQC-C1


cdef stepwise(const int64_t[::1] sums, const double[:, ::1] scales, str mode, tuple real, const int64_t[::1] points,
              tuple ends, int64_t[::1] codes, uint8_t[::1] states):
    """Working precision: each step in double, narrowed to float32."""
    cdef Py_ssize_t i
    cdef Format f = format_of(real)
    cdef int number = tensors.MODE_NUMBERS[mode]
    cdef double scale, product, quotient, lowest = ends[0], highest = ends[1]
    for i in range(sums.shape[0]):
        if not defined(sums[i], scales[0, i], scales[1, i], scales[2, i]):
            continue
        scale = narrow(scales[0, i] * scales[1, i], f)  # OQC-F4
        product = narrow(narrow(<double>sums[i], f) * scale, f)  # OQC-F4
        quotient = narrow(product / scales[2, i], f)  # OQC-F5
        if quotient == quotient:
            put(integral(quotient, number), points[i], lowest, highest, &codes[i], &states[i])  # OQC-R1


cdef once(const int64_t[::1] sums, const double[:, ::1] scales, str mode, const int64_t[::1] points, tuple ends,
          int64_t[::1] codes, uint8_t[::1] states):
    """The real quotient, rounded once."""
    cdef Py_ssize_t i
    cdef int number = tensors.MODE_NUMBERS[mode]
    cdef double quotient, rounded, lowest = ends[0], highest = ends[1]
    for i in range(sums.shape[0]):
        if not defined(sums[i], scales[0, i], scales[1, i], scales[2, i]):
            continue
        quotient = <double>sums[i] * (scales[0, i] * scales[1, i]) / scales[2, i]  # OQC-F4, OQC-F5
        if fabs(quotient) < BEYOND and undecided(quotient, fabs(quotient) * BOUND, number):
            rounded = by_integers(sums[i], scales[0, i], scales[1, i], scales[2, i], mode)
        else:
            rounded = integral(quotient, number)  # OQC-R1
        put(rounded, points[i], lowest, highest, &codes[i], &states[i])


cdef double by_integers(int64_t total, double x_scale, double w_scale, double y_scale, str mode):
    top_x, bottom_x = integers.ratio(x_scale)
    top_w, bottom_w = integers.ratio(w_scale)
    top_y, bottom_y = integers.ratio(y_scale)
    return float(integers.round_ratio(total * top_x * top_w * bottom_y, bottom_x * bottom_w * top_y, mode))


LOOPS = {"onnx.QLinearConv": y}
