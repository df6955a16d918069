# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""tensorflow.QuantizeV2 in doubles.

Working precision: each step in double, narrowed to float32. Exactly: the modes in closed form,

    MIN_COMBINED  (clip(x) - low) * (n - 1) / (high - low) [- n / 2]
    MIN_FIRST     round(clip(x) * (n - 1) / (high - low)) - round(low * (n - 1) / (high - low)) + lowest
    SCALED        x * max_T / high or x * min_T / low, whichever is nearer to zero, then clipped to the integers

for n = 2^bits, in double with a bound on the error. Four operations at most are rounded, each by at most u = 2^-53 of
its result, so the relative error is below 2^-50, or that of the larger term where 128 is subtracted. If both ends of
the interval round to the same integer, so does what lies between them; if not, integers of any size decide.
"""

import numpy as np

from tiebreak.golden.kernels import integers, tensors
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED, ZERO

from libc.math cimport NAN, fabs, fmax, fmin, isfinite
from libc.stdint cimport int64_t, uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow
from tiebreak.golden.kernels.integral cimport integral

cdef double MAX_FLOAT = 3.4028234663852886e38
cdef double FAR = 1099511627776.0  # 2^40: beyond every range, whatever the error of a double

cdef enum Range:
    COMBINED, FIRST, SCALED

cdef enum Order:
    PRODUCT, QUOTIENT, FACTOR

RANGES = {"MIN_COMBINED": COMBINED, "MIN_FIRST": FIRST, "SCALED": SCALED}

cdef struct Node:
    int mode
    int rounding
    bint combines  # whether the document says what MIN_COMBINED subtracts
    double count  # 2^bits
    double offset  # what MIN_COMBINED subtracts
    double lowest, highest  # of the type
    double least_t  # min_T: one more with narrow_range
    double least  # ensure_minimum_range
    Format work


cdef Node node_of(problem, str mode):
    cdef Node n
    kind = problem.constants["T"]
    n.mode, n.rounding = RANGES[problem.constants["mode"]], tensors.MODE_NUMBERS[mode]
    n.combines = not kind.signed or kind.bits == 8
    n.count = 2.0**kind.bits
    n.offset = 128.0 if kind.signed else 0.0
    n.lowest, n.highest, n.least_t = kind.lowest, kind.highest, problem.constants["lowest"]
    n.least = problem.constants["least"]
    n.work = format_of(tensors.format_of(problem.working))
    return n


cdef inline bint is_open(Node *n, double low, double high) noexcept nogil:
    """Whether the document leaves open which range is meant. Two-sum gives the width as a double and its error."""
    cdef double width, part, rest
    if not isfinite(low) or not isfinite(high) or high < low:  # TFQ-U3, TFQ-U6
        return True
    width = high - low
    part = width - high
    rest = (high - (width - part)) + (-low - part)
    if width < n.least or (width == n.least and rest < 0.0):  # TFQ-E1, TFQ-U2
        return True
    return (n.mode != SCALED or n.least_t > 0.0) and (low > 0.0 or high < 0.0)  # TFQ-U1


cdef inline double factor_of(Node *n, double low, double high) noexcept nogil:
    """scale_factor in working precision."""
    cdef double from_min = MAX_FLOAT, from_max = MAX_FLOAT
    if n.least_t * low > 0.0:
        from_min = narrow(narrow(n.least_t, n.work) / low, n.work)  # TFQ-S2, TFQ-N1
    if n.highest * high > 0.0:
        from_max = narrow(narrow(n.highest, n.work) / high, n.work)  # TFQ-S2
    return fmin(from_min, from_max)  # TFQ-S1


cdef double stepwise(Node *n, double x, double low, double high) noexcept nogil:
    """Working precision, an integer if it is finite; NaN where the document is silent or no number comes out.

    A step that overflows goes on as infinity or NaN. A range without width leads to 0 / 0.
    """
    cdef Format w = n.work
    cdef double clipped, a, b, factor
    if n.mode == COMBINED:
        if not n.combines:
            return NAN
        clipped = fmin(fmax(x, low), high)  # TFQ-K1
        a = narrow(narrow(clipped - low, w) * (n.count - 1.0), w)  # TFQ-C1, TFQ-C2, TFQ-N2
        a = narrow(a / narrow(high - low, w), w)  # TFQ-C1
        return integral(narrow(a - n.offset, w), n.rounding)  # TFQ-C3, TFQ-R1
    if n.mode == FIRST:
        factor = narrow(n.count / narrow(narrow(high - low, w) * narrow(n.count / (n.count - 1.0), w), w), w)  # TFQ-M1
        clipped = fmin(fmax(x, low), high)  # TFQ-K1
        a, b = narrow(clipped * factor, w), narrow(low * factor, w)  # TFQ-M2
        return integral(a, n.rounding) - integral(b, n.rounding) + n.lowest  # TFQ-M2, TFQ-M3, TFQ-N2, TFQ-R1
    factor = factor_of(n, low, high)
    a, b = narrow(narrow(n.least_t, w) / factor, w), narrow(narrow(n.highest, w) / factor, w)  # TFQ-S3
    clipped = fmin(b, fmax(a, x))  # TFQ-S4, TFQ-K1
    return integral(narrow(clipped * factor, w), n.rounding)  # TFQ-S4, TFQ-R1, TFQ-R2, TFQ-R3


cdef inline double ordered(double x, double numerator, double denominator, int order, Format w) noexcept nogil:
    """x * numerator / denominator in float32 steps: product, quotient or factor first."""
    if order == PRODUCT:
        return narrow(narrow(x * numerator, w) / denominator, w)
    if order == QUOTIENT:
        return narrow(narrow(x / denominator, w) * numerator, w)
    return narrow(x * narrow(numerator / denominator, w), w)


cdef double reordered(Node *n, double x, double low, double high, int order) noexcept nogil:
    """Working precision in another order than the document's, for ranges where that gives NaN."""
    cdef Format w = n.work
    cdef double a, b, clipped = fmin(fmax(x, low), high)
    if n.mode == COMBINED:
        a = ordered(narrow(clipped - low, w), n.count - 1.0, narrow(high - low, w), order, w)
        return integral(narrow(a - n.offset, w), n.rounding)
    if n.mode == FIRST:
        a = narrow(narrow(high - low, w) * narrow(n.count / (n.count - 1.0), w), w)
        b = integral(ordered(low, n.count, a, order, w), n.rounding)
        a = integral(ordered(clipped, n.count, a, order, w), n.rounding) - b + n.lowest
        return fmin(fmax(a, n.lowest), n.highest) if a == a else a
    a, b = ordered(x, n.least_t, low, order, w), ordered(x, n.highest, high, order, w)
    a = integral(a if fabs(a) <= fabs(b) else b, n.rounding)
    return fmin(fmax(a, n.least_t), n.highest) if a == a else a


