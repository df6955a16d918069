# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""nvidia.NVFP4Quantize in doubles: the scales of blocks in E4M3, and elements by them in E2M1.

Exactly, a scale is a * 448 / g and an element x * 2688 / (g * s), with float32 numbers a, g and x and a scale s of 4
bits. Numerators and denominators have at most 29 bits, so they are doubles. Neither quotient is nearer than 2^-34 of
itself to a number halfway between two results, unless it is that number: the double quotient lies on the same side.
"""

import numpy as np

from tiebreak.golden.kernels import tensors
from tiebreak.golden.kernels.tensors import LARGEST_SMALL
from tiebreak.golden.problem import IN_RANGE, UNDEFINED, ZERO

from libc.math cimport INFINITY, NAN, fabs, fmin, isfinite, isnan, signbit
from libc.stdint cimport int64_t, uint8_t

from tiebreak.golden.kernels.arithmetic cimport Format, format_of, narrow, pattern

cdef double WHOLE = 6.0 * 448.0, SIX = 6.0
E4M3, E2M1 = (4, -6, INFINITY), (2, 0, INFINITY)
cdef double MOST = LARGEST_SMALL["float8_e4m3fn"], MOST_ELEMENT = LARGEST_SMALL["float4_e2m1fn"]


cdef struct Way:
    bint working, scaled
    double whole, encode, decode  # global_amax; the factor of the tensor and its reciprocal, in working precision
    Format single, scale, element


cdef Way way_of(problem, bint working, bint scaled):
    cdef Way way
    way.working, way.scaled = working, scaled
    way.whole, way.encode, way.decode = WHOLE, 1.0, 1.0
    way.single = format_of(tensors.format_of(problem.working))
    way.scale, way.element = format_of(E4M3), format_of(E2M1)
    return way


cdef bint set_whole(Way *way, double whole) noexcept nogil:
    """Take another global_amax; whether it scales anything."""
    way.whole = whole
    if not isfinite(whole) or whole <= 0.0:  # NVQ-U3
        return False
    way.encode = narrow(WHOLE / whole, way.single)  # NVQ-F4
    way.decode = narrow(1.0 / way.encode, way.single)  # NVQ-F5
    return isfinite(way.encode)


cdef double scale_of(double amax, Way way) noexcept nogil:
    """A block's scale as it is put out; NaN where the order of steps decides. `amax` is finite and not negative."""
    cdef double quotient, found, other, last
    if not way.working:
        quotient = amax * MOST / way.whole if way.scaled else amax / SIX  # NVQ-F1, NVQ-F4
        return as_scale(quotient, way)
    quotient = narrow(amax / SIX, way.single)  # NVQ-F1
    if not way.scaled:
        return as_scale(quotient, way)
    found = as_scale(narrow(quotient * way.encode, way.single), way)  # NVQ-F4
    other = as_scale(narrow(narrow(amax * way.encode, way.single) / SIX, way.single), way)
    last = as_scale(narrow(amax * narrow(way.encode / SIX, way.single), way.single), way)
    return found if found == other and found == last else NAN  # NVQ-U5


cdef inline double as_scale(double quotient, Way way) noexcept nogil:
    return fmin(narrow(quotient, way.scale), MOST)  # NVQ-F2, NVQ-R1, NVQ-C1


cdef inline double as_element(double quotient, Way way) noexcept nogil:
    """The element with its sign, as a number."""
    cdef double magnitude = fmin(fabs(narrow(quotient, way.element)), MOST_ELEMENT)  # NVQ-R2, NVQ-C2
    return -magnitude if signbit(quotient) else magnitude


