# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The loops of a sweep of every scale, compiled, for whole blocks; thresholds.py explains them.

Codes come as unsigned integers of the output's width, whether they are signed or not: they are only told apart.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t

ctypedef fused code_t:
    uint8_t
    uint16_t

cdef extern from "thresholds.h" nogil:
    void fill_least(int32_t, int32_t, float *)
    void fill_row(uint32_t, int32_t, int32_t, uint32_t *)
    uint32_t grade_u8(uint32_t, int32_t, int32_t, const uint8_t *, const uint8_t *, const float *,
                      uint32_t *, uint8_t *, uint32_t *)
    uint32_t grade_u16(uint32_t, int32_t, int32_t, const uint16_t *, const uint16_t *, const float *,
                       uint32_t *, uint8_t *, uint32_t *)
    int32_t wrong_u8(uint32_t, int32_t, int32_t, const uint8_t *, const uint8_t *, const float *,
                     uint32_t *, uint8_t *, int32_t *)
    int32_t wrong_u16(uint32_t, int32_t, int32_t, const uint16_t *, const uint16_t *, const float *,
                      uint32_t *, uint8_t *, int32_t *)


def fill_asked(const uint32_t[::1] scales, int32_t first, uint32_t[:, ::1] out):
    """See thresholds.asked_of; `out` has a row for each scale."""
    cdef Py_ssize_t row
    cdef int32_t count = <int32_t>((out.shape[1] - 3) // 3)
    if out.shape[0] != scales.shape[0]:
        raise ValueError("a row for each scale is wanted")
    with nogil:
        for row in range(scales.shape[0]):
            fill_row(scales[row], first, count, &out[row, 0])


def grade_asked(const uint32_t[::1] scales, const code_t[:, ::1] codes, const code_t[::1] low, int32_t first,
                uint32_t[::1] wrong):
    """The number of answers of working precision alone; `wrong` gets each scale's number of answers of neither form.

    `low` has all codes in order, `first` is the step of the lowest. The scales' thresholds must lie apart.
    """
    cdef Py_ssize_t row
    cdef int32_t count = check(scales, codes.shape[0], codes.shape[1], low.shape[0])
    cdef int64_t working = 0
    cdef uint32_t[::1] middle = np.empty(count, np.uint32)
    cdef float[::1] least = np.empty(count, np.float32)
    cdef uint8_t[::1] up = np.empty(count, np.uint8)
    if scales.shape[0] != wrong.shape[0]:
        raise ValueError("a count for each scale is wanted")
    fill_least(first, count, &least[0])
    with nogil:
        for row in range(scales.shape[0]):
            if code_t is uint8_t:
                working += grade_u8(scales[row], first, count, &codes[row, 0], &low[0], &least[0], &middle[0], &up[0],
                                    &wrong[row])
            else:
                working += grade_u16(scales[row], first, count, &codes[row, 0], &low[0], &least[0], &middle[0], &up[0],
                                     &wrong[row])
    return working


def wrong_steps(const uint32_t[::1] scales, const code_t[:, ::1] codes, const code_t[::1] low, int32_t first,
                Py_ssize_t most):
    """Rows and steps (from 0 for `first`) that have a wrong answer, at most `most`; two arrays of int64, in order."""
    cdef Py_ssize_t row
    cdef int32_t count = check(scales, codes.shape[0], codes.shape[1], low.shape[0])
    cdef uint32_t[::1] middle = np.empty(count, np.uint32)
    cdef float[::1] least = np.empty(count, np.float32)
    cdef uint8_t[::1] up = np.empty(count, np.uint8)
    cdef int32_t[::1] found = np.empty(count + 1, np.int32)
    cdef Py_ssize_t number = 0, some, i
    cdef int64_t[::1] rows = np.empty(most, np.int64), steps = np.empty(most, np.int64)
    fill_least(first, count, &least[0])
    for row in range(scales.shape[0]):
        if code_t is uint8_t:
            some = wrong_u8(scales[row], first, count, &codes[row, 0], &low[0], &least[0], &middle[0], &up[0],
                            &found[0])
        else:
            some = wrong_u16(scales[row], first, count, &codes[row, 0], &low[0], &least[0], &middle[0], &up[0],
                             &found[0])
        if number + some > most:
            raise ValueError(f"more than {most} steps have a wrong answer")
        for i in range(some):
            rows[number + i], steps[number + i] = row, found[i]
        number += some
    return np.asarray(rows)[:number], np.asarray(steps)[:number]


cdef int32_t check(const uint32_t[::1] scales, Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t codes) except -1:
    if rows != scales.shape[0] or columns != 3 * codes:
        raise ValueError("a row of 3 inputs for each code is wanted for each scale")
    return <int32_t>(codes - 1)
