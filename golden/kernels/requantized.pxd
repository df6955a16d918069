# Inline arithmetic of kernels that requantize a sum: an integer of 32 bits times two scales, divided by a third.

from libc.math cimport NAN, fabs, fma

from tiebreak.golden.kernels.arithmetic cimport Format, narrow, product_narrowed
from tiebreak.golden.kernels.integral cimport integral, undecided

cdef inline double rounded_exactly(double total, double a, double b, double y, int mode) noexcept nogil:
    """total * a * b / y rounded to an integer by a mode; NaN if doubles can't decide it. y is not 0.

    The product of two scales of 24 bits is exact. Two more steps round, each by 2^-53 of itself at most.
    """
    cdef double quotient = total * (a * b) / y, error = fabs(quotient) * 2.0**-51, low, high
    if quotient == 0.0 and (total == 0.0 or a == 0.0 or b == 0.0):
        return 0.0
    if fabs(quotient) > 1099511627776.0:  # 2^40: beyond every output type, whatever the zero point
        return quotient
    low, high = integral(quotient - error, mode), integral(quotient + error, mode)
    return low if low == high else NAN


cdef inline double rounded_in_steps(double total, double a, double b, double y, int mode, Format f) noexcept nogil:
    """The same where each step rounds to the format: the product of the scales, the total's, and the quotient.

    The total is a float32 before.
    """
    return integral(narrow(product_narrowed(<double><float>total, narrow(a * b, f), f) / y, f), mode)


cdef inline double scaled_exactly(double total, double scale, double divisor, double zero, int mode,
                                  bint *doubtful) noexcept nogil:
    """total * scale / divisor + zero rounded to an integer by a mode; doubtful if doubles can't decide it.

    All four are exact. Three steps round, each by at most 2^-53 of its result: 2^-51 is more than that.
    """
    cdef double number = total * scale
    cdef double quotient = number / divisor
    cdef double value = quotient + zero
    cdef double part = value - quotient
    cdef bint rounds = fma(total, scale, -number) != 0.0 or fma(-quotient, divisor, number) != 0.0
    rounds = rounds or (quotient - (value - part)) + (zero - part) != 0.0
    doubtful[0] = rounds and undecided(value, 2.0**-51 * (fabs(quotient) + fabs(zero)), mode)
    return integral(value, mode)
