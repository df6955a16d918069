# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The reference kernel for round(x / scale) + zero_point. The loops and why they are right: kernels/quotient.h."""

import numpy as np

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport fabs, isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memcmp

cdef extern from "kernels/quotient.h" nogil:
    enum:
        LINE
    ctypedef struct single_plan:
        float factor
    ctypedef struct double_plan:
        pass
    ctypedef struct request_t:
        int kind, working, mode, width, columns, wide, direct, brief
        size_t n
        const void *x
        single_plan single
        double_plan twice
        const double *operand
        void *out
    ctypedef struct count_t:
        const void *got
        size_t n
        int width, leaves
        int64_t zero_point, lowest, highest
    void plan_single(single_plan *p, const float *memory, size_t count)
    void plan_double(double_plan *p, const double *memory, size_t count)
    void prepare_single(single_plan *p, float *memory, size_t count, size_t i, float scale, int64_t zero_point,
                        int64_t lowest, int64_t highest, int mode)
    void prepare_double(double_plan *p, double *memory, size_t count, size_t i, double scale, int64_t zero_point,
                        int64_t lowest, int64_t highest)
    single_plan single_from(const single_plan *p, size_t at)
    double_plan double_from(const double_plan *p, size_t at)
    int path_runs(int path)
    void fetch_ahead(const void *memory, size_t size)
    void run_row(const request_t *r, int *wary, int path)
    void run_row_from(const request_t *r, uint32_t first, int *wary, int path)
    void run_fill(void *out, int width, uint32_t first, size_t n, int path)
    int64_t run_only_working(const void *got, const void *exact, const void *working, int width, size_t n, int path)
    int run_repeats(const uint8_t *bytes, size_t size, uint64_t word, int path)
    void run_count(const request_t *exact, const request_t *working, uint32_t first, const count_t *what,
                   int64_t *differ, int path)

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


cdef inline uintptr_t to_line(const void *memory) noexcept:
    """How many bytes it is to the next cache line, with which each array of a plan begins."""
    return -<uintptr_t>memory % (LINE * sizeof(float))


