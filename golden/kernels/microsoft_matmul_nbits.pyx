# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""com.microsoft.MatMulNBits: steps in doubles, each narrowed to A's type; or big integers, rounded once."""

import numpy as np

from tiebreak.golden.kernels import integers, tensors
from tiebreak.golden.problem import IN_RANGE, UNDEFINED, ZERO

from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow


def y(problem, working, mode):
    """See LOOPS."""
    a, weight, point, scale, others = (
        tensors.doubles(operand, kind) for operand, kind in zip(problem.operands[:5], problem.kinds)
    )
    biased = len(problem.operands) > 6
    unclear = np.ascontiguousarray(problem.operands[6 if biased else 5], np.int64)
    bias = tensors.doubles(problem.operands[5], problem.kinds[5]) if biased else np.zeros(len(a))
    values, states = np.zeros(len(a)), np.full(len(a), UNDEFINED, np.uint8)
    described = tensors.format_of(problem.result)
    loop(a, weight, point, scale, others, bias, unclear, working, described, values, states)
    return np.where(states == IN_RANGE, tensors.real_codes(values, problem.result), 0), states


cdef loop(const double[::1] a, const double[::1] weight, const double[::1] point, const double[::1] scale,
          const double[::1] others, const double[::1] bias, const int64_t[::1] unclear, bint working,
          tuple described, double[::1] values, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef Format f = format_of(described)
    cdef uint8_t in_range = IN_RANGE, zero = ZERO
    cdef double value
    for i in range(a.shape[0]):
        if unclear[i]:  # MNB-U1, MNB-U2, MNB-U3, MNB-U4
            continue
        if not (isfinite(a[i]) and isfinite(point[i]) and isfinite(scale[i]) and isfinite(bias[i])):  # MNB-U4
            continue
        if working:
            value = narrow(narrow(weight[i] - point[i], f) * scale[i], f)  # MNB-F1
            value = narrow(narrow(a[i] * value, f) + others[i], f)  # MNB-F2
            value = narrow(value + bias[i], f)  # MNB-F3
        else:
            value = exactly(a[i], weight[i], point[i], scale[i], others[i], bias[i], described)
        values[i] = value
        states[i] = zero if value == 0.0 else in_range  # MNB-U5


cdef double exactly(double a, double weight, double point, double scale, double others, double bias,
                    tuple described):
    """One fraction of whole numbers, rounded once."""
    point_top, point_bottom = integers.ratio(point)
    scale_top, scale_bottom = integers.ratio(scale)
    a_top, a_bottom = integers.ratio(a)
    rest_top, rest_bottom = integers.ratio(others)
    top = (int(weight) * point_bottom - point_top) * scale_top * a_top  # MNB-F1, MNB-F2
    bias_top, bias_bottom = integers.ratio(bias)
    bottom = point_bottom * scale_bottom * a_bottom
    top, bottom = top * rest_bottom + rest_top * bottom, bottom * rest_bottom  # MNB-F2
    top, bottom = top * bias_bottom + bias_top * bottom, bottom * bias_bottom  # MNB-F3
    return integers.ratio_to_real(top, bottom, described) if top else 0.0


LOOPS = {"com.microsoft.MatMulNBits": y}
