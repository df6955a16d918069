# Inline arithmetic shared by the kernels: rounding a double to a narrower type, and exact products as two doubles.
#
# Textually included: cimport would need the folders to be where the packages are.

from libc.math cimport INFINITY, copysign, fabs, fma, frexp, isfinite, ldexp, nextafter, rint
from libc.stdint cimport int64_t, uint8_t

cdef struct Format:
    int precision
    int emin
    double largest


cdef Format format_of(tuple described):
    """From (precision, emin, largest), see tensors.format_of."""
    cdef Format f
    f.precision, f.emin, f.largest = described
    return f


cdef inline double narrow(double q, Format f) noexcept nogil:
    """A double rounded to a narrower type (ties to even, overflow to infinity), as a double.

    A sum, difference, product or quotient of p-bit operands rounded first to double and then to p bits is the same as
    rounded once, since 53 >= 2p + 2 for all narrower types; double itself comes back as it is.
    """
    cdef int exponent
    if f.precision == 53 or q == 0.0 or not isfinite(q):
        return q
    frexp(q, &exponent)
    exponent = max(exponent - 1, f.emin) - (f.precision - 1)
    q = ldexp(rint(ldexp(q, -exponent)), exponent)
    return copysign(INFINITY, q) if fabs(q) > f.largest else q


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