cdef double element_of(double x, double scale, Way way) noexcept nogil:
    """An input by its scale, rounded; NaN where the documents are silent, or order their steps differently."""
    cdef double factor, inverse, found, other, last
    if not isfinite(x) or not isfinite(scale) or scale == 0.0:  # NVQ-U1, NVQ-U2
        return NAN
    if not way.working:
        factor = narrow(WHOLE / (way.whole * scale), way.single)
        return as_element(x * WHOLE / (way.whole * scale), way) if isfinite(factor) else NAN  # NVQ-F3, NVQ-F5, NVQ-U3
    inverse = narrow(1.0 / scale, way.single)  # NVQ-F3
    if not way.scaled:
        return as_element(narrow(x * inverse, way.single), way) if isfinite(inverse) else NAN  # NVQ-F3, NVQ-U3
    factor = narrow(1.0 / narrow(scale * way.decode, way.single), way.single)  # NVQ-F3, NVQ-F5
    found = as_element(narrow(x * factor, way.single), way)
    last = as_element(narrow(narrow(x * way.encode, way.single) * inverse, way.single), way)
    if not isfinite(factor):
        return NAN  # NVQ-U3
    factor = narrow(way.encode * inverse, way.single)
    other = as_element(narrow(x * factor, way.single), way)
    return found if isfinite(factor) and isfinite(inverse) and found == other and found == last else NAN  # NVQ-U5


cdef loop(const double[::1] x, const double[::1] of_block, const double[::1] wholes, bint given, Way way,
          int64_t[::1] codes, uint8_t[::1] states):
    """Elements; `of_block` is the scale, if it is given, else the greatest magnitude."""
    cdef Py_ssize_t i
    cdef bint usable = True
    cdef double scale, element
    cdef int64_t sign = 8
    cdef uint8_t in_range = IN_RANGE, zero = ZERO
    for i in range(x.shape[0]):
        if way.scaled and (i == 0 or wholes[i] != way.whole):
            usable = set_whole(&way, wholes[i])
        if not usable or not isfinite(of_block[i]):  # NVQ-U1, NVQ-U3
            continue
        scale = of_block[i] if given else scale_of(of_block[i], way)
        element = element_of(x[i], scale, way)
        if isnan(element):
            continue
        codes[i] = pattern(fabs(element), way.element)
        states[i] = in_range if codes[i] else zero  # NVQ-U4
        if codes[i] and signbit(element):
            codes[i] |= sign


cdef scale_loop(const double[::1] amax, const double[::1] wholes, Way way, int64_t[::1] codes, uint8_t[::1] states):
    cdef Py_ssize_t i
    cdef bint usable = True
    cdef double scale
    cdef uint8_t in_range = IN_RANGE
    for i in range(amax.shape[0]):
        if way.scaled and (i == 0 or wholes[i] != way.whole):
            usable = set_whole(&way, wholes[i])
        if not usable or not isfinite(amax[i]):  # NVQ-U1, NVQ-U3
            continue
        scale = scale_of(amax[i], way)
        if not isnan(scale):
            codes[i], states[i] = pattern(scale, way.scale), in_range


def unfilled(count):
    return np.zeros(count, np.int64), np.full(count, UNDEFINED, np.uint8)


def elements(problem, working, mode):
    """See LOOPS."""
    found = [tensors.doubles(o, kind) for o, kind in zip(problem.operands, problem.kinds)]
    codes, states = unfilled(len(found[0]))
    scaled, given = len(found) > 2, problem.constants["given"]
    way = way_of(problem, working, scaled)
    loop(found[0], found[1], found[2] if scaled else np.empty(0), given, way, codes, states)
    return codes, states


def scales(problem, working, mode):
    """See LOOPS."""
    found = [tensors.doubles(o, kind) for o, kind in zip(problem.operands, problem.kinds)]
    codes, states = unfilled(len(found[0]))
    scaled = len(found) > 1
    scale_loop(found[0], found[1] if scaled else np.empty(0), way_of(problem, working, scaled), codes, states)
    return codes, states


LOOPS = {
    "nvidia.NVFP4Quantize": elements,
    "nvidia.NVFP4Quantize:scales": scales,
}
