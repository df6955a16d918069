# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""x / y_scale to an integer or a small float, in double with fma's remainder.

Every operand is a double of at most 32 bits. The double nearest to x / y_scale and the sign of what is left,
x - q * y_scale (one fma; it is a double, since q is no further than half a unit in the last place from the quotient),
say exactly where the quotient lies: within half a unit of q, on the side of that sign. An integer, a half and a
midpoint of two small floats are doubles, so comparing q with one of them and then the sign decides, without tolerance.
"""

import numpy as np

from tiebreak.golden.elements import FloatType
from tiebreak.golden.kernels import tensors
from tiebreak.golden.kernels.tensors import LARGEST_SMALL
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED, ZERO

from libc.math cimport INFINITY, fabs, floor, fma, isfinite, isinf, isnan, signbit
from libc.stdint cimport int64_t, uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow, pattern, to_odd

# Which way a mode goes, on a tie if it is a nearest one, else always: away from zero, toward zero, up, down, to even.
AWAY, TRUNCATE, UP, DOWN, EVEN = range(5)
KINDS = {
    "ROUND_NEAREST_TOWARD_INFINITY": AWAY,
    "ROUND_NEAREST_TOWARD_ZERO": TRUNCATE,
    "ROUND_NEAREST_UPWARD": UP,
    "ROUND_NEAREST_DOWNWARD": DOWN,
    "ROUND_NEAREST_TOWARD_EVEN": EVEN,
    "ROUND_TOWARD_INFINITY": AWAY,
    "ROUND_TOWARD_ZERO": TRUNCATE,
    "ROUND_UP": UP,
    "ROUND_DOWN": DOWN,
}


cdef struct Quotient:
    double value  # the nearest double
    double rest  # has the sign of the true quotient minus value; 0 if value is exact
    bint defined


def quantize_linear(problem, working, mode):
    """See LOOPS."""
    x, scale, zero_point = (tensors.doubles(o, kind) for o, kind in zip(problem.operands, problem.kinds))
    work = tensors.format_of(problem.working)
    if working and not problem.constants["division"]:
        return agreed(problem, mode, x, scale, zero_point, work)
    return quantized(problem, mode, x, scale, zero_point, working, work)


def quantized(problem, mode, x, scale, zero_point, working, work):
    """Codes and states; in working precision with a division in the type that `work` describes."""
    codes, states = np.zeros(len(x), np.int64), np.full(len(x), UNDEFINED, np.uint8)
    if isinstance(problem.result, FloatType):
        to_floats(x, scale, zero_point, working, work, problem.result, problem.constants, codes, states)
    else:
        nearest = mode.startswith("ROUND_NEAREST")
        ends = problem.result.lowest, problem.result.highest
        to_integers(x, scale, zero_point, working, work, nearest, KINDS[mode], ends, codes, states)
    return codes, states


def agreed(problem, mode, x, scale, zero_point, work):
    """Where the document names no type for the division: the exact result, if every way to divide gives its code."""
    own = tensors.format_of(problem.kinds[0]) if isinstance(problem.kinds[0], FloatType) else work
    operands = problem, mode, x, scale, zero_point
    codes, states = quantized(*operands, False, work)
    found = [quantized(*operands, True, kind) for kind in (work, own)]
    open_ = np.zeros(len(x), bool)
    if not isinstance(problem.kinds[1], FloatType):
        wholes = [whole_quotients(x, scale, kind) for kind in (TRUNCATE, DOWN)]
        found += [quantized(problem, mode, whole, np.ones(len(x)), zero_point, False, work) for whole in wholes]
        lowest, highest = problem.kinds[1].lowest, problem.kinds[1].highest
        open_ = ~((lowest <= x) & (x <= highest) & (wholes[0] <= highest))
    for other_codes, other_states in found:
        open_ |= (codes != other_codes) | (other_states == UNDEFINED)
    return np.where(open_, 0, codes), np.where(open_, UNDEFINED, states)


def whole_quotients(const double[::1] x, const double[::1] scale, int kind):
    """x / y_scale as integers, rounded one way; 0 where the quotient is undefined or infinite."""
    cdef Py_ssize_t i
    cdef Quotient q
    cdef Format unused = format_of((53, -1022, INFINITY))
    found = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        q = divided(x[i], scale[i], False, unused)
        found[i] = rounded(q, False, kind) if q.defined and isfinite(q.value) else 0.0
    return found


cdef inline Quotient divided(double x, double scale, bint working, Format w) noexcept nogil:
    """x / scale, undefined unless the scale is finite and not 0. Working precision narrows operands and quotient."""
    cdef Quotient q
    q.defined = isfinite(scale)
    if working:
        x, scale = narrow(x, w), narrow(scale, w)  # ONQ-P1, ONQ-P2
    q.defined = q.defined and scale != 0.0  # ONQ-U3
    q.value = x / scale if q.defined else 0.0  # ONQ-F1
    q.rest = 0.0
    if working:
        q.value = narrow(q.value, w)  # ONQ-P1, ONQ-P2
    elif q.defined and isfinite(q.value):
        q.rest = fma(-q.value, scale, x)
        q.rest = q.rest if scale > 0.0 else -q.rest
    return q


cdef inline double rounded(Quotient q, bint nearest, int kind) noexcept nogil:
    """The quotient rounded to an integer; magnitudes from 2^52 on are integers already, and out of every range."""
    cdef double magnitude = fabs(q.value), whole, part, beyond
    cdef bint negative = signbit(q.value), further
    if magnitude >= 4503599627370496.0:
        return q.value
    whole = floor(magnitude)
    part = magnitude - whole  # exact
    beyond = -q.rest if negative else q.rest  # sign of the true magnitude minus this one
    if part == 0.0 and beyond < 0.0:  # a little below an integer
        whole, part, beyond = whole - 1.0, 1.0, 0.0
    if part == 0.0 and beyond == 0.0:
        return q.value
    if nearest and (part != 0.5 or beyond != 0.0):
        further = part > 0.5 or (part == 0.5 and beyond > 0.0)  # ONQ-R1
    elif kind == 4:
        further = whole != 2.0 * floor(whole / 2.0)  # ONQ-R1
    elif kind < 2:
        further = kind == 0
    else:
        further = (kind == 2) != negative
    whole += further
    return -whole if negative else whole


cdef to_integers(const double[::1] x, const double[::1] scale, const double[::1] zero_point, bint working, tuple work,
                 bint nearest, int kind, tuple ends, int64_t[::1] codes, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef Format w = format_of(work)
    cdef Quotient q
    cdef double sum, lowest = ends[0], highest = ends[1]
    cdef uint8_t in_range = IN_RANGE, out_of_range = OUT_OF_RANGE
    for i in range(x.shape[0]):
        if not isfinite(x[i]):  # ONQ-U1, ONQ-U2
            continue
        q = divided(x[i], scale[i], working, w)
        if not q.defined or isnan(q.value):
            continue
        sum = rounded(q, nearest, kind) + zero_point[i]  # ONQ-F2, ONQ-R1
        states[i] = in_range if lowest <= sum <= highest else out_of_range
        codes[i] = <int64_t>min(max(sum, lowest), highest)  # ONQ-C1, ONQ-C2


cdef to_floats(const double[::1] x, const double[::1] scale, const double[::1] zero_point, bint working, tuple work,
               object result, object constants, int64_t[::1] codes, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef Format w = format_of(work), f = format_of((result.precision, result.emin, INFINITY))
    cdef Quotient q
    cdef double magnitude, largest = LARGEST_SMALL[result.name]
    cdef int64_t sign = 1 << (result.bits - 1), top = result.largest_bits
    cdef int64_t beyond = result.infinity_bits if result.specials == "ieee" else result.nan_bits or 0
    cdef int64_t nan = result.nan_bits or 0
    cdef bint bounded = result.specials == "none", one_zero = result.specials == "fnuz"
    cdef bint signed = result.specials == "ieee", signed_too
    cdef bint saturate = bounded or constants["saturate"], infinity_is_nan = constants["infinity_is_nan"], ends
    cdef uint8_t in_range = IN_RANGE, zero = ZERO
    for i in range(x.shape[0]):
        q = divided(x[i], scale[i], working, w)
        if not q.defined or zero_point[i] != 0.0 or (bounded and isnan(q.value)):
            continue
        states[i] = zero if q.value == 0.0 else in_range
        if q.value == 0.0:
            continue
        if isnan(q.value):
            codes[i] = nan  # ONQ-E4
            continue
        magnitude = fabs(narrow(to_odd(q.value, q.rest), f))  # ONQ-E1, ONQ-E6, ONQ-E8
        if magnitude <= largest:
            codes[i] = pattern(magnitude, f)
            signed_too = codes[i] != 0 or not one_zero
        else:
            ends = saturate and not (infinity_is_nan and isinf(q.value))  # ONQ-E5
            codes[i] = top if ends else beyond  # ONQ-E2, ONQ-E3, ONQ-E6, ONQ-E8
            signed_too = ends or signed
        if signbit(q.value) and signed_too:
            codes[i] |= sign  # ONQ-E7


LOOPS = {"onnx.QuantizeLinear": quantize_linear}
