# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""(x - zero_point) * scale, in double and fma.

The difference of two integers of 32 bits is a double. Exactly, the product of two doubles is the pair (p, fma's
remainder), rounded to odd and then to the output's type; in working precision the difference is rounded first.
"""

import numpy as np

from tiebreak.golden.kernels import tensors
from tiebreak.golden.problem import IN_RANGE, UNDEFINED, ZERO

from libc.math cimport isfinite
from libc.stdint cimport uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow, product_narrowed


def dequantize(problem, working, mode):
    """See LOOPS."""
    x, scale, zero_point = (tensors.doubles(o, kind) for o, kind in zip(problem.operands, problem.kinds))
    values = np.empty(len(x))
    states = np.empty(len(x), np.uint8)
    work, result = tensors.format_of(problem.working), tensors.format_of(problem.result)
    loop(x, scale, zero_point, working, work, result, values, states)
    return np.where(states == IN_RANGE, tensors.real_codes(values, problem.result), 0), states


cdef loop(const double[::1] x, const double[::1] scale, const double[::1] zero_point, bint working, tuple work,
          tuple result, double[::1] values, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef Format w = format_of(work), f = format_of(result)
    cdef double difference
    cdef uint8_t in_range = IN_RANGE, undefined = UNDEFINED, zero = ZERO
    for i in range(x.shape[0]):
        difference = x[i] - zero_point[i]  # NGD-F1
        if working:
            difference = narrow(difference, w)
        values[i] = 0.0
        if not isfinite(scale[i]):  # NGD-U1
            states[i] = undefined
        else:
            values[i] = product_narrowed(difference, scale[i], f)  # NGD-F2
            states[i] = zero if values[i] == 0.0 else in_range  # NGD-U2


LOOPS = {"ngraph.Dequantize": dequantize}
