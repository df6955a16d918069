# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""stablehlo.uniform_dequantize: a difference of integers, which a double holds, and one product.

The product has 57 bits at most. A double and what fma says that it lacks, rounded to odd, are rounded once more.
"""

import numpy as np

from tiebreak.golden.kernels import tensors
from tiebreak.golden.problem import IN_RANGE, UNDEFINED, ZERO

from libc.stdint cimport uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow, product_narrowed


def uniform_dequantize(problem, working, mode):  # SUD-F3
    """See LOOPS."""
    x, scale, zero_point = (tensors.doubles(*pair) for pair in zip(problem.operands, problem.kinds))
    states = np.full(x.size, UNDEFINED, np.uint8)
    values = x - zero_point  # SUD-F1
    multiply(values, scale, working, tensors.format_of(problem.result), states)
    return np.where(states == IN_RANGE, tensors.real_codes(values, problem.result), 0), states


cdef multiply(double[::1] values, const double[::1] scale, bint working, tuple described, uint8_t[::1] states):
    """The differences become results, in place."""
    cdef Py_ssize_t i
    cdef Format f = format_of(described)
    cdef uint8_t in_range = IN_RANGE, zero = ZERO
    for i in range(values.shape[0]):
        if working:
            values[i] = narrow(values[i], f)
        values[i] = product_narrowed(values[i], scale[i], f)  # SUD-F2
        states[i] = zero if values[i] == 0.0 else in_range  # SUD-U1


LOOPS = {"stablehlo.uniform_dequantize": uniform_dequantize}
