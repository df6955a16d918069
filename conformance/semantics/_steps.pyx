# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The steps of semantics that an audit repeats for millions of inputs; steps.h has the loops.

These are predictions to compare with a backend, never truths: neither the oracle nor the reference kernel uses them.
"""

import numpy as np

from tiebreak.golden.rounding import ROUND_MODES

from libc.stdint cimport int64_t, uint32_t

cdef extern from "steps.h" nogil:
    ctypedef struct range_t:
        double lowest
        double highest
        int bits
    ctypedef struct intervals_t:
        int64_t *low
        int64_t *high
        double *below
        double *above
        size_t below_step
        size_t above_step
    void round_doubles(const double *v, double *to, size_t n, int mode)
    void saturate_doubles(const double *w, const int64_t *z, int each, range_t r, int kind, int64_t *codes,
                          double *stages, size_t n)
    void sum_doubles(const double *w, const int64_t *z, int each, range_t r, int kind, double *sums, size_t n)
    void add_to_odd(const double *products, const double *added, int each, double *sums, size_t n)
    void bits_of_singles(const uint32_t *v, int64_t nan_code, int64_t *codes, size_t n)
    void words_of_ordinals(const int64_t *ordinals, uint32_t *words, size_t n)
    int some_fall(const double *a, const double *b, size_t n)
    int some_differ(const int64_t *a, const int64_t *b, size_t n)
    size_t keep_open_halves(intervals_t start, int64_t *middle, double *stages, size_t step, size_t n, size_t rows,
                            intervals_t to)

# In the order of the two enumerations in steps.h.
MODES = {name: number for number, name in enumerate(ROUND_MODES)}
SUMS = {  # with a half, in a precision
    (name, precision): 9 + number + 3 * (precision == "float32")
    for number, name in enumerate(("floor-of-half-more", "adds-half-and-truncates", "half-added-to-magnitude"))
    for precision in ("float64", "float32")
}
SATURATIONS = {
    name: number
    for number, name in enumerate(
        (
            "saturate",
            "wrap",
            "narrow-range",
            "clamp-first",
            "clamp-first-then-wrap",
            "int32",
            "int32-then-wrap",
            "int32-then-wider-sum",
            "int64",
            "int64-then-wider-sum",
            "float32",
            "float32-then-cast",
            "sum-int32-then-wrap",
            "sum-int64-then-wrap",
        )
    )
}


def rounded(const double[::1] values, int number):
    """Whole numbers as float64; `number` is a value of MODES or SUMS."""
    cdef Py_ssize_t n = values.shape[0]
    found = np.empty(n)
    cdef double[::1] to = found
    if n:
        with nogil:
            round_doubles(&values[0], &to[0], n, number)
    return found


def saturated(const double[::1] whole, const int64_t[::1] zero_point, double lowest, double highest, int bits,
              int kind):
    """Codes (int64) and stages (float64); one zero point, or one for each number; `kind` is one of SATURATIONS."""
    cdef Py_ssize_t n = whole.shape[0]
    cdef bint each = zero_point.shape[0] != 1
    cdef range_t r
    if each and zero_point.shape[0] != n:
        raise ValueError(f"{zero_point.shape[0]} zero points for {n} numbers")
    r.lowest, r.highest, r.bits = lowest, highest, bits
    codes, stages = np.empty(n, np.int64), np.empty(n)
    cdef int64_t[::1] c = codes
    cdef double[::1] s = stages
    if n:
        with nogil:
            saturate_doubles(&whole[0], &zero_point[0], each, r, kind, &c[0], &s[0], n)
    return codes, stages


def sums(const double[::1] whole, const int64_t[::1] zero_point, double lowest, double highest, int kind):
    """As saturated, the sums (float64) that are clamped to the type's range in the end."""
    cdef Py_ssize_t n = whole.shape[0]
    cdef bint each = zero_point.shape[0] != 1
    cdef range_t r
    if each and zero_point.shape[0] != n:
        raise ValueError(f"{zero_point.shape[0]} zero points for {n} numbers")
    r.lowest, r.highest = lowest, highest
    found = np.empty(n)
    cdef double[::1] to = found
    if n:
        with nogil:
            sum_doubles(&whole[0], &zero_point[0], each, r, kind, &to[0], n)
    return found