cdef inline double settled(double v, double error, int rounding, bint *doubtful) noexcept nogil:
    """The integer that v, known to within `error`, rounds to; doubtful if there are two. From FAR on v decides."""
    cdef double below = integral(v - error, rounding)
    if error == 0.0 or fabs(v) >= FAR:
        return integral(v, rounding)
    if below != integral(v + error, rounding):
        doubtful[0] = True
    return below


cdef double closed(Node *n, double x, double low, double high, double first, bint *doubtful) noexcept nogil:
    """Real arithmetic; NaN where the document is silent or divides by 0. `doubtful` is set if doubles can't decide.

    `first` is what MIN_FIRST takes off.
    """
    cdef double bound = 2.0**-50, v, from_min, from_max
    if n.mode == COMBINED:
        if not n.combines or high == low:
            return NAN
        v = (fmin(fmax(x, low), high) - low) * (n.count - 1.0) / (high - low)  # TFQ-K1, TFQ-C1, TFQ-C2, TFQ-N2
        return settled(v - n.offset, bound * (v + n.offset), n.rounding, doubtful)  # TFQ-C3, TFQ-R1
    if n.mode == FIRST:
        if high == low:
            return NAN
        v = fmin(fmax(x, low), high) * (n.count - 1.0) / (high - low)  # TFQ-K1, TFQ-M1
        v = settled(v, bound * fabs(v), n.rounding, doubtful)  # TFQ-M2, TFQ-R1
        return v + n.lowest - first  # TFQ-M2, TFQ-M3, TFQ-N2
    v = x * MAX_FLOAT
    from_min = x * n.least_t / low if n.least_t * low > 0.0 else v  # TFQ-S2, TFQ-N1
    from_max = x * n.highest / high if n.highest * high > 0.0 else v  # TFQ-S2
    v = fmin(from_min, from_max) if x > 0.0 else fmax(from_min, from_max)  # TFQ-S1
    v = settled(v, bound * fabs(v), n.rounding, doubtful)  # TFQ-S4, TFQ-R1, TFQ-R2, TFQ-R3
    return fmin(fmax(v, n.least_t), n.highest)  # TFQ-S3, TFQ-S4, TFQ-K1


