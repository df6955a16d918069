# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Casts from and to types of 8 bits and fewer, in double, which holds every value of every type that is cast.

A double is narrowed to a small type's significand and least exponent in one rounding; the end of the type's range is
looked at afterwards. A power of two is read from the double's own exponent.
"""

import numpy as np

from tiebreak.golden.elements import FloatType
from tiebreak.golden.kernels import tensors
from tiebreak.golden.kernels.tensors import LARGEST_SMALL
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED, ZERO

from libc.math cimport INFINITY, fabs, frexp, isfinite, isinf, isnan, signbit
from libc.stdint cimport int64_t, uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow, pattern
from tiebreak.golden.kernels.integral cimport integral

# The attributes of a float8_e8m0fnu for which the document says what becomes of what is out of range.
UP, DOWN, NEAREST = range(3)
ROUND_MODES = {"up": UP, "down": DOWN, "nearest": NEAREST}
TABLED = {(UP, True), (NEAREST, False)}


def cast(problem, working, mode):
    """See LOOPS. There is one step, so `working` changes nothing."""
    source, result = problem.kinds[0], problem.result
    x = tensors.doubles(problem.operands[0], source)
    codes, states = np.zeros(len(x), np.int64), np.full(len(x), UNDEFINED, np.uint8)
    if not isinstance(result, FloatType):
        if not isinstance(source, FloatType):
            return wrapped(problem.operands[0], result), np.full(len(x), IN_RANGE, np.uint8)
        to_whole(x, result.lowest, result.highest, tensors.MODE_NUMBERS[mode], codes, states)
    elif result.specials == "e8m0":
        how = ROUND_MODES[problem.constants["round_mode"]], problem.constants["saturate"]
        to_powers(x, how[0], how[1], how in TABLED, codes, states)
    elif result.bits >= 16:
        values = np.empty(len(x))
        to_wide(x, tensors.format_of(result), values, states)
        return np.where(states == IN_RANGE, tensors.real_codes(values, result), 0), states
    else:
        to_small(x, problem, result, codes, states)
    return codes, states


def wrapped(codes, result):
    """The lowest bits of integers, read as the result's type reads them."""
    kept = codes & ((1 << result.bits) - 1)  # ONC-C8
    return np.where(kept > result.highest, kept - (1 << result.bits), kept)


cdef to_whole(const double[::1] x, double lowest, double highest, int mode, int64_t[::1] codes, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef double whole
    cdef uint8_t in_range = IN_RANGE, out_of_range = OUT_OF_RANGE
    for i in range(x.shape[0]):
        if not isfinite(x[i]):  # ONC-U1
            continue
        whole = integral(x[i], mode)  # ONC-R3, ONC-U2
        states[i] = in_range if lowest <= whole <= highest else out_of_range  # ONC-U1
        codes[i] = <int64_t>min(max(whole, lowest), highest)


cdef to_wide(const double[::1] x, tuple described, double[::1] values, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef Format f = format_of(described)
    cdef uint8_t in_range = IN_RANGE, zero = ZERO
    for i in range(x.shape[0]):
        values[i] = narrow(x[i], f)  # ONC-F1, ONC-F2, ONC-F3
        if x[i] == 0.0:
            states[i] = zero  # ONC-U6
        elif values[i] == x[i] or not isfinite(values[i]):  # ONC-U7: else it is left undefined
            states[i] = in_range


cdef to_small(const double[::1] x, object problem, object result, int64_t[::1] codes, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef Format f = format_of((result.precision, result.emin, INFINITY))
    cdef double narrowed, largest = LARGEST_SMALL[result.name]
    cdef int64_t sign = 1 << (result.bits - 1), top = result.largest_bits
    cdef bint bounded = result.specials == "none", one_zero = result.specials == "fnuz"
    cdef bint infinite = result.specials == "ieee", infinity_is_nan = problem.constants["infinity_is_nan"]
    cdef bint saturate = bounded or problem.constants["saturate"], open_nan = bounded and result.bits == 6
    cdef bint signed, whole = not isinstance(problem.kinds[0], FloatType) and result.bits == 8
    cdef int64_t infinity = result.infinity_bits, nan = top if bounded else result.nan_bits
    cdef uint8_t in_range = IN_RANGE
    for i in range(x.shape[0]):
        if isnan(x[i]):
            if not open_nan:  # ONC-U8: else it is left undefined
                codes[i], states[i] = nan, in_range  # ONC-F3, ONC-C5
            continue
        narrowed = fabs(narrow(x[i], f))  # ONC-R1, ONC-R2, ONC-R7
        if whole and (narrowed != fabs(x[i]) or narrowed > largest):
            continue  # ONC-U3
        states[i], signed = in_range, signbit(x[i])
        if narrowed <= largest:
            codes[i] = pattern(narrowed, f)
            signed = signed and (codes[i] != 0 or not one_zero)  # ONC-F4
        elif saturate and not (isinf(x[i]) and infinity_is_nan):
            codes[i] = top  # ONC-C1, ONC-C3, ONC-C5, ONC-C9
        else:
            codes[i] = infinity if infinite else nan  # ONC-C2, ONC-C4
            signed = signed and infinite
        if signed:
            codes[i] |= sign


cdef to_powers(const double[::1] x, int how, bint saturate, bint tabled, int64_t[::1] codes, uint8_t[::1] states):
    """To float8_e8m0fnu, whose code is the exponent of two plus 127 and whose NaN is 255."""
    cdef Py_ssize_t i
    cdef int exponent
    cdef double part, least = 2.0 ** -127, most = 2.0 ** 127
    cdef uint8_t in_range = IN_RANGE
    for i in range(x.shape[0]):
        if isnan(x[i]):
            codes[i], states[i] = 255, in_range  # ONC-F3
        elif signbit(x[i]):
            continue  # ONC-U4
        elif not least <= x[i] <= most:
            if tabled:  # ONC-U5: else it is left undefined
                codes[i], states[i] = (254 if x[i] > 1.0 else 0) if saturate else 255, in_range  # ONC-C6, ONC-C7
        else:
            part = frexp(x[i], &exponent)  # from a half to one
            if how == 0:
                exponent += part > 0.5  # ONC-R4
            elif how == 2:
                exponent += part >= 0.75  # ONC-R6
            codes[i], states[i] = exponent - 1 + 127, in_range  # ONC-R5


LOOPS = {"onnx.Cast": cast}
