# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The reference kernel for round(x / scale) + zero_point. The loops and why they are right: kernels/quotient.h."""

import numpy as np

from libc.math cimport fabs, isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp

cdef extern from "kernels/quotient.h" nogil:
    ctypedef struct single_plan:
        pass
    ctypedef struct double_plan:
        pass
    ctypedef struct request_t:
        int kind, working, mode, width, columns, wide, direct
        size_t n
        const void *x
        const single_plan *single
        const double_plan *twice
        const double *operand
        void *out
    void prepare_single(single_plan *p, float scale, int64_t zero_point, int64_t lowest, int64_t highest, int mode)
    void prepare_double(double_plan *p, double scale, int64_t zero_point, int64_t lowest, int64_t highest, int mode)
    int path_runs(int path)
    void run_row(const request_t *r, int path)
    void run_row_from(const request_t *r, uint32_t first, int path)
    void run_fill(void *out, int width, uint32_t first, size_t n, int path)
    void run_count(const request_t *exact, const request_t *working, const void *got, int64_t zero_point,
                   int64_t lowest, int64_t highest, int leaves, int64_t *differ, int path)

cdef enum:
    IN_RANGE = 0
    OUT_OF_RANGE = 1
    UNDEFINED = 2

PATHS = ("baseline", "avx2", "avx512")
cdef int chosen = max(path for path in range(len(PATHS)) if path_runs(path))


def available_paths():
    """Names of the instruction sets whose loops run on this processor."""
    return tuple(name for path, name in enumerate(PATHS) if path_runs(path))


def chosen_path():
    return PATHS[chosen]


def choose_path(str name):
    """Use these loops from now on, in all threads; for tests and benchmarks."""
    global chosen
    if name not in available_paths():
        raise ValueError(f"no {name} here; available: {', '.join(available_paths())}")
    chosen = PATHS.index(name)


def subnormals_flushed():
    """Whether this thread flushes subnormal results or operands to zero, which would falsify the kernel."""
    cdef volatile double tiny = 2.2250738585072014e-308
    cdef volatile double half = tiny * 0.5
    cdef volatile double back = half * 2.0
    return back != tiny


cdef class Parameters:
    """What the loops need for each scale and zero point; see round_quotients."""

    cdef single_plan *single
    cdef double_plan *twice
    cdef double[::1] operand
    cdef readonly bint wide, plain
    cdef readonly int mode
    cdef readonly bint working
    cdef Py_ssize_t count

    def __cinit__(self, const double[::1] scale, const int64_t[::1] zero_point, bint wide, int mode, bint working,
                  int64_t lowest, int64_t highest):
        cdef Py_ssize_t i
        cdef double s
        cdef int64_t z
        if scale.shape[0] != zero_point.shape[0] or not 0 <= mode < 9 or lowest > highest:
            raise ValueError("no such parameters")
        self.count, self.mode, self.working = scale.shape[0], mode, working
        self.single, self.twice = NULL, NULL
        self.operand = np.ones(self.count)
        self.wide, self.plain = wide, not working
        for i in range(self.count):
            s = fabs(scale[i])
            if not isfinite(s) or s == 0.0:
                continue  # its elements are undefined: any scale will do
            if max(abs(lowest - zero_point[i]), abs(highest - zero_point[i])) > 1 << 20:
                self.wide = True
            if not working and not 7.888609052210118e-31 <= s <= 1.2676506002282294e30:  # 2**-100, 2**100
                self.wide = True
        if self.wide:
            self.twice = <double_plan *>malloc(max(1, self.count) * sizeof(double_plan))
        else:
            self.single = <single_plan *>malloc(max(1, self.count) * sizeof(single_plan))
        if self.twice == NULL and self.single == NULL:
            raise MemoryError
        for i in range(self.count):
            s, z = scale[i], zero_point[i]
            if not isfinite(s) or s == 0.0:
                s, z = 1.0, min(max(0, lowest), highest)
            elif working:
                self.operand[i], s = s, 1.0
            elif s < 0.0:
                self.operand[i], s = -1.0, -s
            if self.wide and s < 1e-270:  # so small that 1 / s overflows; x and s both times 2**200, which is exact
                self.operand[i] *= 1.6069380442589903e60
                s *= 1.6069380442589903e60
            self.plain = self.plain and self.operand[i] == 1.0
            if self.wide:
                prepare_double(&self.twice[i], s, z, lowest, highest, mode)
            else:
                prepare_single(&self.single[i], <float>s, z, lowest, highest, mode)

    def __dealloc__(self):
        free(self.single)
        free(self.twice)


