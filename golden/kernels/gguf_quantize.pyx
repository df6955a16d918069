# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""gguf.Quantize in doubles.

Exactly, an element is the greatest integer k with (2k - o) * |amax| <= 2 * n * |x|, or that with x's sign, where n is
127 or 8 and o is odd and below 32. Both sides have at most 33 bits, so they are doubles, and comparing them needs no
quotient: that only says where to begin. A scale is the quotient of a float32 by 127 or 8. It is never nearer than
2^-32 of itself to a number halfway between two float16, unless it is that number.
"""

import numpy as np

from tiebreak.golden.kernels import tensors
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED, ZERO

from libc.math cimport INFINITY, copysign, fabs, floor, isfinite, signbit, trunc
from libc.stdint cimport int64_t, uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow, pattern

cdef double EIGHT = 8.0, MOST_BYTE = 127.0, MOST_NIBBLE = 15.0


cdef double step_of(double amax, bint nibbles) noexcept nogil:
    """The scale d, rounded to double."""
    if nibbles:
        return -amax / EIGHT  # GGQ-F2
    return fabs(amax) / MOST_BYTE  # GGQ-F1


cdef double highest(double guess, double odd, double unit, double twice) noexcept nogil:
    """The greatest integer k with (2k - odd) * unit <= twice, found near `guess`."""
    cdef double k = guess
    while (2.0 * k - odd) * unit > twice:
        k -= 1.0
    while (2.0 * (k + 1.0) - odd) * unit <= twice:
        k += 1.0
    return k


cdef double exact_nibble(double x, double amax) noexcept nogil:
    """trunc(x / d + 8.5) of d = amax / -8; the sum is never below 0.5."""
    cdef double scaled = -EIGHT * copysign(1.0, amax) * x, unit = fabs(amax)
    return highest(floor(scaled / unit + 8.5), 17.0, unit, 2.0 * scaled)  # GGQ-F3, GGQ-F5, GGQ-R2


cdef double exact_byte(double x, double amax) noexcept nogil:
    """round(x / d) of d = |amax| / 127, by magnitude."""
    cdef double scaled = MOST_BYTE * fabs(x), unit = fabs(amax)
    return copysign(highest(floor(scaled / unit + 0.5), 1.0, unit, 2.0 * scaled), x)  # GGQ-F3, GGQ-R1


cdef double away(double value) noexcept nogil:
    """A float32 rounded to nearest, ties away from zero: half more is a double."""
    return copysign(floor(fabs(value) + 0.5), value)


cdef double working_element(double x, double factor, bint nibbles, Format single) noexcept nogil:
    cdef double product = narrow(x * factor, single)  # GGQ-F3
    if nibbles:
        return trunc(narrow(product + 8.5, single))  # GGQ-F5, GGQ-R2
    return away(product)  # GGQ-R1


cdef loop(const double[::1] x, const double[::1] amax, bint nibbles, bint working, Format single,
          int64_t[::1] codes, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef double step, factor, found
    cdef uint8_t in_range = IN_RANGE, out_of_range = OUT_OF_RANGE
    for i in range(x.shape[0]):
        if not isfinite(x[i]) or not isfinite(amax[i]):  # GGQ-U1
            continue
        step = narrow(step_of(amax[i], nibbles), single)
        factor = 0.0 if step == 0.0 else narrow(1.0 / step, single)  # GGQ-F4
        if not isfinite(factor):  # GGQ-U3
            continue
        if working or factor == 0.0:
            found = working_element(x[i], factor, nibbles, single)
        else:
            found = exact_nibble(x[i], amax[i]) if nibbles else exact_byte(x[i], amax[i])
        states[i] = out_of_range if nibbles and found > MOST_NIBBLE else in_range
        codes[i] = <int64_t>(MOST_NIBBLE if states[i] else found)  # GGQ-C1


cdef scale_loop(const double[::1] amax, bint nibbles, bint working, Format single, Format half,
                int64_t[::1] codes, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef double step, magnitude
    cdef int64_t sign = 1 << 15, infinity = 31 << 10
    cdef uint8_t in_range = IN_RANGE, zero = ZERO
    for i in range(amax.shape[0]):
        if not isfinite(amax[i]):  # GGQ-U1
            continue
        step = step_of(amax[i], nibbles)
        if working:
            step = narrow(step, single)
        magnitude = fabs(narrow(step, half))  # GGQ-F6, GGQ-R3
        codes[i] = infinity if magnitude == INFINITY else pattern(magnitude, half)
        states[i] = in_range if codes[i] else zero  # GGQ-U4
        if codes[i] and signbit(step):
            codes[i] |= sign


def solved(problem):
    """Operands as doubles, and room for codes and states."""
    found = [tensors.doubles(o, kind) for o, kind in zip(problem.operands, problem.kinds)]
    return found, np.zeros(len(found[0]), np.int64), np.full(len(found[0]), UNDEFINED, np.uint8)


def elements(problem, working, mode):
    """See LOOPS."""
    found, codes, states = solved(problem)
    single = format_of(tensors.format_of(problem.working))
    loop(found[0], found[1], problem.constants["divisor"] < 0, working, single, codes, states)
    return codes, states


def scales(problem, working, mode):
    """See LOOPS."""
    found, codes, states = solved(problem)
    single, half = format_of(tensors.format_of(problem.working)), format_of(tensors.format_of(problem.result))
    scale_loop(found[0], problem.constants["divisor"] < 0, working, single, half, codes, states)
    return codes, states


LOOPS = {"gguf.Quantize": elements, "gguf.Quantize:scales": scales}
