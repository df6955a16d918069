# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""tensorflow.FakeQuantWithMinMaxVars and its per-channel form, in doubles.

Exactly, with n intervals, scale = (max - min) / n and r = round(min / scale) (0 or -n where 0 is outside), the result
is (k + r) * scale for k = round(x / scale - r) limited to 0 … n: clamping before is the same, since the ends of the
grid are integers. Operands are float32, so that the double quotients below have a relative error of at most
4 * 2^-53, less than 2^-50; where that leaves a doubt, big integers decide.
"""

import numpy as np

from tiebreak.golden.kernels import integers, tensors
from tiebreak.golden.problem import IN_RANGE, UNDEFINED, ZERO

from libc.math cimport fabs, isfinite, ldexp
from libc.stdint cimport uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow
from tiebreak.golden.kernels.integral cimport integral, undecided

cdef double RELATIVE = ldexp(1.0, -50)


def fake_quant(problem, working, mode):
    """See LOOPS."""
    codes, states = of_divisor(problem, working, mode, problem.constants["divisors"][0])
    for other in problem.constants["divisors"][1:]:  # TFF-U3, TFC-U3
        other_codes, other_states = of_divisor(problem, working, mode, other)
        states[(other_codes != codes) | (other_states != states)] = UNDEFINED
    return np.where(states == UNDEFINED, 0, codes), states


cdef of_divisor(problem, bint working, str mode, int n):
    x, low, high = (tensors.doubles(o, kind) for o, kind in zip(problem.operands, problem.kinds))
    values = np.zeros(len(x))
    states = np.empty(len(x), np.uint8)
    described = tensors.format_of(problem.result)
    loop(x, low, high, n, mode, working, described, values, states)
    defined = states != UNDEFINED
    return np.where(defined, tensors.real_codes(values, problem.result), 0), states


cdef loop(const double[::1] x, const double[::1] low, const double[::1] high, int n, str mode, bint working,
          tuple described, double[::1] values, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef Format f = format_of(described)
    cdef int number = tensors.MODE_NUMBERS[mode]
    cdef uint8_t in_range = IN_RANGE, undefined = UNDEFINED, zero = ZERO
    cdef double value
    for i in range(x.shape[0]):
        if not (isfinite(x[i]) and isfinite(low[i]) and isfinite(high[i]) and low[i] < high[i]):
            states[i] = undefined  # TFF-U4, TFC-U4, TFF-U5, TFC-U5
            continue
        if working:
            if not stepwise(x[i], low[i], high[i], n, number, f, &value):
                states[i] = undefined
                continue
        else:
            value = exactly(x[i], low[i], high[i], n, number, mode, f, described)
        values[i] = 0.0 if value == 0.0 else value
        states[i] = zero if value == 0.0 else in_range


cdef bint stepwise(double x, double low, double high, int n, int mode, Format f, double* value) noexcept:
    """Every step rounded; what overflows goes on as infinity or NaN. False if scale, a divisor, is 0."""
    cdef double scale = narrow(narrow(high - low, f) / n, f)  # TFF-A3, TFC-A3, TFF-U3, TFC-U3
    cdef double least, greatest, clamped, ratio, first, integer
    if scale == 0.0:
        return False
    if low > 0.0:
        first, least, greatest = 0.0, 0.0, narrow(high - low, f)  # TFF-A1, TFC-A1
    elif high < 0.0:
        first, least, greatest = -n, narrow(low - high, f), 0.0  # TFF-A2, TFC-A2
    else:
        first = integral(narrow(low / scale, f), mode)  # TFF-A4, TFC-A4, TFF-U1, TFC-U1
        least = narrow(scale * first, f)  # TFF-A4, TFC-A4
        greatest = narrow(narrow(high + least, f) - low, f)  # TFF-A5, TFC-A5
    clamped = min(max(x, least), greatest)  # TFF-F1, TFC-F1
    ratio = narrow(narrow(clamped - least, f) / scale, f)  # TFF-F2, TFC-F2
    integer = integral(ratio, mode)  # TFF-F2, TFC-F2, TFF-F3, TFC-F3, TFF-U1, TFC-U1
    # The lowest quantized value, added to this and then subtracted again, is left out. Both integers have less than 19
    # bits and scale has 24: sum and product are exact in double.
    value[0] = narrow((integer + first) * scale, f)  # TFF-F4, TFC-F4, TFF-U2, TFC-U2
    return True


cdef double exactly(double x, double low, double high, int n, int number, str mode, Format f, tuple described):
    cdef double size = high - low, r = 0.0, k, t, v
    if high < 0.0:
        r = -n  # TFF-A2, TFC-A2
    elif low <= 0.0:
        r = low / size * n  # TFF-A3, TFC-A3, TFF-A4, TFC-A4
        r = exact_ratio(low, low, high, n, 0, mode) if undecided(r, fabs(r) * RELATIVE, number) else integral(r, number)
    t = x / size * n  # TFF-F2, TFC-F2
    if t - r > n + 1.0:
        k = n
    elif t - r < -1.0:
        k = 0.0
    elif undecided(t - r, (fabs(t) + n) * RELATIVE, number):
        k = exact_ratio(x, low, high, n, r, mode)
    else:
        k = integral(t - r, number)
    k = min(max(k, 0.0), <double>n) + r  # TFF-F1, TFC-F1, TFF-F4, TFC-F4
    if k == 0.0:
        return 0.0
    v = k * size / n  # TFF-F4, TFC-F4
    t = narrow(v * (1.0 + RELATIVE), f)
    v = narrow(v * (1.0 - RELATIVE), f)
    return v if v == t else exact_product(k, low, high, n, described)


cdef double exact_ratio(double x, double low, double high, int n, double r, str mode):
    """round(x * n / (high - low) - r)."""
    top, bottom = integers.ratio(x)
    size_top, size_bottom = size_of(low, high)
    numerator = top * n * size_bottom - int(r) * bottom * size_top
    return integers.round_ratio(numerator, bottom * size_top, mode)


cdef double exact_product(double k, double low, double high, int n, tuple described):
    """k * (high - low) / n, rounded once."""
    top, bottom = size_of(low, high)
    return integers.ratio_to_real(int(k) * top, bottom * n, described)


cdef tuple size_of(double low, double high):
    a, b = integers.ratio(high)
    c, d = integers.ratio(low)
    return a * d - c * b, b * d


LOOPS = {
    "tensorflow.FakeQuantWithMinMaxVars": fake_quant,
    "tensorflow.FakeQuantWithMinMaxVarsPerChannel": fake_quant,
}