def round_quotients(x, int kind, Parameters parameters, out, const int64_t[::1] starts, bint columns, int path=-1):
    """Fill `out` (integers of 1, 2, 4 or, if parameters.wide, 8 bytes) with round(x / scale) + zero_point, clamped.

    `x` (bit patterns of the kind: 0 float16, 1 bfloat16, 2 float32, 3 float64) and `out` are contiguous and of equal
    size: len(starts) rows. Row i uses the parameters from starts[i] on: one for each element if `columns`, else one
    for all. Elements whose x is not finite, or whose scale is 0 or not finite, give an arbitrary integer of the range.
    """
    cdef Py_ssize_t rows = starts.shape[0], i, row
    cdef const uint8_t[::1] source = x.view(np.uint8)
    cdef uint8_t[::1] target = out.view(np.uint8)
    cdef request_t r
    cdef int size = x.itemsize
    check_kind(x, kind)
    if x.size != out.size or (rows and x.size % rows) or (out.itemsize == 8 and not parameters.wide):
        raise ValueError("x, out and starts do not fit")
    if out.itemsize not in (1, 2, 4, 8) or (x.size and not rows):
        raise ValueError("no such results")
    if path >= len(PATHS) or (path >= 0 and not path_runs(path)):
        raise ValueError("no such loops: x is left as it is")
    if not x.size:
        return
    row = x.size // rows
    check_starts(starts, columns * (row - 1), parameters.count)
    r.kind, r.working, r.mode, r.columns = kind, parameters.working, parameters.mode, columns
    r.width, r.wide, r.n = out.itemsize, parameters.wide, row
    r.direct = kind == 2 and parameters.plain and not parameters.wide
    path = chosen if path < 0 else path
    with nogil:
        for i in range(rows):
            r.x, r.out = &source[i * row * size], &target[i * row * r.width]
            r.operand = &parameters.operand[starts[i]]
            r.single = NULL if parameters.wide else parameters.single + starts[i]
            r.twice = parameters.twice + starts[i] if parameters.wide else NULL
            run_row(&r, path)


cdef check_kind(x, int kind):
    if not 0 <= kind <= 3 or x.itemsize != (2, 2, 4, 8)[kind]:
        raise ValueError("x is not of the kind")


cdef check_starts(const int64_t[::1] starts, Py_ssize_t further, Py_ssize_t count):
    cdef Py_ssize_t i
    for i in range(starts.shape[0]):
        if starts[i] < 0 or starts[i] + further >= count:
            raise ValueError("a row without parameters")


ctypedef fused integer_t:
    int32_t
    int64_t

ctypedef fused bits_t:
    uint16_t
    uint32_t
    uint64_t


def settle(const integer_t[::1] codes, const bits_t[::1] x, uint64_t infinity, const uint8_t[::1] defined,
           const int64_t[::1] starts, bint columns, int64_t lowest, int64_t highest, int64_t[::1] values,
           uint8_t[::1] state):
    """Values and states from codes that were clamped one beyond both ends.

    `infinity` is the bit pattern from which magnitudes are not finite, `defined` whether each scale is finite and not
    zero.
    """
    cdef Py_ssize_t i, j, row = x.shape[0] // starts.shape[0] if starts.shape[0] else 0, at = 0
    cdef uint64_t magnitude = (<uint64_t>1 << (8 * sizeof(bits_t) - 1)) - 1
    cdef int64_t code
    if not x.shape[0]:
        return
    if not codes.shape[0] == values.shape[0] == state.shape[0] == x.shape[0] or row * starts.shape[0] != x.shape[0]:
        raise ValueError("codes, x, values, state and starts do not fit")
    check_starts(starts, columns * (row - 1), defined.shape[0])
    with nogil:
        for i in range(starts.shape[0]):
            for j in range(row):
                code = codes[at]
                if (x[at] & magnitude) >= infinity or not defined[starts[i] + (j if columns else 0)]:
                    values[at], state[at] = 0, UNDEFINED  # NGQ-U2, NGQ-U3, NGQ-U4, ONQ-U1, ONQ-U2, ONQ-U3
                else:
                    state[at] = IN_RANGE if lowest <= code <= highest else OUT_OF_RANGE
                    values[at] = min(max(code, lowest), highest)  # NGQ-U1, ONQ-C1
                at += 1


