# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""torch.fake_quantize_per_tensor_affine and …_per_channel_affine in doubles.

A double quotient of two float32 has a relative error of at most 2^-53; where it leaves a doubt about the integer, big
integers decide. A level is an int32 plus at most a float32; what double does not hold of level minus zero point, times
the scale, big integers multiply.
"""

import numpy as np

from tiebreak.golden.kernels import integers, tensors
from tiebreak.golden.problem import IN_RANGE, UNDEFINED, ZERO

from libc.math cimport fabs, fma, isfinite, ldexp
from libc.stdint cimport uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow, to_odd
from tiebreak.golden.kernels.integral cimport integral, undecided

cdef double UNIT = ldexp(1.0, -52)
cdef double FAR = ldexp(1.0, 140)  # beyond every level, whatever the zero point


def fake_quantize(problem, working, mode):
    """See LOOPS."""
    x, scale, zero_point = (tensors.doubles(o, kind) for o, kind in zip(problem.operands, problem.kinds))
    values, states = np.zeros(len(x)), np.full(len(x), UNDEFINED, np.uint8)
    described = tensors.format_of(problem.result)
    low, high = problem.constants["quant_min"], problem.constants["quant_max"]
    floats = problem.kinds[2].name.startswith("float")
    fill(x, scale, zero_point, low, high, floats, mode, working, described, values, states)
    return np.where(states != UNDEFINED, tensors.real_codes(values, problem.result), 0), states


cdef fill(const double[::1] x, const double[::1] scale, const double[::1] zero_point, double low, double high,
          bint floats, str mode, bint working, tuple described, double[::1] values, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef Format f = format_of(described)
    cdef int number = tensors.MODE_NUMBERS[mode]
    cdef uint8_t in_range = IN_RANGE, zero = ZERO
    cdef double value
    for i in range(x.shape[0]):
        if not (isfinite(x[i]) and isfinite(scale[i]) and isfinite(zero_point[i])) or scale[i] == 0.0:
            continue  # PFT-U1, PFT-U2, PFT-U3, PFC-U1, PFC-U2, PFC-U3
        if working:
            value = stepwise(x[i], scale[i], zero_point[i], low, high, floats, number, f)
        else:
            value = exactly(x[i], scale[i], zero_point[i], low, high, number, mode, f, described)
        values[i] = 0.0 if value == 0.0 else value  # PFT-U4, PFC-U4
        states[i] = zero if value == 0.0 else in_range


cdef double stepwise(double x, double scale, double zero, double low, double high, bint floats, int mode,
                     Format f) noexcept:
    cdef double level = integral(narrow(x / scale, f), mode)  # PFT-F1, PFT-R1, PFC-F1, PFC-R1
    if not floats:
        level = min(max(level + zero, low), high)  # PFT-F2, PFT-C1, PFC-F2, PFC-C1
        return narrow_product(level - zero, scale, f)  # PFT-F3, PFT-F4, PFC-F3, PFC-F4
    level = narrow(level + zero, f)
    level = min(max(level, narrow(low, f)), narrow(high, f))
    return narrow(narrow(level - zero, f) * scale, f)


cdef inline double narrow_product(double whole, double scale, Format f) noexcept nogil:
    """A whole number of up to 33 bits times a float32, rounded once."""
    cdef double product = whole * scale
    return narrow(to_odd(product, fma(whole, scale, -product)), f)


cdef double exactly(double x, double scale, double zero, double low, double high, int number, str mode, Format f,
                    tuple described):
    cdef double quotient = x / scale, level  # PFT-F1, PFC-F1
    if fabs(quotient) > FAR:
        level = high if quotient > 0.0 else low
        return product_of(level, zero, scale, described)
    if undecided(quotient, fabs(quotient) * UNIT, number):
        top, bottom = integers.ratio(x)
        step_top, step_bottom = integers.ratio(scale)
        whole = integers.round_ratio(top * step_bottom, bottom * step_top, mode)  # PFT-R1, PFC-R1
    else:
        whole = int(integral(quotient, number))  # PFT-R1, PFC-R1
    zero_top, zero_bottom = integers.ratio(zero)
    level_top = whole * zero_bottom + zero_top  # PFT-F2, PFC-F2
    if level_top < int(low) * zero_bottom:  # PFT-C1, PFC-C1
        return product_of(low, zero, scale, described)
    if level_top > int(high) * zero_bottom:
        return product_of(high, zero, scale, described)
    top, bottom = integers.ratio(scale)
    return integers.ratio_to_real(whole * top, bottom, described)  # PFT-F3, PFT-F4, PFC-F3, PFC-F4


cdef double product_of(double level, double zero, double scale, tuple described):
    """(level - zero) * scale, rounded once."""
    top, bottom = integers.ratio(zero)
    scale_top, scale_bottom = integers.ratio(scale)
    return integers.ratio_to_real((int(level) * bottom - top) * scale_top, bottom * scale_bottom, described)


LOOPS = {
    "torch.fake_quantize_per_tensor_affine": fake_quantize,
    "torch.fake_quantize_per_channel_affine": fake_quantize,
}
