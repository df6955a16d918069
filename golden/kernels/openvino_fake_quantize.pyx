# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""FakeQuantize in doubles: rounded step by step, or with an error bound and big integers where that can't decide."""

import numpy as np

from tiebreak.golden.kernels import integers, tensors
from tiebreak.golden.problem import IN_RANGE, UNDEFINED, ZERO

from libc.math cimport NAN, fabs, isfinite
from libc.stdint cimport uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow
from tiebreak.golden.kernels.integral cimport integral, undecided

cdef double MARGIN = 2.0**-49, LEAST = 2.0**-1000


cdef inline double stepwise(double x, double low, double high, double first, double last, double n, int rule,
                            Format w) noexcept nogil:
    """The expression with every step rounded to the type; see arithmetic.pxd for why narrowing a double does that."""
    cdef double offset = narrow(x - low, w), width = narrow(high - low, w), span = narrow(last - first, w)
    cdef double quotient = narrow(offset / width, w)  # OVF-F3, OVF-F10
    cdef double position = narrow(quotient * n, w)  # OVF-F4
    cdef double level = integral(position, rule)  # OVF-F5, OVF-U1
    cdef double fraction = narrow(level / n, w)  # OVF-F6
    cdef double product = narrow(fraction * span, w)  # OVF-F7, OVF-F11
    return narrow(product + first, w)  # OVF-F8, OVF-U5: what overflows goes on as infinity or NaN


cdef inline double level_if_clear(double x, double low, double high, double n, int rule) noexcept nogil:
    """The exact level, or -1 where doubles can't tell.

    Two differences, a quotient and a product are each off by a factor of at most 1 + u, u = 2^-53; n is exact. So q is
    off by less than 5u of itself, of which 16u is a wide margin, and by 2^-1000 where the quotient is subnormal.
    """
    cdef double q = (x - low) / (high - low) * n  # OVF-F3, OVF-F4
    if not isfinite(x - low) or not isfinite(high - low) or not q < 1.7592186044416e13:
        return -1.0
    return -1.0 if undecided(q, q * MARGIN + LEAST, rule) else integral(q, rule)  # OVF-F5


cdef inline double output_if_clear(double level, double n, double first, double last, Format f) noexcept nogil:
    """(level * last + (n - level) * first) / n rounded once, or NaN where doubles can't tell.

    Both products are at most n * M, M = max(|first|, |last|); with the sum and the quotient the value is off by less
    than 8u * M, and by 2^-1000 for subnormals; 16u * M is taken. Rounding is monotonic: if both ends of the interval
    round to the same value, so does the exact result.
    """
    cdef double value, error, below, above
    if level == 0.0 or level == n:
        return first if level == 0.0 else last
    value = (level * last + (n - level) * first) / n  # OVF-F6, OVF-F7, OVF-F8
    error = max(fabs(first), fabs(last)) * MARGIN + LEAST
    below, above = narrow(value - error, f), narrow(value + error, f)
    return below if f.precision < 53 and below == above and below != 0.0 else NAN


cdef double from_integers(double x, double low, double high, double first, double last, object n, str mode,
                          double level, tuple described):
    """The expression in integers; `level` is known unless it is negative."""
    cdef object count, top, bottom
    values = [integers.ratio(v) for v in (x, low, high, first, last)]
    scale = max(denominator for _, denominator in values)  # powers of two
    a, b, c, d, e = (numerator * (scale // denominator) for numerator, denominator in values)
    count = integers.round_ratio((a - b) * n, c - b, mode) if level < 0.0 else int(level)  # OVF-F3, OVF-F4, OVF-F5
    top, bottom = count * e + (n - count) * d, n * scale  # OVF-F6, OVF-F7, OVF-F8, OVF-F11
    return integers.ratio_to_real(top, bottom, described)


def fake_quantize(problem, working, mode):
    """See LOOPS."""
    x, low, high, first, last = (tensors.doubles(o, kind) for o, kind in zip(problem.operands, problem.kinds))
    values = np.zeros(len(x))
    states = np.empty(len(x), np.uint8)
    described = tensors.format_of(problem.working if working else problem.result)
    n = problem.constants["levels"] - 1
    if working:
        held = integers.ratio_to_real(n, 1, described)  # OVF-U6
        in_steps(x, low, high, first, last, held, mode, described, values, states)
    else:
        exactly(x, low, high, first, last, n, mode, described, values, states)
    return np.where(states == IN_RANGE, tensors.real_codes(values, problem.result), 0), states


cdef inline bint judged(double x, double low, double high, double first, double last) noexcept nogil:
    return x == x and low == low and high == high and not first > last  # OVF-U2, OVF-U8


cdef inline bint finite(double low, double high, double first, double last) noexcept nogil:
    return isfinite(low) and isfinite(high) and isfinite(first) and isfinite(last)


cdef in_steps(const double[::1] x, const double[::1] low, const double[::1] high, const double[::1] first,
              const double[::1] last, double n, str mode, tuple described, double[::1] values, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef Format w = format_of(described)
    cdef int rule = tensors.MODE_NUMBERS[mode]
    cdef bint defined
    cdef uint8_t in_range = IN_RANGE, undefined = UNDEFINED, zero = ZERO
    for i in range(x.shape[0]):
        defined = judged(x[i], low[i], high[i], first[i], last[i])
        if not defined:
            pass
        elif x[i] <= min(low[i], high[i]):  # OVF-F9, OVF-F10, OVF-I1
            values[i] = first[i]  # OVF-F1
        elif x[i] > max(low[i], high[i]):  # OVF-F9, OVF-F10, OVF-I1
            values[i] = last[i]  # OVF-F2
        elif finite(low[i], high[i], first[i], last[i]):
            values[i] = stepwise(x[i], low[i], high[i], first[i], last[i], n, rule, w)
        else:
            defined = False
        states[i] = undefined if not defined else zero if values[i] == 0.0 else in_range


cdef exactly(const double[::1] x, const double[::1] low, const double[::1] high, const double[::1] first,
             const double[::1] last, object levels, str mode, tuple described, double[::1] values, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef Format f = format_of(described)
    cdef int rule = tensors.MODE_NUMBERS[mode]
    cdef bint small = levels <= 1 << 44
    cdef double n = float(levels) if small else 1.0
    cdef double level
    cdef uint8_t in_range = IN_RANGE, undefined = UNDEFINED, zero = ZERO
    for i in range(x.shape[0]):
        if not judged(x[i], low[i], high[i], first[i], last[i]):
            states[i] = undefined
            continue
        if x[i] <= min(low[i], high[i]) or x[i] > max(low[i], high[i]):  # OVF-F9, OVF-F10, OVF-I1
            values[i] = first[i] if x[i] <= min(low[i], high[i]) else last[i]  # OVF-F1, OVF-F2
            states[i] = zero if values[i] == 0.0 else in_range
            continue
        if not finite(low[i], high[i], first[i], last[i]):
            states[i] = undefined
            continue
        level = level_if_clear(x[i], low[i], high[i], n, rule) if small else -1.0
        values[i] = output_if_clear(level, n, first[i], last[i], f) if level >= 0.0 else NAN
        if values[i] != values[i]:
            values[i] = from_integers(x[i], low[i], high[i], first[i], last[i], levels, mode, level, described)
        states[i] = zero if values[i] == 0.0 else in_range  # OVF-U4


LOOPS = {"openvino.FakeQuantize": fake_quantize}