cdef class Parameters:
    """What the loops need for each scale and zero point; see round_quotients."""

    cdef single_plan single
    cdef double_plan twice
    cdef float[::1] floats
    cdef double[::1] doubles, operand
    cdef readonly bint wide, plain
    cdef bint brief  # results are so near zero that rests of floats can be found without fma
    cdef readonly int mode
    cdef readonly bint working
    cdef Py_ssize_t count, room

    def __cinit__(self, const double[::1] scale, const int64_t[::1] zero_point, bint wide, int mode, bint working,
                  int64_t lowest, int64_t highest):
        cdef Py_ssize_t i
        cdef int64_t most
        if scale.shape[0] != zero_point.shape[0] or not 0 <= mode < 9 or lowest > highest:
            raise ValueError("no such parameters")
        self.count, self.mode, self.working = scale.shape[0], mode, working
        self.wide, self.plain, self.brief = wide, not working, True
        self.operand = np.ones(self.count)
        for i in range(self.count):
            most = max(abs(lowest - zero_point[i]), abs(highest - zero_point[i]), abs(zero_point[i]))
            self.brief = self.brief and most <= MOST_BRIEF
            self.wide = self.wide or needs_doubles(scale[i], zero_point[i], working, lowest, highest)
        self.room = (self.count + LINE - 1) // LINE * LINE
        if self.wide:
            self.doubles = np.empty(5 * self.room + LINE)
            self.doubles = self.doubles[to_line(&self.doubles[0]) // sizeof(double):]
            plan_double(&self.twice, &self.doubles[0], self.room)
        else:
            self.floats = np.empty(7 * self.room + LINE, np.float32)
            self.floats = self.floats[to_line(&self.floats[0]) // sizeof(float):]
            plan_single(&self.single, &self.floats[0], self.room)
        for i in range(self.count):
            self.prepare(i, scale[i], zero_point[i], lowest, highest)

    cdef prepare(self, Py_ssize_t i, double s, int64_t z, int64_t lowest, int64_t highest):
        """Split a scale into a power of two or -1 that x is multiplied by (or in working form all of it), and the rest.

        x times a large power of two overflows only where the result is an end of the range anyway.
        """
        if not isfinite(s) or s == 0.0:
            s, z = 1.0, min(max(0, lowest), highest)
        elif self.working:
            self.operand[i], s = s, 1.0
        elif s < 0.0:
            self.operand[i], s = -1.0, -s
        if self.wide and s < 1e-270:  # so small that 1 / s overflows
            self.operand[i] *= TWO_200
            s *= TWO_200
        elif not self.wide and s < TWO_MINUS_100:  # so small that half of it may be no float
            self.operand[i] *= TWO_100
            s *= TWO_100
        self.plain = self.plain and self.operand[i] == 1.0
        if self.wide:
            prepare_double(&self.twice, &self.doubles[0], self.room, i, s, z, lowest, highest)
        else:
            prepare_single(&self.single, &self.floats[0], self.room, i, <float>s, z, lowest, highest, self.mode)


cdef double TWO_100 = 1.2676506002282294e30
cdef double TWO_MINUS_100 = 7.888609052210118e-31
cdef double TWO_200 = 1.6069380442589903e60
cdef int64_t MOST_BRIEF = <int64_t>1 << 39  # steps from zero


cdef bint needs_doubles(double scale, int64_t zero_point, bint working, int64_t lowest, int64_t highest) noexcept:
    """Whether results are too far from zero for floats, or the scale's inverse is no normal float."""
    if not isfinite(scale) or scale == 0.0:
        return False  # its elements are undefined: any scale will do
    if max(abs(lowest - zero_point), abs(highest - zero_point), abs(zero_point)) > 1 << 20:
        return True
    return not working and fabs(scale) > TWO_100


cdef class Bytes:
    """The memory of an array that is contiguous, without a view of other elements, which takes longer to make."""

    cdef Py_buffer view

    def __cinit__(self, array, bint writable=False):
        PyObject_GetBuffer(array, &self.view, PyBUF_WRITABLE if writable else PyBUF_SIMPLE)

    def __dealloc__(self):
        PyBuffer_Release(&self.view)


cdef enum:
    STRIP = 512  # columns whose parameters stay next to the core while rows go by
    TILE = 8  # rows that go by before the next strip: so few that their pages stay known to the processor
    AHEAD = 2  # rows that the fetching of x is ahead


def round_quotients(x, int kind, Parameters parameters, out, const int64_t[::1] starts, bint columns, int path=-1):
    """Fill `out` (integers of 1, 2, 4 or, if parameters.wide, 8 bytes) with round(x / scale) + zero_point, clamped.

    `x` (bit patterns of the kind: 0 float16, 1 bfloat16, 2 float32, 3 float64) and `out` are contiguous and of equal
    size: len(starts) rows. Row i uses the parameters from starts[i] on: one for each element if `columns`, else one
    for all. Elements whose x is not finite, or whose scale is 0 or not finite, give an arbitrary integer of the range.
    """
    cdef Py_ssize_t rows = starts.shape[0], size, width, row, strip, tile, top = 0, at, i
    cdef Bytes source = Bytes(x), target = Bytes(out, True)
    cdef request_t r
    cdef int wary = 0
    size, width = x.itemsize, out.itemsize
    if not 0 <= kind <= 3 or size != (8 if kind == 3 else 4 if kind == 2 else 2):
        raise ValueError("x is not of the kind")
    row = source.view.len // size
    if row * width != target.view.len or (rows and row % rows) or (width == 8 and not parameters.wide):
        raise ValueError("x, out and starts do not fit")
    if width not in (1, 2, 4, 8) or (row and not rows):
        raise ValueError("no such results")
    if path >= <int>len(PATHS) or (path >= 0 and not path_runs(path)):
        raise ValueError("no such loops: x is left as it is")
    if not row:
        return
    row //= rows
    check_starts(starts, columns * (row - 1), parameters.count)
    fill_request(&r, parameters, kind, width, columns)
    path = chosen if path < 0 else path
    strip, tile = (STRIP if columns else row), (TILE if columns else rows)
    with nogil:
        while top < rows:
            at = 0
            while at < row:
                r.n = min(strip, row - at)
                for i in range(top, min(top + tile, rows)):
                    r.x = <const char *>source.view.buf + (i * row + at) * size
                    r.out = <char *>target.view.buf + (i * row + at) * width
                    if columns and i + AHEAD < rows:
                        fetch_ahead(<const char *>r.x + AHEAD * row * size, r.n * size)
                    use_parameters(&r, parameters, starts[i] + (at if columns else 0))
                    run_row(&r, &wary, path)
                at += strip
            top += tile


cdef void fill_request(request_t *r, Parameters parameters, int kind, int width, bint columns) noexcept:
    r.kind, r.working, r.mode, r.columns, r.width = kind, parameters.working, parameters.mode, columns, width
    r.wide, r.brief = parameters.wide, kind != 3 and parameters.brief
    if parameters.wide:
        r.direct = kind == 2 and parameters.plain and r.brief
    else:
        r.direct = kind == 2 and (parameters.plain or not (parameters.working or columns))


cdef inline void use_parameters(request_t *r, Parameters parameters, Py_ssize_t at) noexcept nogil:
    """Those from number `at` on."""
    r.operand = &parameters.operand[at]
    if parameters.wide:
        r.twice = double_from(&parameters.twice, at)
    else:
        r.single = single_from(&parameters.single, at)
        r.single.factor = <float>parameters.operand[at]


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


def deviating_pieces(uint64_t first, const uint8_t[::1] got, int width, int kind, Parameters exact, Parameters working):
    """Numbers of the pieces, of PIECE consecutive patterns from `first` on, in which some result is neither form's.

    Then how many results of all other pieces are only the working form's. `got` holds integers of `width` bytes; kind
    is 0, 1 or 2, see round_quotients. There is one scale and zero point.
    """
    cdef uint32_t patterns[PIECE_]
    cdef uint8_t expected[4 * PIECE_]
    cdef uint8_t other[4 * PIECE_]
    cdef Py_ssize_t count = got.shape[0] // width, at = 0, n
    cdef request_t e, w
    cdef int64_t only, total = 0
    cdef int wary = 0
    check_patterns(got, width, kind, exact)
    check_patterns(got, width, kind, working)
    if not count or exact.working or not working.working:
        raise ValueError("no such results, or parameters")
    fill_request(&e, exact, kind, width, False)
    fill_request(&w, working, kind, width, False)
    use_parameters(&e, exact, 0)
    use_parameters(&w, working, 0)
    e.x, e.out, w.x, w.out = patterns, expected, patterns, other
    found = []
    while at < count:
        n = min(<Py_ssize_t>PIECE_, count - at)
        with nogil:
            e.n, w.n, only = n, n, 0
            if e.direct and not e.wide:
                run_row_from(&e, <uint32_t>(first + at), &wary, chosen)
            else:
                run_fill(patterns, 4 if kind == 2 else 2, <uint32_t>(first + at), n, chosen)
                run_row(&e, &wary, chosen)
            if memcmp(expected, &got[at * width], n * width):
                run_fill(patterns, 4 if kind == 2 else 2, <uint32_t>(first + at), n, chosen)
                run_row(&w, &wary, chosen)
                only = run_only_working(&got[at * width], expected, other, width, n, chosen)
        if only < 0:
            found.append(at // PIECE_)
        else:
            total += only
        at += n
    return found, total


cdef check_patterns(const uint8_t[::1] got, int width, int kind, Parameters parameters):
    if width not in (1, 2, 4) or not 0 <= kind < 3 or got.shape[0] % width:
        raise ValueError("no such results")
    check_starts(np.zeros(1, np.int64), 0, parameters.count)


def repeated(const uint8_t[::1] values, Py_ssize_t width):
    """The bytes of an element, `width` of them, if all elements are the same; else none."""
    cdef uint64_t word
    cdef Py_ssize_t i, n = values.shape[0]
    if width not in (1, 2, 4, 8) or n < width or n % width:
        raise ValueError("no such elements")
    for i in range(8):
        (<uint8_t *>&word)[i] = values[i % width]
    return (<char *>&word)[:width] if run_repeats(&values[0], n, word, chosen) else b""


def count_modes(uint64_t first, const uint8_t[::1] got, int width, int kind, Parameters exact, Parameters working,
                int64_t zero_point, int64_t lowest, int64_t highest, bint leaves, int64_t[::1] differ):
    """Add to `differ`, for each of the nine modes, the number of elements whose `got` is neither of its two results.

    `got` holds integers of `width` bytes, signed if `lowest` is negative, for consecutive patterns from `first` on,
    which are finite; kind is 0, 1 or 2, see round_quotients. There is one scale. The parameters are those of the exact
    and the working form, with bounds two beyond [lowest, highest]. With `leaves`, results outside the range are
    unspecified and do not count.
    """
    cdef request_t e, w
    cdef count_t what
    for parameters in (exact, working):
        check_patterns(got, width, kind, parameters)
    if exact.wide != working.wide or exact.working or not working.working or not exact.brief or differ.shape[0] != 9:
        raise ValueError("parameters do not fit")
    if not got.shape[0]:
        return
    fill_request(&e, exact, kind, width, False)
    fill_request(&w, working, kind, width, False)
    use_parameters(&e, exact, 0)
    use_parameters(&w, working, 0)
    what.got, what.n, what.width, what.leaves = &got[0], got.shape[0] // width, width, leaves
    what.zero_point, what.lowest, what.highest = zero_point, lowest, highest
    with nogil:
        run_count(&e, &w, <uint32_t>first, &what, &differ[0], chosen)
