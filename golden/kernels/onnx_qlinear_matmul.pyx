# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""onnx.QLinearMatMul in doubles: a sum of 32 bits times two scales, divided by the third.

Where the doubles around the real quotient round to different integers, Python's integers decide.
"""

import numpy as np

from tiebreak.golden.kernels import integers, tensors
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED

from libc.math cimport fmax, fmin, isfinite, isnan
from libc.stdint cimport int64_t, uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of
from tiebreak.golden.kernels.requantized cimport rounded_exactly, rounded_in_steps


def y(problem, working, mode):
    """See LOOPS."""
    operands = np.array([tensors.doubles(o, kind) for o, kind in zip(problem.operands, problem.kinds)], np.float64)
    codes, states = np.zeros(operands.shape[1], np.int64), np.full(operands.shape[1], UNDEFINED, np.uint8)
    ends = problem.result.lowest, problem.result.highest
    loop(operands, working, mode, tensors.MODE_NUMBERS[mode], tensors.format_of(problem.working), ends, codes, states)
    return codes, states


cdef loop(const double[:, ::1] operands, bint working, str name, int mode, tuple real, tuple ends,
          int64_t[::1] codes, uint8_t[::1] states):
    """`operands` has a row for each: the sum, three scales, the zero point, and whether the sum overflows."""
    cdef Py_ssize_t i
    cdef Format f = format_of(real)
    cdef double total, a, b, scale, rounded, value, lowest = ends[0], highest = ends[1]
    cdef uint8_t in_range = IN_RANGE, out_of_range = OUT_OF_RANGE
    for i in range(operands.shape[1]):
        total, a, b, scale = operands[0, i], operands[1, i], operands[2, i], operands[3, i]
        if operands[5, i] != 0.0 or scale == 0.0:  # OQM-U1, OQM-U2
            continue
        if not isfinite(a) or not isfinite(b) or not isfinite(scale):  # OQM-U3
            continue
        if working:
            rounded = rounded_in_steps(total, a, b, scale, mode, f)  # OQM-F1, OQM-F2, OQM-R1
        else:
            rounded = rounded_exactly(total, a, b, scale, mode)  # OQM-F1, OQM-F2, OQM-R1
            if isnan(rounded):
                rounded = by_integers(total, a, b, scale, name)
        if isnan(rounded):  # an infinity times 0
            continue
        value = rounded + operands[4, i]  # OQM-F3
        codes[i] = <int64_t> fmin(fmax(value, lowest), highest)  # OQM-C1
        states[i] = in_range if codes[i] == value else out_of_range


cdef double by_integers(double total, double a, double b, double scale, str mode):
    """The rounded quotient of whole numbers of units. Those of the scales are 2^-149 each."""
    top = int(total) * integers.units(a) * integers.units(b)
    return float(integers.round_ratio(top, integers.units(scale) << integers.UNIT, mode))


LOOPS = {"onnx.QLinearMatMul": y}
