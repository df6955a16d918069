# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""onnx.DynamicQuantizeLinear in doubles: the scale of a range, its zero point, and elements by both.

The scale is a float32. Working precision makes it from a float32 width. Exactly, it is (high - low) / 255 rounded
once: the double difference and quotient are off by at most 2^-53 of themselves each. Where the ends of that interval
round to different float32, integers decide.

A quotient of two float32 a / b is compared with half an integer h of at most 10 bits. If it is not h, it is off by at
least 2^-34 of itself: a and b * h are multiples of the same power of two and have 34 bits at most. So the double
quotient, which is off by 2^-53, lies on the same side of h or on it.
"""

import numpy as np

from tiebreak.golden.kernels import integers, tensors
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED, ZERO

from libc.math cimport NAN, fmax, fmin, isfinite
from libc.stdint cimport int64_t, uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow
from tiebreak.golden.kernels.integral cimport integral

cdef double STEPS = 255.0
cdef double BOUND = 2.0**-51


cdef struct Line:
    double scale  # NaN where the document is silent
    double zero_point


cdef double scale_of(double low, double high, bint working, tuple real):
    """y_scale of a range with 0 in it; NaN for one that is not finite."""
    cdef Format f = format_of(real)
    cdef double quotient
    if not isfinite(low) or not isfinite(high):  # ODQ-U2
        return NAN
    if working:
        return narrow(narrow(high - low, f) / STEPS, f)  # ODQ-F1, ODQ-F2
    quotient = (high - low) / STEPS  # ODQ-F1, ODQ-F2
    if narrow(quotient * (1.0 - BOUND), f) == narrow(quotient * (1.0 + BOUND), f):
        return narrow(quotient, f)
    width = integers.units(high) - integers.units(low)
    return integers.ratio_to_real(width, 255 << integers.UNIT, real)


cdef Line line_of(double low, double high, bint working, int mode, tuple real):
    """Scale and zero point of a range. A scale of 0 divides nothing: then both are NaN."""
    cdef Line line
    cdef double quotient
    line.scale, line.zero_point = scale_of(low, high, working, real), NAN
    if line.scale != line.scale or line.scale == 0.0:  # ODQ-U1, ODQ-U3
        line.scale = NAN
        return line
    quotient = low / line.scale  # ODQ-F3, ODQ-F5
    if working:
        quotient = narrow(quotient, format_of(real))
    line.zero_point = integral(fmin(fmax(-quotient, 0.0), STEPS), mode)  # ODQ-C2, ODQ-R1
    return line


def ends_of(problem):
    """The ends of the range of each element, as doubles."""
    found = [tensors.doubles(o, kind) for o, kind in zip(problem.operands, problem.kinds)]
    return found[len(found) - 2], found[len(found) - 1]


def y(problem, working, mode):
    """See LOOPS."""
    x = tensors.doubles(problem.operands[0], problem.kinds[0])
    low, high = ends_of(problem)
    codes, states = np.zeros(len(x), np.int64), np.full(len(x), UNDEFINED, np.uint8)
    loop(x, low, high, working, tensors.MODE_NUMBERS[mode], tensors.format_of(problem.working), codes, states)
    return codes, states


cdef loop(const double[::1] x, const double[::1] low, const double[::1] high, bint working, int mode, tuple real,
          int64_t[::1] codes, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef Format f = format_of(real)
    cdef Line line
    cdef double its_low = NAN, its_high = NAN, quotient, value
    cdef uint8_t in_range = IN_RANGE, out_of_range = OUT_OF_RANGE
    for i in range(x.shape[0]):  # ODQ-S1
        if low[i] != its_low or high[i] != its_high:
            its_low, its_high = low[i], high[i]
            line = line_of(its_low, its_high, working, mode, real)
        if line.scale != line.scale or not isfinite(x[i]):  # ODQ-U2
            continue
        quotient = x[i] / line.scale  # ODQ-F4, ODQ-F5
        if working:
            quotient = narrow(quotient, f)
        value = integral(quotient, mode) + line.zero_point  # ODQ-F4, ODQ-R1
        codes[i] = <int64_t> fmin(fmax(value, 0.0), STEPS)  # ODQ-C1, ODQ-T1
        states[i] = in_range if codes[i] == value else out_of_range


def y_scale(problem, working, mode):
    """See LOOPS."""
    real = tensors.format_of(problem.working)
    values = np.array([scale_of(low, high, working, real) for low, high in zip(*ends_of(problem))], np.float64)
    if problem.constants["empty"]:  # ODQ-U1
        values[:] = NAN
    states = np.where(np.isnan(values), UNDEFINED, np.where(values == 0.0, ZERO, IN_RANGE)).astype(np.uint8)
    return np.where(states == IN_RANGE, tensors.real_codes(values, problem.result), 0), states


def y_zero_point(problem, working, mode):
    """See LOOPS."""
    number, real = tensors.MODE_NUMBERS[mode], tensors.format_of(problem.working)
    lines = [line_of(low, high, working, number, real) for low, high in zip(*ends_of(problem))]
    points = np.array([line["zero_point"] for line in lines], np.float64)
    open_ = np.isnan(points)
    return np.where(open_, 0.0, points).astype(np.int64), np.where(open_, UNDEFINED, IN_RANGE).astype(np.uint8)


LOOPS = {
    "onnx.DynamicQuantizeLinear": y,
    "onnx.DynamicQuantizeLinear:y_scale": y_scale,
    "onnx.DynamicQuantizeLinear:y_zero_point": y_zero_point,
}
