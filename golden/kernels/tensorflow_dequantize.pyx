# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""tensorflow.Dequantize in doubles.

Working precision: each step in double, narrowed to float32 where the document has a float. Exactly: MIN_COMBINED and
MIN_FIRST are the same function, low + (x - lowest) * (high - low) / (2^bits - 1), and SCALED is the greater of
x * high / max_T and x * low / min_T for positive x, the lesser for negative. Each of the at most four rounded
operations errs by at most 2^-53 of its result; if both ends of the interval that this leaves round to the same float,
so does the exact value; if not, integers of any size decide.
"""

import numpy as np

from tiebreak.golden.kernels import integers, tensors
from tiebreak.golden.problem import IN_RANGE, UNDEFINED, ZERO

from libc.math cimport fabs, fmax, fmin, isfinite, signbit
from libc.stdint cimport uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow

cdef enum Range:
    COMBINED, FIRST, SCALED

RANGES = {"MIN_COMBINED": COMBINED, "MIN_FIRST": FIRST, "SCALED": SCALED}

cdef struct Node:
    int mode
    bint combines  # whether the document says what MIN_COMBINED adds
    double count  # 2^bits
    double lowest, highest  # of the type
    double least_t  # min_expected_T: one more with narrow_range
    Format work, result


cdef Node node_of(problem):
    cdef Node n
    kind = problem.constants["T"]
    n.mode = RANGES[problem.constants["mode"]]
    n.combines = not kind.signed or kind.bits == 8
    n.count = 2.0**kind.bits
    n.lowest, n.highest, n.least_t = kind.lowest, kind.highest, problem.constants["lowest"]
    n.work, n.result = format_of(tensors.format_of(problem.working)), format_of(tensors.format_of(problem.result))
    return n


def dequantize(problem, working, mode):
    """See LOOPS."""
    x, low, high = (tensors.doubles(o, kind) for o, kind in zip(problem.operands, problem.kinds))
    values, states = np.zeros(len(x)), np.empty(len(x), np.uint8)
    for i in loop(problem, working, x, low, high, values, states):
        values[i], states[i] = by_integers(problem, int(x[i]), low[i], high[i])
    return np.where(states == IN_RANGE, tensors.real_codes(values, problem.result), 0), states


cdef list loop(problem, bint working, const double[::1] x, const double[::1] low, const double[::1] high,
               double[::1] values, uint8_t[::1] states):
    """Fills in the results that doubles can decide; returns the indices of the others."""
    cdef Py_ssize_t i
    cdef Node n = node_of(problem)
    cdef bint doubtful
    cdef double value = 0.0
    cdef uint8_t in_range = IN_RANGE, undefined = UNDEFINED, zero = ZERO
    doubts = []
    for i in range(x.shape[0]):
        doubtful, states[i] = False, undefined
        if not isfinite(low[i]) or not isfinite(high[i]) or high[i] < low[i] or (n.mode == COMBINED and not n.combines):
            continue
        if working:
            value = stepwise(&n, x[i], low[i], high[i])
        else:
            value = closed(&n, x[i], low[i], high[i], &doubtful)
        if doubtful:
            doubts.append(i)
            continue
        values[i] = narrow(value, n.result)
        states[i] = zero if values[i] == 0.0 else in_range  # TFD-U5
    return doubts


cdef double stepwise(Node *n, double x, double low, double high) noexcept nogil:
    """Working precision up to the last rounding; what overflows goes on as infinity or NaN."""
    cdef Format w = n.work
    cdef double a, b
    if n.mode == COMBINED:
        a = narrow((x - n.lowest) * narrow(high - low, w), w)  # TFD-C1, TFD-C3
        return narrow(low + narrow(a / (n.count - 1.0), w), w)  # TFD-C1, TFD-C2
    if n.mode == FIRST:
        a = narrow(narrow(high - low, w) * narrow(n.count / (n.count - 1.0), w), w)  # TFD-M1
        a = narrow(a / n.count, w)  # TFD-M1
        return low + (x - n.lowest) * a  # TFD-M2, TFD-M3
    a = narrow(high / narrow(n.highest, w), w)  # TFD-S3
    if n.lowest != 0.0:
        b = narrow(low / narrow(n.least_t, w), w)  # TFD-N1
        a = fmax(a, b)  # TFD-S2
    return narrow(x, w) * a  # TFD-S1


cdef double closed(Node *n, double x, double low, double high, bint *doubtful) noexcept nogil:
    """Real arithmetic up to the last rounding; `doubtful` is set if doubles can't decide."""
    cdef double bound = 2.0**-50, v, error, other
    if n.mode == SCALED:
        v = x * high / n.highest  # TFD-S1, TFD-S3
        if n.lowest != 0.0:
            other = x * low / n.least_t  # TFD-N1
            v = fmax(v, other) if x > 0.0 else fmin(v, other)  # TFD-S2
        error = bound * fabs(v)
    else:
        other = (x - n.lowest) * (high - low) / (n.count - 1.0)  # TFD-C1, TFD-C2, TFD-C3, TFD-M1
        v = low + other  # TFD-C1, TFD-M2
        error = bound * (fabs(other) + fabs(v)) if other != 0.0 else 0.0
    if error != 0.0:
        doubtful[0] = (
            narrow(v - error, n.result) != narrow(v + error, n.result) or signbit(v - error) != signbit(v + error)
        )
    return v


def by_integers(problem, x, low, high):
    """The exact result and its state, with integers of any size."""
    kind = problem.constants["T"]
    low, high, steps = integers.units(low), integers.units(high), (1 << kind.bits) - 1
    if problem.constants["mode"] == "SCALED":
        numerator, denominator = scaled_ratio(x, low, high, kind, problem.constants["lowest"])
    else:
        numerator, denominator = low * steps + (x - kind.lowest) * (high - low), steps  # TFD-C1, TFD-C3, TFD-M2
    value = integers.ratio_to_real(numerator, denominator << integers.UNIT, tensors.format_of(problem.result))
    return value, IN_RANGE if value else ZERO


def scaled_ratio(x, low, high, kind, least):
    """x * max(low / least, high / highest), as numerator and positive denominator."""
    if kind.signed and low * kind.highest < high * least:  # low / least > high / highest, both multiplied by them
        return -x * low, -least  # TFD-S2
    return x * high, kind.highest  # TFD-S2, TFD-S3


LOOPS = {"tensorflow.Dequantize": dequantize}
