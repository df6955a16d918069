# Inline arithmetic shared by the kernels: rounding a double to a narrower type, and exact products as two doubles.

from libc.math cimport INFINITY, copysign, fabs, fma, frexp, isfinite, ldexp, nextafter, rint
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

cdef struct Format:
    int precision
    int emin
    double largest
    double least_normal
    double magic  # whose unit in the last place is the type's least number; added, it rounds what is subnormal
    uint64_t odd, half, kept  # of a double's bits: the type's last, one less than half of it, all down to it


cdef inline Format format_of(tuple described):
    """From (precision, emin, largest), see tensors.format_of."""
    cdef Format f
    cdef int dropped
    f.precision, f.emin, f.largest = described
    dropped = 53 - f.precision
    f.least_normal = ldexp(1.0, f.emin)
    f.magic = ldexp(1.5, f.emin - f.precision + 53)
    f.odd = <uint64_t>1 << dropped
    f.half = (f.odd >> 1) - 1 if dropped else 0
    f.kept = ~(f.odd - 1)
    return f


cdef inline double narrow(double q, Format f) noexcept nogil:
    """A double rounded to a narrower type (ties to even, overflow to infinity), as a double.

    A sum, difference, product or quotient of p-bit operands rounded first to double and then to p bits is the same as
    rounded once, since 53 >= 2p + 2 for all narrower types; double itself comes back as it is.
    """
    cdef double magnitude = fabs(q)
    cdef uint64_t bits
    if f.precision == 53 or not isfinite(q):
        return q
    if magnitude < f.least_normal:
        return copysign((magnitude + f.magic) - f.magic, q)
    memcpy(&bits, &magnitude, 8)
    bits = (bits + f.half + (1 if bits & f.odd else 0)) & f.kept
    memcpy(&magnitude, &bits, 8)
    return copysign(magnitude if magnitude <= f.largest else INFINITY, q)


cdef inline double to_odd(double value, double error) noexcept nogil:
    """value + error rounded to odd: inexact results get an odd last bit, so that rounding once more, to 51 bits or
    fewer, gives what rounding value + error at once would. `value` is their sum rounded to nearest."""
    cdef int exponent
    if error == 0.0 or not isfinite(value):
        return value
    if (error > 0.0) != (value > 0.0):  # the sum lies nearer to zero: truncate first
        value = nextafter(value, 0.0)
    if rint(ldexp(frexp(value, &exponent), 52)) == ldexp(frexp(value, &exponent), 52):  # even last bit
        value = nextafter(value, copysign(INFINITY, value))
    return value


cdef inline double product_narrowed(double a, double b, Format f) noexcept nogil:
    """a * b rounded once to the type; a and b may have 53 bits each, or be infinite or NaN."""
    cdef double p = a * b
    if f.precision == 53:
        return p
    return narrow(to_odd(p, fma(a, b, -p)), f)


cdef inline int64_t pattern(double magnitude, Format f) noexcept nogil:
    """The bits of a magnitude that the format holds."""
    cdef int exponent
    cdef int64_t significand
    if magnitude == 0.0:
        return 0
    frexp(magnitude, &exponent)
    exponent = max(exponent - 1, f.emin)
    significand = <int64_t>ldexp(magnitude, f.precision - 1 - exponent)
    return ((<int64_t>(exponent - f.emin)) << (f.precision - 1)) + significand