def output(problem, working, mode):
    """See LOOPS."""
    x, low, high = (tensors.doubles(o, kind) for o, kind in zip(problem.operands, problem.kinds))
    codes, states = np.zeros(len(x), np.int64), np.empty(len(x), np.uint8)
    doubts, overflows = loop(problem, working, mode, x, low, high, codes, states)
    for i in doubts:
        value = by_integers(problem, mode, x[i], low[i], high[i])
        codes[i], states[i] = clamped(value, problem.constants["T"])
    for i in overflows:
        if agrees_in_all_orders(problem, mode, x[i], low[i], high[i]):
            value = by_integers(problem, mode, x[i], low[i], high[i])
            codes[i], states[i] = clamped(value, problem.constants["T"])
    return codes, states


def agrees_in_all_orders(problem, mode, x, low, high):
    """Whether the orders other than the document's give the exact result."""  # TFQ-U7
    cdef Node n = node_of(problem, mode)
    if high == low or (n.mode == COMBINED and not n.combines):
        return False
    exact = by_integers(problem, mode, x, low, high)
    others = (QUOTIENT, FACTOR) if n.mode == COMBINED else (PRODUCT, QUOTIENT)
    return all(reordered(&n, x, low, high, order) == exact for order in others)


cdef tuple loop(problem, bint working, str mode, const double[::1] x, const double[::1] low, const double[::1] high,
                int64_t[::1] codes, uint8_t[::1] states):
    """Fills in the results that doubles can decide; returns the indices where only integers can, and where working
    precision leads to NaN."""
    cdef Py_ssize_t i
    cdef Node n = node_of(problem, mode)
    cdef bint doubtful
    cdef double value = 0.0, first = 0.0, its_low = NAN, its_high = NAN
    cdef uint8_t in_range = IN_RANGE, out_of_range = OUT_OF_RANGE, undefined = UNDEFINED
    doubts, overflows = [], []
    for i in range(x.shape[0]):
        doubtful, states[i] = False, undefined
        if not isfinite(x[i]) or is_open(&n, low[i], high[i]):
            continue
        if working:
            value = stepwise(&n, x[i], low[i], high[i])
        else:
            if n.mode == FIRST and (low[i] != its_low or high[i] != its_high):
                its_low, its_high = low[i], high[i]
                first = rounded_low(problem, mode, its_low, its_high)
            value = closed(&n, x[i], low[i], high[i], first, &doubtful)
        if value != value:
            if working:
                overflows.append(i)
            continue
        if doubtful:
            doubts.append(i)
            continue
        # least_t is the type's lowest value unless narrow_range raises it
        codes[i] = <int64_t> fmin(fmax(value, n.least_t), n.highest)  # TFQ-M4
        states[i] = in_range if n.mode == FIRST or codes[i] == value else out_of_range
    return doubts, overflows


