# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""(input - zero_point) * scale: a difference of 33 bits, and one product.

The difference of two integers of 32 bits is an int64. Its product with a float32 has 57 bits: exactly, a double and
what fma says that it lacks, rounded to odd first; in working precision the difference is a float32, too.
"""

import numpy as np

from tiebreak.golden.kernels import tensors
from tiebreak.golden.problem import IN_RANGE, UNDEFINED, ZERO

from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow, product_narrowed


def uniform_dequantize(problem, working, mode):  # TUD-F3
    """See LOOPS."""
    x, zero_point = (np.ascontiguousarray(problem.operands[place], np.int64) for place in (0, 2))
    scale = tensors.doubles(problem.operands[1], problem.kinds[1])
    values, states = np.zeros(len(x)), np.full(len(x), UNDEFINED, np.uint8)
    loop(x, scale, zero_point, working, tensors.format_of(problem.result), values, states)
    return np.where(states == IN_RANGE, tensors.real_codes(values, problem.result), 0), states


cdef loop(const int64_t[::1] x, const double[::1] scale, const int64_t[::1] zero_point, bint working, tuple described,
          double[::1] values, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef Format f = format_of(described)
    cdef double difference
    cdef uint8_t in_range = IN_RANGE, zero = ZERO
    for i in range(x.shape[0]):
        if not isfinite(scale[i]):  # TUD-U1
            continue
        difference = <double>(x[i] - zero_point[i])  # TUD-F1
        values[i] = product_narrowed(narrow(difference, f) if working else difference, scale[i], f)  # TUD-F2, TUD-U3
        states[i] = zero if values[i] == 0.0 else in_range  # TUD-U2


LOOPS = {"tensorflow.UniformDequantize": uniform_dequantize}