def odd_sums(const double[::1] products, const double[::1] added):
    """Exact products plus one number, or one for each, rounded to odd: rounding again to fewer digits does no harm."""
    cdef Py_ssize_t n = products.shape[0]
    cdef bint each = added.shape[0] != 1
    if each and added.shape[0] != n:
        raise ValueError(f"{added.shape[0]} numbers for {n} products")
    sums = np.empty(n)
    cdef double[::1] s = sums
    if n:
        with nogil:
            add_to_odd(&products[0], &added[0], each, &s[0], n)
    return sums


def codes_of_singles(const uint32_t[::1] bits, int64_t nan_code):
    """The bits of float32 numbers as int64, with one NaN and one zero."""
    cdef Py_ssize_t n = bits.shape[0]
    codes = np.empty(n, np.int64)
    cdef int64_t[::1] c = codes
    if n:
        with nogil:
            bits_of_singles(&bits[0], nan_code, &c[0], n)
    return codes


def words32(const int64_t[::1] ordinals):
    """The bits (uint32) of float32 numbers counted from 0 in both directions."""
    cdef Py_ssize_t n = ordinals.shape[0]
    words = np.empty(n, np.uint32)
    cdef uint32_t[::1] w = words
    if n:
        with nogil:
            words_of_ordinals(&ordinals[0], &w[0], n)
    return words


def never_falls(const double[::1] below, const double[::1] above):
    """Whether no stage falls from one array to the other; false if one is NaN."""
    cdef Py_ssize_t n = below.shape[0]
    cdef bint falls = False
    if above.shape[0] != n:
        raise ValueError(f"{n} stages and {above.shape[0]}")
    if n:
        with nogil:
            falls = some_fall(&below[0], &above[0], n)
    return not falls


def same(const int64_t[::1] codes, const int64_t[::1] others):
    """Whether two arrays of codes are equal."""
    cdef Py_ssize_t n = codes.shape[0]
    cdef bint differ = False
    if others.shape[0] != n:
        raise ValueError(f"{n} codes and {others.shape[0]}")
    if n:
        with nogil:
            differ = some_differ(&codes[0], &others[0], n)
    return not differ


def open_halves(int64_t[::1] low, int64_t[::1] high, double[:, :] below, double[:, :] above,
                int64_t[::1] middle, double[:, :] stages,
                int64_t[::1] to_low, int64_t[::1] to_high, double[:, :] to_below, double[:, :] to_above):
    """Writes the lower halves of intervals, then the upper ones, but only those that may hold a change; their number.

    An interval has two ends and the stages (rows) at both; `middle` splits it. The last four are written to.
    """
    cdef size_t n = low.shape[0], rows = stages.shape[0], room = 2 * n + 1, count = 0, length
    cdef intervals_t start, to
    for length in (high.shape[0], middle.shape[0], below.shape[1], above.shape[1], stages.shape[1]):
        if length != n:
            raise ValueError(f"{n} intervals and {length}")
    for length in (to_low.shape[0], to_high.shape[0], to_below.shape[1], to_above.shape[1]):
        if length < room:
            raise ValueError(f"{n} intervals need room for {room}, not {length}")
    if not below.shape[0] == above.shape[0] == rows <= min(to_below.shape[0], to_above.shape[0]):
        raise ValueError(f"{rows} stages, {below.shape[0]} and {above.shape[0]}")
    for length in (below.strides[1], above.strides[1], stages.strides[1], to_below.strides[1], to_above.strides[1]):
        if length != sizeof(double):
            raise ValueError("the stages of a row are not next to each other")
    if n and rows:
        start.low, start.high, start.below, start.above = &low[0], &high[0], &below[0, 0], &above[0, 0]
        start.below_step, start.above_step = below.strides[0] // sizeof(double), above.strides[0] // sizeof(double)
        to.low, to.high, to.below, to.above = &to_low[0], &to_high[0], &to_below[0, 0], &to_above[0, 0]
        to.below_step, to.above_step = to_below.strides[0] // sizeof(double), to_above.strides[0] // sizeof(double)
        length = stages.strides[0] // sizeof(double)
        with nogil:
            count = keep_open_halves(start, &middle[0], &stages[0, 0], length, n, rows, to)
    return count
