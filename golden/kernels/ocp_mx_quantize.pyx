# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""ocp.MXQuantize in doubles, whose own exponents are those that a block shares.

A float32 divided by a power of two is a double. So is a power of two times the largest element, with which rceil
compares the greatest magnitude: only in working precision is there a quotient that rounds, in float32.
"""

import numpy as np

from tiebreak.golden.elements import FloatType
from tiebreak.golden.kernels import tensors
from tiebreak.golden.kernels.tensors import LARGEST_SMALL
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED, ZERO

from libc.math cimport INFINITY, fabs, frexp, isfinite, ldexp, signbit
from libc.stdint cimport int64_t, uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow, pattern
from tiebreak.golden.kernels.integral cimport integral

MODES = {"floor": 0, "ceil": 1, "even": 2, "rceil": 3}
EXPONENTS = {  # of the largest power of two in an element type
    "float8_e4m3fn": 8, "float8_e5m2": 15, "float6_e3m2fn": 4, "float6_e2m3fn": 2, "float4_e2m1fn": 2, "int8": 0,
}
FRACTIONS = {  # bits behind an element's first
    "float8_e4m3fn": 3, "float8_e5m2": 2, "float6_e3m2fn": 2, "float6_e2m3fn": 3, "float4_e2m1fn": 1, "int8": 6,
}
cdef int NONE = 1 << 20  # no exponent


cdef struct Way:
    int mode, emax
    double largest
    bint working
    Format rounded, single


cdef Way way_of(problem, bint working):
    """How the scales of a problem are found."""
    cdef Way way
    to = problem.constants["to"]
    way.mode, way.emax, way.working = MODES[problem.constants["scaling_mode"]], EXPONENTS[to], working
    way.largest = LARGEST_SMALL.get(to, 127.0 / 64.0)
    way.rounded = format_of((FRACTIONS[to] + 1, -1000, INFINITY))
    way.single = format_of(tensors.format_of(problem.working))
    return way


cdef int upward(double value) noexcept nogil:
    """The exponent of the least power of two that is not below a positive value."""
    cdef int exponent
    cdef double part = frexp(value, &exponent)
    return exponent - 1 if part == 0.5 else exponent


cdef int exponent_of(double amax, Way way) noexcept nogil:
    """A scale's exponent; NONE where the documents are silent. `amax` is finite and not negative."""
    cdef int exponent
    cdef double quotient
    if way.mode == 3:
        quotient = amax / way.largest  # OMQ-F7
        if way.working:
            quotient = narrow(quotient, way.single)
        elif amax > 0.0:
            frexp(quotient, &exponent)
            exponent -= 2
            while ldexp(way.largest, exponent) < amax:
                exponent += 1
            return min(max(exponent, -127), 127)  # OMQ-C2
        return -127 if quotient == 0.0 else min(max(upward(quotient), -127), 127)  # OMQ-C2
    if amax == 0.0:
        return NONE  # OMQ-U3
    if way.mode == 1:
        exponent = upward(amax)  # OMQ-F5
    else:
        frexp(narrow(amax, way.rounded) if way.mode == 2 else amax, &exponent)  # OMQ-F6, OMQ-F1
        exponent -= 1
    exponent -= way.emax
    return exponent if -127 <= exponent <= 127 else NONE  # OMQ-U2


def scales(problem, working, mode):
    """See LOOPS."""
    amax = tensors.doubles(problem.operands[0], problem.kinds[0])
    codes, states = np.zeros(len(amax), np.int64), np.full(len(amax), UNDEFINED, np.uint8)
    scale_loop(amax, way_of(problem, working), codes, states)
    return codes, states


cdef scale_loop(const double[::1] amax, Way way, int64_t[::1] codes, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef int exponent
    cdef uint8_t in_range = IN_RANGE
    for i in range(amax.shape[0]):
        exponent = exponent_of(amax[i], way) if isfinite(amax[i]) else NONE  # OMQ-U1
        if exponent != NONE:
            codes[i], states[i] = exponent + 127, in_range  # OMQ-F3


def elements(problem, working, mode):
    """See LOOPS."""
    x, amax = (tensors.doubles(o, kind) for o, kind in zip(problem.operands, problem.kinds))
    codes, states = np.zeros(len(x), np.int64), np.full(len(x), UNDEFINED, np.uint8)
    quotients = np.empty(len(x))
    divide(x, amax, way_of(problem, working), quotients)
    if isinstance(problem.result, FloatType):
        to_float(quotients, problem.result, codes, states)
    else:
        to_int8(quotients, tensors.MODE_NUMBERS[mode], codes, states)
    return codes, states


cdef divide(const double[::1] x, const double[::1] amax, Way way, double[::1] quotients):
    """Each input by its block's scale; infinity where that is none."""
    cdef Py_ssize_t i
    cdef int exponent = NONE
    cdef double its_amax = -1.0
    for i in range(x.shape[0]):
        if amax[i] != its_amax:
            its_amax = amax[i]
            exponent = exponent_of(its_amax, way) if isfinite(its_amax) else NONE
        if not isfinite(x[i]) or not isfinite(its_amax):  # OMQ-U1
            quotients[i] = INFINITY
        elif its_amax == 0.0:
            quotients[i] = 0.0  # OMQ-U3
        else:
            quotients[i] = INFINITY if exponent == NONE else ldexp(x[i], -exponent)  # OMQ-F2


cdef to_float(const double[::1] quotients, object kind, int64_t[::1] codes, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef Format f = format_of((kind.precision, kind.emin, INFINITY))
    cdef double narrowed, largest = LARGEST_SMALL[kind.name]
    cdef int64_t sign = 1 << (kind.bits - 1)
    cdef uint8_t in_range = IN_RANGE, zero = ZERO, beyond = OUT_OF_RANGE
    for i in range(quotients.shape[0]):
        if not isfinite(quotients[i]):
            continue
        narrowed = fabs(narrow(quotients[i], f))  # OMQ-R1
        codes[i] = pattern(min(narrowed, largest), f)
        states[i] = beyond if narrowed > largest else in_range if codes[i] else zero  # OMQ-U4, OMQ-U6
        if codes[i] and signbit(quotients[i]):
            codes[i] |= sign


cdef to_int8(const double[::1] quotients, int mode, int64_t[::1] codes, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef double whole
    cdef uint8_t in_range = IN_RANGE, beyond = OUT_OF_RANGE
    for i in range(quotients.shape[0]):
        whole = integral(quotients[i] * 64.0, mode)  # OMQ-F4, OMQ-R1
        if isfinite(whole) and whole >= -127.0:  # OMQ-U5
            codes[i], states[i] = <int64_t>min(whole, 127.0), in_range if whole <= 127.0 else beyond  # OMQ-U6


LOOPS = {"ocp.MXQuantize": elements, "ocp.MXQuantize:scales": scales}
