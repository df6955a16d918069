# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Least inputs of an arithmetic's decisions, and how many inputs get other codes than another one's; in all_scales.h.

Neither the oracle nor the reference kernel is used here.
"""

import numpy as np

from tiebreak.golden.errors import MachineryFailed

from libc.stdint cimport int32_t, uint32_t

cdef extern from "all_scales.h" nogil:
    ctypedef struct side_t:
        int kind
        float added
        float first
        float last
        const double *start
        const double *least
    int flushes_subnormals()
    void count_differing(const side_t *left, const side_t *right, size_t decisions, const uint32_t *scales, size_t n,
                         uint32_t *counts)
    void least_inputs_of(const side_t *side, size_t decisions, uint32_t scale, int32_t *to)

# By precision and scaling, in the order of the enumeration in all_scales.h.
KINDS = {
    pair: number
    for number, pair in enumerate(
        (
            ("exact", "divide"),
            ("float32", "divide"),
            ("float64", "divide"),
            ("float32", "reciprocal"),
            ("float64", "reciprocal"),
            ("float64", "narrow-reciprocal"),
            ("float32", "fused"),
            ("float32", "range"),
            ("float32", "range-multiplied"),
            ("float32", "range-fused"),
        )
    )
}


cdef class Side:
    """One arithmetic: its kind, its numbers, and what each decision asks (float64 arrays of the same length)."""

    cdef side_t side
    cdef readonly object start, least

    def __init__(self, int kind, double added, double first, double last, const double[::1] start,
                 const double[::1] least):
        if not 0 <= kind < len(KINDS):
            raise ValueError(f"kind {kind} of {len(KINDS)}")
        if start.shape[0] != least.shape[0] or not start.shape[0]:
            raise ValueError(f"{start.shape[0]} and {least.shape[0]} decisions")
        self.start, self.least = np.asarray(start), np.asarray(least)  # kept alive
        self.side.kind, self.side.added = kind, <float>added
        self.side.first, self.side.last = <float>first, <float>last
        self.side.start, self.side.least = &start[0], &least[0]

    def __len__(self):
        return len(self.start)


cdef check_subnormals():
    if flushes_subnormals():
        raise MachineryFailed("this thread's floating-point mode flushes subnormal numbers: no count would be right")


def differing(Side left, Side right, const uint32_t[::1] scales):
    """For each scale (bit patterns, positive and finite) the number of inputs (uint32) whose codes differ."""
    cdef size_t n = scales.shape[0], decisions = len(left)
    check_subnormals()
    found = np.zeros(n, np.uint32)
    cdef uint32_t[::1] to = found
    if <size_t>len(right) != decisions:
        raise ValueError(f"{decisions} decisions and {len(right)}")
    if n:
        with nogil:
            count_differing(&left.side, &right.side, decisions, &scales[0], n, &to[0])
    return found


def least_inputs(Side side, uint32_t scale):
    """The least input (an ordinal, int32) that passes each decision at one scale (a bit pattern)."""
    check_subnormals()
    found = np.empty(len(side), np.int32)
    cdef int32_t[::1] to = found
    cdef size_t decisions = len(side)
    with nogil:
        least_inputs_of(&side.side, decisions, scale, &to[0])
    return found
