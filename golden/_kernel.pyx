# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The reference kernel's inner loop. It works in binary floating point and never asks the oracle.

Why one correctly rounded double division is enough for the exact form. Let Q be the real quotient of two values of
the input's type and q = fl(Q) in double. Rounding is monotonic, so for any double b: q < b implies Q < b, and q > b
implies Q > b. Every decision boundary of the nine modes is an integer or a half-integer, hence a double; only where
q is exactly such a boundary can Q lie on either side of it, and there the sign of the remainder x - q*s decides. One
fma gives that sign exactly: it rounds once, and cannot underflow (float64 operands so small are scaled up first).
"""

from libc.math cimport INFINITY, NAN, copysign, fabs, floor, fma, frexp, isfinite, ldexp, rint
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

ctypedef fused bits_t:
    uint16_t
    uint32_t
    uint64_t

cdef enum:
    FLOAT16 = 0
    BFLOAT16 = 1
    FLOAT32 = 2
    FLOAT64 = 3

cdef enum:
    NEAREST_TOWARD_INFINITY = 0
    NEAREST_TOWARD_ZERO = 1
    NEAREST_UPWARD = 2
    NEAREST_DOWNWARD = 3
    NEAREST_TOWARD_EVEN = 4
    TOWARD_INFINITY = 5
    TOWARD_ZERO = 6
    UP = 7
    DOWN = 8

cdef enum:
    IN_RANGE = 0
    OUT_OF_RANGE = 1
    UNDEFINED = 2

cdef enum:
    BELOW_HALF = 1
    HALF = 2
    ABOVE_HALF = 3

# Beyond this every result is outside every supported type, whatever the zero point; below it doubles are exact enough
# to tell integers from half-integers.
cdef double LIMIT = 1099511627776.0  # 2**40


cdef inline double widen(uint64_t bits, int kind) noexcept nogil:
    """The value of a bit pattern as a double; exact for all four types."""
    cdef uint32_t word
    cdef float single
    cdef double value
    if kind == FLOAT64:
        memcpy(&value, &bits, 8)
        return value
    if kind == FLOAT16:
        return widen_half(<uint32_t>bits)
    word = <uint32_t>bits << 16 if kind == BFLOAT16 else <uint32_t>bits
    memcpy(&single, &word, 4)
    return single


cdef inline double widen_half(uint32_t bits) noexcept nogil:
    cdef int exponent = (bits >> 10) & 31
    cdef double magnitude = bits & 1023
    if exponent == 31:
        magnitude = NAN if magnitude else INFINITY
    elif exponent == 0:
        magnitude = ldexp(magnitude, -24)
    else:
        magnitude = ldexp(magnitude + 1024.0, exponent - 25)
    return -magnitude if bits >> 15 else magnitude


cdef inline double narrow(double q, int precision, int emin, double largest) noexcept nogil:
    """A double rounded to a narrower type (ties to even), as a double.

    Rounding a quotient of p-bit operands twice is the same as once when the first precision is at least 2p + 2.
    """
    cdef int exponent
    if q == 0.0 or not isfinite(q):
        return q
    frexp(q, &exponent)
    exponent = max(exponent - 1, emin) - (precision - 1)
    q = ldexp(rint(ldexp(q, -exponent)), exponent)
    return copysign(INFINITY, q) if fabs(q) > largest else q


cdef inline double working_quotient(double x, double s, int kind) noexcept nogil:
    """x / s correctly rounded in the operands' own type."""
    cdef float single
    if kind == FLOAT64:
        return x / s
    if kind == FLOAT32:
        single = <float>x / <float>s
        return single
    if kind == FLOAT16:
        return narrow(x / s, 11, -14, 65504.0)
    return narrow(x / s, 8, -126, 3.3895313892515355e38)


cdef inline int side_of(double q, double x, double s) noexcept nogil:
    """-1, 0 or 1: the real quotient x / s is below, at or above q, its double rounding; |q| < LIMIT."""
    cdef double remainder
    if fabs(s) < 1e-270:  # so small that x - q*s could underflow; both scalings are exact
        x *= 1.6069380442589903e60  # 2**200
        s *= 1.6069380442589903e60
    remainder = fma(-q, s, x)
    if remainder == 0.0:
        return 0
    return 1 if (remainder > 0.0) == (s > 0.0) else -1


cdef inline bint is_boundary(double q) noexcept nogil:
    return floor(2.0 * q) == 2.0 * q


cdef inline bint take_upper(int64_t below, int part, int mode) noexcept nogil:
    """Whether an argument strictly between `below` and `below` + 1 rounds to the upper one."""
    if mode == TOWARD_ZERO:
        return below < 0
    if mode == TOWARD_INFINITY:
        return below >= 0
    if mode == UP or mode == DOWN:
        return mode == UP
    if part != HALF:
        return part == ABOVE_HALF
    if mode == NEAREST_TOWARD_EVEN:
        return below & 1
    if mode == NEAREST_TOWARD_INFINITY:
        return below >= 0
    if mode == NEAREST_TOWARD_ZERO:
        return below < 0
    return mode == NEAREST_UPWARD


cdef inline int64_t round_argument(double q, int side, int mode) noexcept nogil:
    """The integer for an argument that is q, or infinitesimally above (side 1) or below (side -1) it.

    The fraction is taken of |q|: q - floor(q) is not exact for a q just above -1/2.
    """
    cdef bint negative = q < 0.0 or (q == 0.0 and side < 0)
    cdef double whole = floor(fabs(q))
    cdef double fraction = fabs(q) - whole
    cdef int64_t below = <int64_t>whole
    cdef int part = BELOW_HALF
    if negative:
        side = -side
    if fraction == 0.0:
        if side == 0:
            return -below if negative else below
        if side < 0:
            below -= 1
            part = ABOVE_HALF
    elif fraction == 0.5:
        part = HALF + side
    elif fraction > 0.5:
        part = ABOVE_HALF
    if negative:  # |Q| in (below, below + 1) is Q in (-below - 1, -below), its halves exchanged
        below = -below - 1
        part = 2 * HALF - part
    return below + take_upper(below, part, mode)


def subnormals_flushed():
    """Whether this thread flushes subnormal results or operands to zero, which would falsify the kernel."""
    cdef volatile double tiny = 2.2250738585072014e-308
    cdef volatile double half = tiny * 0.5
    cdef volatile double back = half * 2.0
    return back != tiny


def quantize(
    const bits_t[::1] x,
    const bits_t[::1] scale,
    const int64_t[::1] zero_point,
    int kind,
    int mode,
    bint working,
    int64_t lowest,
    int64_t highest,
    int64_t[::1] values,
    uint8_t[::1] state,
):
    """Fill values and state; scale and zero_point have one element or as many as x."""
    cdef Py_ssize_t i, j, n = x.shape[0]
    cdef Py_ssize_t step = 0 if scale.shape[0] == 1 else 1
    cdef double a, s, q
    cdef int64_t result
    with nogil:
        for i in range(n):
            j = i * step
            a, s = widen(x[i], kind), widen(scale[j], kind)
            if s == 0.0 or not isfinite(a) or not isfinite(s):
                values[i], state[i] = 0, UNDEFINED
                continue
            q = working_quotient(a, s, kind) if working else a / s
            if fabs(q) < LIMIT:
                result = round_argument(q, 0 if working or not is_boundary(q) else side_of(q, a, s), mode)
                result += zero_point[j]
            else:
                result = highest + 1 if q > 0.0 else lowest - 1
            state[i] = IN_RANGE if lowest <= result <= highest else OUT_OF_RANGE
            values[i] = min(max(result, lowest), highest)
