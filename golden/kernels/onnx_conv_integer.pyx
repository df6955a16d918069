# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""onnx.ConvInteger in 64-bit integers: products have 18 bits, so no sum of fewer than 2^45 of them overflows."""

import numpy as np

from tiebreak.golden.problem import IN_RANGE, UNDEFINED

from libc.stdint cimport int64_t, uint8_t

cdef uint8_t FITS = IN_RANGE, OPEN = UNDEFINED


def y(problem, working, mode):
    """See LOOPS."""
    terms, operands = problem.constants["terms"], problem.operands
    x, w = (np.array(operands[n * terms : (n + 1) * terms], np.int64) for n in range(2))
    points = np.array(operands[2 * terms :], np.int64)
    codes, states = np.zeros(x.shape[1], np.int64), np.zeros(x.shape[1], np.uint8)
    sum_up(x, w, points, codes)
    settle(codes, states, problem.result.lowest, problem.result.highest)
    return codes, states


cdef sum_up(const int64_t[:, ::1] x, const int64_t[:, ::1] w, const int64_t[:, ::1] points, int64_t[::1] codes):
    """A row of x and w for each term, a column for each element; rows of points for x and for w."""
    cdef Py_ssize_t term, i
    for term in range(x.shape[0]):
        for i in range(x.shape[1]):
            codes[i] += (x[term, i] - points[0, i]) * (w[term, i] - points[1, i])  # OCI-F1, OCI-F2


cdef settle(int64_t[::1] codes, uint8_t[::1] states, int64_t lowest, int64_t highest):
    """What is beyond 32 bits may be anything."""
    cdef Py_ssize_t i
    for i in range(codes.shape[0]):
        states[i] = FITS if lowest <= codes[i] <= highest else OPEN  # OCI-U1
        codes[i] = codes[i] if states[i] == FITS else 0


LOOPS = {"onnx.ConvInteger": y}
