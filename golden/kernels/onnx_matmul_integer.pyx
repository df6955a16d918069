# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""onnx.MatMulInteger: the sum of products itself, where 32 bits hold it in every order of summation."""

import numpy as np

from tiebreak.golden.problem import IN_RANGE, UNDEFINED

from libc.stdint cimport int64_t, uint8_t


def y(problem, working, mode):
    """See LOOPS."""
    total, overflows = (np.ascontiguousarray(operand, np.int64) for operand in problem.operands)
    codes, states = np.zeros(total.size, np.int64), np.full(total.size, UNDEFINED, np.uint8)
    loop(total, overflows, codes, states)
    return codes, states


cdef loop(const int64_t[::1] total, const int64_t[::1] overflows, int64_t[::1] codes, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef uint8_t in_range = IN_RANGE
    for i in range(total.shape[0]):
        if overflows[i] == 0:  # OMI-U1
            codes[i] = total[i]  # OMI-F1
            states[i] = in_range


LOOPS = {"onnx.MatMulInteger": y}
