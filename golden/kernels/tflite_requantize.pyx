# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""tflite.Requantize in 64-bit integers.

The real result is a quotient of two of them, of which the loop finds the whole part and how the rest compares with a
half. In working precision three float32 steps take its place, the first two of which are doubles.
"""

import numpy as np

from tiebreak.golden.kernels import tensors
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED

from libc.math cimport NAN, copysign, fabs, frexp, isfinite, isnan, ldexp
from libc.stdint cimport int64_t, uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow
from tiebreak.golden.kernels.integral cimport integral

WAYS = {"nearest": 0, "single": 1, "double": 2}
cdef int64_t LOWEST_WORD = -(<int64_t>1 << 31), HIGHEST_WORD = (<int64_t>1 << 31) - 1
cdef int64_t TOO_LARGE = <int64_t>1 << 62  # no result
cdef double ENDLESS = 1099511627776.0  # 2^40: beyond every output type, whatever the zero point


cdef struct Way:
    int number, mode
    bint working
    Format single
    int64_t lowest, highest


cdef inline int64_t word(int64_t value) noexcept nogil:
    """The value; TOO_LARGE if int32 does not hold it."""
    return value if LOWEST_WORD <= value <= HIGHEST_WORD else TOO_LARGE


cdef int64_t multiplier_of(double ratio, int* shift) noexcept nogil:
    """The 31 bits of a ratio, and the power of two that they lack."""
    cdef double part = frexp(ratio, shift)
    cdef int64_t multiplier = <int64_t>integral(ldexp(part, 31), 1)  # TLR-F2
    if multiplier > HIGHEST_WORD:
        multiplier >>= 1
        shift[0] += 1
    if shift[0] < -31:
        shift[0] = 0
        return 0  # TLR-F3
    return multiplier


cdef int64_t once(int64_t number, int64_t multiplier, int shift) noexcept nogil:
    if shift > 30:
        multiplier, shift = HIGHEST_WORD, 30  # TLR-F4
    return word((number * multiplier + (<int64_t>1 << (30 - shift))) >> (31 - shift))  # TLR-R2


cdef int64_t twice(int64_t number, int64_t multiplier, int shift) noexcept nogil:
    cdef int64_t high, magnitude
    if shift > 30:
        return TOO_LARGE  # TLR-U4
    if shift > 0:
        number = word(number * (<int64_t>1 << shift))
        if number == TOO_LARGE:
            return TOO_LARGE  # TLR-U4
    high = (number * multiplier + (<int64_t>1 << 30)) >> 31  # TLR-R3
    if shift >= 0:
        return high
    magnitude = ((high if high >= 0 else -high) + (<int64_t>1 << (-shift - 1))) >> -shift
    return magnitude if high >= 0 else -magnitude  # TLR-R4


cdef double rounded_quotient(int64_t number, double scale, double other, int mode) noexcept nogil:
    """number * scale / other, exactly, rounded to an integer; 2^40 stands for all that is greater."""
    cdef double guess = fabs(<double>number * scale / other), part, its_part
    cdef int power, its_power
    cdef int64_t top, bottom, whole, rest
    if number == 0:
        return 0.0
    if guess > ENDLESS:
        return copysign(ENDLESS, <double>number)
    if guess < 0.0625:
        return integral(copysign(0.25, <double>number), mode)  # TLR-R1
    part, its_part = frexp(scale, &power), frexp(other, &its_power)
    top = (number if number >= 0 else -number) * <int64_t>ldexp(part, 24)
    bottom = <int64_t>ldexp(its_part, 24)
    power -= its_power
    if power < 0:
        bottom <<= -power
    whole, rest = top // bottom, top % bottom
    while power > 0:
        rest <<= 1
        whole = 2 * whole + (1 if rest >= bottom else 0)
        if rest >= bottom:
            rest -= bottom
        power -= 1
    guess = 0.0 if rest == 0 else 0.5 if 2 * rest == bottom else 0.25 if 2 * rest < bottom else 0.75
    return integral(copysign(<double>whole + guess, <double>number), mode)  # TLR-R1


cdef double result_of(int64_t number, int64_t zero_point, double scale, double other, Way way) noexcept nogil:
    """The result before it saturates; NaN if there is none."""
    cdef int shift
    cdef int64_t found, multiplier
    if way.number == 0:
        if not way.working:
            return rounded_quotient(number, scale, other, way.mode) + <double>zero_point  # TLR-F1, TLR-F5
        return integral(
            narrow(narrow(<double>number, way.single) * narrow(scale / other, way.single), way.single), way.mode
        ) + <double>zero_point
    if word(number) == TOO_LARGE:
        return NAN  # TLR-U4
    multiplier = multiplier_of(scale / other, &shift)
    found = once(number, multiplier, shift) if way.number == 1 else twice(number, multiplier, shift)
    if found == TOO_LARGE or word(found + zero_point) == TOO_LARGE:
        return NAN  # TLR-U4
    return <double>(found + zero_point)


def requantize(problem, working, mode):
    """See LOOPS."""
    x, input_zero, output_zero = (
        np.ascontiguousarray(problem.operands[place], np.int64) for place in (0, 2, 4)
    )
    scale, other = (tensors.doubles(problem.operands[place], problem.kinds[place]) for place in (1, 3))
    codes, states = np.zeros(len(x), np.int64), np.full(len(x), UNDEFINED, np.uint8)
    cdef Way way
    way.number, way.mode = WAYS[problem.constants["rounding"]], tensors.MODE_NUMBERS.get(mode, 0)
    way.working = working
    way.single = format_of(tensors.format_of(problem.working))
    way.lowest, way.highest = problem.result.lowest, problem.result.highest
    fill(x, scale, input_zero, other, output_zero, way, codes, states)
    return codes, states


cdef fill(const int64_t[::1] x, const double[::1] scale, const int64_t[::1] input_zero, const double[::1] other,
          const int64_t[::1] output_zero, Way way, int64_t[::1] codes, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef double found
    cdef uint8_t in_range = IN_RANGE, beyond = OUT_OF_RANGE
    for i in range(x.shape[0]):
        if not (isfinite(scale[i]) and isfinite(other[i]) and scale[i] > 0.0 and other[i] > 0.0):
            continue  # TLR-U3
        found = result_of(x[i] - input_zero[i], output_zero[i], scale[i], other[i], way)
        if isnan(found):
            continue
        states[i] = in_range if way.lowest <= found <= way.highest else beyond
        codes[i] = <int64_t>min(max(found, <double>way.lowest), <double>way.highest)  # TLR-C1


LOOPS = {"tflite.Requantize": requantize}
