# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""(x - x_zero_point) * x_scale, in double and fma.

The difference of two integers of 32 bits, or of two small floats, is a double. Exactly, the product of two doubles is
the pair (p, fma's remainder), rounded to odd and then to the output's type; in working precision the difference and
the scale are rounded to that type first.
"""

import numpy as np

from tiebreak.golden.kernels import tensors
from tiebreak.golden.problem import IN_RANGE, UNDEFINED, ZERO

from libc.math cimport isfinite, isinf
from libc.stdint cimport uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow, product_narrowed


def dequantize_linear(problem, working, mode):
    """See LOOPS."""
    x, scale, zero_point = (tensors.doubles(o, kind) for o, kind in zip(problem.operands, problem.kinds))
    values, states = np.zeros(len(x)), np.full(len(x), UNDEFINED, np.uint8)
    without_zero_point = getattr(problem.kinds[0], "bits", 0) == 32
    loop(x, scale, zero_point, working, without_zero_point, tensors.format_of(problem.result), values, states)
    return np.where(states == IN_RANGE, tensors.real_codes(values, problem.result), 0), states


cdef loop(const double[::1] x, const double[::1] scale, const double[::1] zero_point, bint working, bint plain,
          tuple result, double[::1] values, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef Format f = format_of(result)
    cdef double difference, factor
    cdef uint8_t in_range = IN_RANGE, zero = ZERO
    for i in range(x.shape[0]):
        if not isfinite(scale[i]) or not isfinite(zero_point[i]):  # OND-U1, OND-U5
            continue
        if plain and zero_point[i] != 0.0:  # OND-U4
            continue
        if isinf(x[i]) and scale[i] == 0.0:  # OND-U5
            continue
        difference, factor = x[i] - zero_point[i], scale[i]  # OND-F1, OND-E1
        if working:
            difference, factor = narrow(difference, f), narrow(factor, f)
        values[i] = product_narrowed(difference, factor, f)  # OND-F2, OND-E2, OND-O1
        states[i] = zero if values[i] == 0.0 else in_range  # OND-U2


LOOPS = {"onnx.DequantizeLinear": dequantize_linear}