ctypedef fused pattern_t:
    uint16_t
    uint32_t


def fill_patterns(pattern_t[::1] out, uint64_t first):
    """Consecutive bit patterns from `first` on."""
    if out.shape[0]:
        with nogil:
            run_fill(&out[0], sizeof(pattern_t), <uint32_t>first, out.shape[0], chosen)


cdef enum:
    PIECE_ = 8192  # patterns, results and their expectations stay in the caches next to a core

PIECE = PIECE_


def differing_pieces(uint64_t first, const uint8_t[::1] got, int width, int kind, Parameters parameters):
    """Numbers of the pieces (of PIECE consecutive patterns from `first` on) in which `got` differs from the result.

    `got` holds integers of `width` bytes; kind is 0, 1 or 2, see round_quotients; one scale and zero point for all.
    """
    cdef uint32_t patterns[PIECE_]
    cdef uint8_t expected[8 * PIECE_]
    cdef Py_ssize_t count = got.shape[0] // width, at = 0, n
    cdef request_t r
    cdef int same
    if width not in (1, 2, 4) or not 0 <= kind < 3 or not count:
        raise ValueError("no such results")
    check_starts(np.zeros(1, np.int64), 0, parameters.count)
    r.kind, r.working, r.mode, r.columns, r.width, r.wide = kind, parameters.working, parameters.mode, 0, width, \
        parameters.wide
    r.direct = kind == 2 and parameters.plain and not parameters.wide
    r.x, r.out, r.operand = patterns, expected, &parameters.operand[0]
    r.single, r.twice = parameters.single, parameters.twice
    found = []
    while at < count:
        n = min(<Py_ssize_t>PIECE_, count - at)
        with nogil:
            r.n = n
            if r.direct:
                run_row_from(&r, <uint32_t>(first + at), chosen)
            else:
                run_fill(patterns, 4 if kind == 2 else 2, <uint32_t>(first + at), n, chosen)
                run_row(&r, chosen)
            same = memcmp(expected, &got[at * width], n * width) == 0
        if not same:
            found.append(at // PIECE_)
        at += n
    return found


def uniform(const uint8_t[::1] values, Py_ssize_t width):
    """Whether all elements, of `width` bytes each, are the same."""
    cdef Py_ssize_t n = values.shape[0]
    if width < 1:
        raise ValueError("no such width")
    return n <= width or memcmp(&values[0], &values[width], n - width) == 0


def count_modes(x, int kind, Parameters exact, Parameters working, got, int64_t zero_point, int64_t lowest,
                int64_t highest, bint leaves, int64_t[::1] differ):
    """Add to `differ`, for each of the nine modes, the number of elements whose `got` is neither of its two results.

    There is one scale. The parameters are those of the exact and the working form, with bounds two beyond [lowest,
    highest]. `got` is int64 if they are wide, else int32. With `leaves`, results outside the range are unspecified and
    do not count. Every x is finite.
    """
    cdef const uint8_t[::1] source = x.view(np.uint8), came = got.view(np.uint8)
    cdef request_t e, w
    check_kind(x, kind)
    if exact.wide != working.wide or exact.working or not working.working or differ.shape[0] != 9:
        raise ValueError("parameters do not fit")
    if got.size != x.size or got.itemsize != (8 if exact.wide else 4) or not x.size:
        raise ValueError("results do not fit")
    check_starts(np.zeros(1, np.int64), 0, min(exact.count, working.count))
    e.kind = w.kind = kind
    e.columns = w.columns = 0
    e.n = w.n = x.size
    e.wide = w.wide = exact.wide
    e.working, w.working = False, True
    e.x = w.x = &source[0]
    e.operand, w.operand = &exact.operand[0], &working.operand[0]
    e.single, e.twice = exact.single, exact.twice
    w.single, w.twice = working.single, working.twice
    with nogil:
        run_count(&e, &w, &came[0], zero_point, lowest, highest, leaves, &differ[0], chosen)