def rounded_low(problem, mode, low, high):
    """What MIN_FIRST takes off, often a tie that doubles can't decide; one for each range, not for each element."""
    steps = (1 << problem.constants["T"].bits) - 1
    low, high = integers.units(low), integers.units(high)
    return integers.round_ratio(low * steps, high - low, mode) if high > low else 0  # TFQ-M1, TFQ-M2


def clamped(value, kind):
    code = min(max(value, kind.lowest), kind.highest)
    return code, IN_RANGE if code == value else OUT_OF_RANGE


def by_integers(problem, mode, x, low, high):
    """The exact result, with integers of any size."""
    constants, kind = problem.constants, problem.constants["T"]
    x, low, high = (integers.units(value) for value in (x, low, high))
    steps = (1 << kind.bits) - 1
    if constants["mode"] == "SCALED":
        numerator, denominator = factor_ratio(constants, low, high)
        value = integers.round_ratio(x * numerator, denominator, mode)  # TFQ-S4, TFQ-R1, TFQ-R2
        return min(max(value, constants["lowest"]), constants["highest"])  # TFQ-S3, TFQ-S4
    clipped = min(max(x, low), high)  # TFQ-K1
    if constants["mode"] == "MIN_COMBINED":
        offset = 128 if kind.signed else 0  # TFQ-C3
        shifted = (clipped - low) * steps - offset * (high - low)  # TFQ-C1, TFQ-C2
        return integers.round_ratio(shifted, high - low, mode)  # TFQ-C1, TFQ-R1
    quotients = [integers.round_ratio(value * steps, high - low, mode) for value in (clipped, low)]  # TFQ-M1, TFQ-M2
    return min(max(quotients[0] - quotients[1] + kind.lowest, kind.lowest), kind.highest)  # TFQ-M3, TFQ-M4


def factor_ratio(constants, low, high):
    """scale_factor as numerator and positive denominator, in units of 2^149 for a range in units of 2^-149."""
    largest = integers.units(MAX_FLOAT), 1 << 2 * integers.UNIT
    first, second = (
        (abs(bound), abs(end)) if end * bound > 0 else largest
        for end, bound in ((low, constants["lowest"]), (high, constants["highest"]))
    )
    return first if first[0] * second[1] < second[0] * first[1] else second  # TFQ-S1


def output_min(problem, working, mode):
    """See LOOPS."""
    return range_end(problem, working, mode, 0)


def output_max(problem, working, mode):
    """See LOOPS."""
    return range_end(problem, working, mode, 1)


def range_end(problem, working, mode, which):
    ends = [tensors.doubles(o, kind) for o, kind in zip(problem.operands, problem.kinds)]
    values, states = np.zeros(len(ends[0])), np.full(len(ends[0]), IN_RANGE, np.uint8)  # TFQ-O2
    for i, (low, high) in enumerate(zip(*ends)):
        values[i], states[i] = one_end(problem, working, mode, float(low), float(high), which)
    return np.where(states == IN_RANGE, tensors.real_codes(values, problem.result), 0), states


def one_end(problem, bint working, str mode, double low, double high, int which):
    """The lower or the upper end of the range that was used, with its state."""
    cdef Node n = node_of(problem, mode)
    cdef double bound = n.highest if which else n.least_t
    if is_open(&n, low, high):
        return 0.0, UNDEFINED
    if n.mode != SCALED:
        value = high if which else low  # TFQ-O1
    elif working:
        value = narrow(narrow(bound, n.work) / factor_of(&n, low, high), n.work)  # TFQ-O1, TFQ-S3
    else:
        numerator, denominator = factor_ratio(problem.constants, integers.units(low), integers.units(high))
        value = integers.ratio_to_real(
            int(bound) * denominator, numerator << integers.UNIT, tensors.format_of(problem.result)
        )
    return value, ZERO if value == 0.0 else IN_RANGE


LOOPS = {
    "tensorflow.QuantizeV2": output,
    "tensorflow.QuantizeV2:output_min": output_min,
    "tensorflow.QuantizeV2:output_max": output_max,
}
