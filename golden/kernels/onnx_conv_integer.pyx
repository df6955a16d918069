# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""onnx.ConvInteger in 64-bit integers: products have 18 bits, so no sum of fewer than 2^45 of them overflows."""

import numpy as np

from tiebreak.golden.problem import IN_RANGE, UNDEFINED

from libc.stdint cimport int64_t


def y(problem, working, mode):
    """See LOOPS."""
    terms, operands = problem.constants["terms"], problem.operands
    x, w = (np.array(operands[n * terms : (n + 1) * terms], np.int64) for n in range(2))
    points = np.array(operands[2 * terms :], np.int64)
    above, below = np.zeros((2, x.shape[1]), np.int64)
    add_products(x, w, points, above, below)
    fits = (above <= problem.result.highest) & (below >= problem.result.lowest)  # OCI-U1
    return np.where(fits, above + below, 0), np.where(fits, IN_RANGE, UNDEFINED).astype(np.uint8)


cdef add_products(const int64_t[:, ::1] x, const int64_t[:, ::1] w, const int64_t[:, ::1] points,
                  int64_t[::1] above, int64_t[::1] below):
    """A row of x and w for each term, a column for each element; rows of points for x and for w.

    Products above 0 and below it have sums of their own: between those lies every sum of some of them.
    """
    cdef Py_ssize_t term, i
    cdef int64_t product
    for term in range(x.shape[0]):
        for i in range(x.shape[1]):
            product = (x[term, i] - points[0, i]) * (w[term, i] - points[1, i])  # OCI-F1
            above[i] += max(product, 0)  # OCI-F2
            below[i] += min(product, 0)


LOOPS = {"onnx.ConvInteger": y}
