# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""com.microsoft.QGemm in doubles: a sum of 32 bits times alpha and two scales, divided by a third or not.

alpha * a_scale has 48 bits: a double. Three more steps round, each by 2^-53 of itself at most. Where the doubles around
the real quotient round to different integers, Python's integers decide; so they do where a double does not hold the
sum times b_scale, and the output is a number.
"""

import numpy as np

from tiebreak.golden.elements import FloatType
from tiebreak.golden.kernels import integers, tensors
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED, ZERO

from libc.math cimport fabs, fmax, fmin, isfinite, isnan
from libc.stdint cimport int64_t, uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow, product_narrowed
from tiebreak.golden.kernels.requantized cimport rounded_exactly, rounded_in_steps

cdef double MOST = 2.0**29  # a sum up to it times a scale is a double


def output(problem, working, mode):
    """See LOOPS."""
    operands = np.array([tensors.doubles(o, kind) for o, kind in zip(problem.operands, problem.kinds)], np.float64)
    states = np.full(operands.shape[1], UNDEFINED, np.uint8)
    alpha, real = problem.constants["alpha"], tensors.format_of(problem.working)
    if isinstance(problem.result, FloatType):
        values = np.zeros(operands.shape[1])
        numbers(operands, alpha, working, real, values, states)
        return np.where(states == IN_RANGE, tensors.real_codes(values, problem.result), 0), states
    codes = np.zeros(operands.shape[1], np.int64)
    ends = problem.result.lowest, problem.result.highest
    quantized(operands, alpha, working, mode, tensors.MODE_NUMBERS[mode], real, ends, codes, states)
    return codes, states


cdef numbers(const double[:, ::1] operands, double alpha, bint working, tuple real, double[::1] values,
             uint8_t[::1] states):
    """`operands` has a row for each: the sum with C, both scales, and whether the sum overflows."""
    cdef Py_ssize_t i
    cdef Format f = format_of(real)
    cdef double total, a, b
    cdef uint8_t in_range = IN_RANGE, zero = ZERO
    for i in range(operands.shape[1]):
        total, a, b = operands[0, i], operands[1, i], operands[2, i]  # MQG-F1, MQG-F2
        if operands[3, i] != 0.0 or not isfinite(a) or not isfinite(b):  # MQG-U1, MQG-U3
            continue
        if working:
            values[i] = product_narrowed(total, narrow(narrow(alpha * a, f) * b, f), f)  # MQG-F3, MQG-F6
        elif fabs(total) <= MOST:
            values[i] = product_narrowed(alpha * a, total * b, f)
        else:
            values[i] = product_of_integers(total, alpha, a, b, real)
        states[i] = zero if values[i] == 0.0 else in_range


def product_of_integers(total, alpha, a, b, real):
    """The product rounded once; each scale is a whole number of units of 2^-149."""
    top = int(total) * integers.units(alpha) * integers.units(a) * integers.units(b)
    return integers.ratio_to_real(top, 1 << (3 * integers.UNIT), real)


cdef quantized(const double[:, ::1] operands, double alpha, bint working, str name, int mode, tuple real, tuple ends,
               int64_t[::1] codes, uint8_t[::1] states):
    """The rows are those of numbers, but with the scale and the zero point of Y before the last."""
    cdef Py_ssize_t i
    cdef Format f = format_of(real)
    cdef double total, a, b, scale, rounded, value, lowest = ends[0], highest = ends[1]
    cdef uint8_t in_range = IN_RANGE, out_of_range = OUT_OF_RANGE
    for i in range(operands.shape[1]):
        total, a, b, scale = operands[0, i], operands[1, i], operands[2, i], operands[3, i]
        if operands[5, i] != 0.0 or scale == 0.0:  # MQG-U1, MQG-U2
            continue
        if not isfinite(a) or not isfinite(b) or not isfinite(scale):  # MQG-U3
            continue
        if working:
            rounded = rounded_in_steps(total, narrow(alpha * a, f), b, scale, mode, f)  # MQG-F3, MQG-F4, MQG-R1
        else:
            rounded = rounded_exactly(total, alpha * a, b, scale, mode)
            if isnan(rounded):
                rounded = by_integers(total, alpha, a, b, scale, name)
        if isnan(rounded):  # an infinity times 0
            continue
        value = rounded + operands[4, i]  # MQG-F5
        codes[i] = <int64_t> fmin(fmax(value, lowest), highest)  # MQG-C1
        states[i] = in_range if codes[i] == value else out_of_range


cdef double by_integers(double total, double alpha, double a, double b, double scale, str mode):
    """The rounded quotient of whole numbers of units. Those of the scales are 2^-149 each."""
    top = int(total) * integers.units(alpha) * integers.units(a) * integers.units(b)
    return float(integers.round_ratio(top, integers.units(scale) << (2 * integers.UNIT), mode))


LOOPS = {"com.microsoft.QGemm": output}
