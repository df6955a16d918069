# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""torch.quantize_per_tensor and torch.quantize_per_channel in doubles.

Operands are float32 and integers of at most 32 bits. A double quotient of two float32 has a relative error of at most
2^-53, and the sum with the zero point another one; where these leave a doubt, big integers decide. They do so too where
a zero point is a float so large that the doubles would say nothing of the sum.
"""

import numpy as np

from tiebreak.golden.elements import FloatType
from tiebreak.golden.kernels import integers, tensors
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED

from libc.math cimport fabs, isfinite, isnan, ldexp
from libc.stdint cimport int64_t, uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow
from tiebreak.golden.kernels.integral cimport integral, undecided

cdef double UNIT = ldexp(1.0, -52)
cdef double FAR = ldexp(1.0, 40)  # beyond every output type, whatever an integer zero point


def quantize(problem, working, mode):
    """See LOOPS."""
    x, scale, zero_point = (tensors.doubles(o, kind) for o, kind in zip(problem.operands, problem.kinds))
    codes, states = np.zeros(len(x), np.int64), np.full(len(x), UNDEFINED, np.uint8)
    described = tensors.format_of(problem.working)
    cdef bint real = isinstance(problem.kinds[2], FloatType)
    fill(x, scale, zero_point, mode, working, real, described, problem.result.lowest, problem.result.highest, codes,
         states)
    return codes, states


cdef fill(const double[::1] x, const double[::1] scale, const double[::1] zero_point, str mode, bint working,
          bint real, tuple described, double lowest, double highest, int64_t[::1] codes, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef Format f = format_of(described)
    cdef int number = tensors.MODE_NUMBERS[mode]
    cdef uint8_t in_range = IN_RANGE, beyond = OUT_OF_RANGE
    cdef double found
    for i in range(x.shape[0]):
        if not (isfinite(x[i]) and isfinite(scale[i]) and isfinite(zero_point[i])) or scale[i] == 0.0:
            continue  # PQT-U2, PQT-U3, PQT-U4, PQC-U2, PQC-U3, PQC-U4
        if working:
            if real:
                found = narrow(x[i] * narrow(1.0 / scale[i], f), f)  # PQC-F3
            else:
                found = narrow(x[i] / scale[i], f)  # PQT-F1, PQC-F1
            found = narrow(found + narrow(zero_point[i], f), f)  # PQT-F2, PQC-F2
            if isnan(found):
                continue  # an infinite inverse times 0
            found = integral(found, number)  # PQT-R1, PQT-U1, PQC-R1, PQC-U1
        else:
            found = exactly(x[i], scale[i], zero_point[i], number, mode)
        states[i] = in_range if lowest <= found <= highest else beyond
        codes[i] = <int64_t>min(max(found, lowest), highest)  # PQT-C1, PQC-C1


cdef double exactly(double x, double scale, double zero_point, int number, str mode):
    """round(x / scale + zero_point); 2^40 of its sign stands for a sum that is too far for any type."""
    cdef double quotient = x / scale, total  # PQT-F1, PQC-F1
    total = quotient + zero_point  # PQT-F2, PQC-F2
    if fabs(total) > FAR and fabs(total) > 0.5 * fabs(quotient):  # neither term takes the other away
        return FAR if total > 0.0 else -FAR
    if fabs(quotient) > FAR or undecided(total, (fabs(quotient) + fabs(total)) * UNIT, number):
        top, bottom = integers.ratio(x)
        step_top, step_bottom = integers.ratio(scale)
        top, bottom = top * step_bottom, bottom * step_top
        zero, unit = integers.ratio(zero_point)
        found = integers.round_ratio(top * unit + zero * bottom, bottom * unit, mode)
        return min(max(found, -(1 << 40)), 1 << 40)
    return integral(total, number)  # PQT-R1, PQT-U1, PQC-R1, PQC-U1


LOOPS = {"torch.quantize_per_tensor": quantize, "torch.quantize_per_channel": quantize}
