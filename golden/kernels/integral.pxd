# Rounding a double to an integer by any of the nine modes, which have the numbers of tensors.MODE_NUMBERS.

from libc.math cimport copysign, fabs, floor, rint


cdef inline double integral(double q, int mode) noexcept nogil:
    """A double rounded to an integer; infinities and NaN stay. The fraction is taken of |q|, where it is exact."""
    cdef double magnitude = fabs(q), below = floor(fabs(q))
    cdef double fraction = magnitude - below
    cdef bint negative = q < 0.0, away
    if fraction == 0.0:
        return q
    if mode <= 4 and fraction != 0.5:
        away = fraction > 0.5
    elif mode == 0:
        away = below != 2.0 * floor(0.5 * below)
    elif mode == 1 or mode == 5:
        away = True
    elif mode == 2 or mode == 6:
        away = False
    elif mode == 3 or mode == 7:
        away = not negative
    else:
        away = negative
    return copysign(below + (1.0 if away else 0.0), q)


cdef inline bint undecided(double q, double error, int mode) noexcept nogil:
    """Whether a real number within `error` of q may round to another integer than q does."""
    cdef double doubled = 2.0 * q
    cdef double nearest = rint(doubled)
    if fabs(doubled - nearest) > 2.0 * error:
        return False
    return mode > 4 or nearest != 2.0 * floor(0.5 * nearest)  # near an integer only directed modes are in doubt
