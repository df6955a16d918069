# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""gguf.Dequantize in float32: the products have at most 19 bits and are never below its least number.

So working precision gives what real arithmetic does.
"""

import numpy as np

from tiebreak.golden.kernels import tensors
from tiebreak.golden.problem import IN_RANGE, UNDEFINED, ZERO

from libc.math cimport isfinite
from libc.stdint cimport uint8_t


cdef loop(const double[::1] x, const double[::1] scale, float offset, double[::1] values, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef float difference, factor
    cdef uint8_t in_range = IN_RANGE, zero = ZERO
    for i in range(x.shape[0]):
        if not isfinite(scale[i]):  # GGD-U1
            continue
        difference, factor = <float>x[i] - offset, <float>scale[i]  # GGD-F2
        values[i] = difference * factor  # GGD-F1
        states[i] = zero if values[i] == 0.0 else in_range  # GGD-U3


def dequantize(problem, working, mode):
    """See LOOPS. Both forms are the same."""
    x, scale = (tensors.doubles(o, kind) for o, kind in zip(problem.operands, problem.kinds))
    values, states = np.zeros(len(x)), np.full(len(x), UNDEFINED, np.uint8)
    loop(x, scale, problem.constants["offset"], values, states)
    return np.where(states == IN_RANGE, tensors.real_codes(values, problem.result), 0), states


LOOPS = {"gguf.Dequantize": dequantize}
