# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""tosa.RESCALE in 64-bit integers, as the document writes it: a product, a sum and an arithmetic shift.

A mode of rounding decides between what the shift leaves and the next integer by what it drops. The ends that
INEXACT_ROUND allows need 90 bits: Python's integers.
"""

import numpy as np

from tiebreak.golden.kernels.tensors import MODE_NUMBERS
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED

from libc.stdint cimport int64_t, uint8_t

cdef int64_t ONE = 1
cdef int64_t LOWEST = -(ONE << 31), HIGHEST = (ONE << 31) - 1


cdef inline int64_t shifted(int64_t number, int shift, int mode) noexcept nogil:
    """number / 2^shift, rounded by a mode with a number of MODE_NUMBERS."""
    cdef int64_t below = number >> shift, dropped = number & ((ONE << shift) - 1), half = ONE << (shift - 1)
    if dropped == 0:
        return below
    if mode <= 4 and dropped != half:
        return below + (dropped > half)
    if mode == 0:
        return below + (below & 1)
    if mode == 1 or mode == 5:
        return below + (number >= 0)
    if mode == 2 or mode == 6:
        return below + (number < 0)
    return below + (mode == 3 or mode == 7)


def output(problem, working, mode):
    """See LOOPS."""
    operands = np.array(problem.operands, np.int64)
    codes, states = np.zeros(operands.shape[1], np.int64), np.full(operands.shape[1], UNDEFINED, np.uint8)
    rounding, lowest, highest = problem.constants["rounding_mode"], problem.result.lowest, problem.result.highest
    is_end = rounding == "INEXACT_ROUND" and working and mode in ("ROUND_DOWN", "ROUND_UP")
    number = MODE_NUMBERS["ROUND_NEAREST_UPWARD" if is_end else mode]
    twice = rounding == "DOUBLE_ROUND"
    by_letter = working and lowest == 0  # TRS-U7
    inexact = rounding == "INEXACT_ROUND"
    loop(operands, problem.constants["scale32"], twice, number, lowest, highest, by_letter, inexact, codes, states)
    if is_end:
        furthest(operands, mode == "ROUND_UP", lowest, highest, codes, states)
    return codes, states


cdef loop(const int64_t[:, ::1] operands, bint scale32, bint twice, int mode, int64_t lowest, int64_t highest,
          bint by_letter, bint inexact, int64_t[::1] codes, uint8_t[::1] states):
    """`operands` has a row for each: x, multiplier, shift, both zero points and what is unmet."""
    cdef Py_ssize_t i
    cdef int shift
    cdef int64_t value, multiplier, product, total, half
    cdef uint8_t in_range = IN_RANGE, out_of_range = OUT_OF_RANGE
    for i in range(operands.shape[1]):
        multiplier, shift = operands[1, i], <int>operands[2, i]
        if operands[5, i] or multiplier < 0 or shift < 2 or shift > 62:  # TRS-U1, TRS-U2, TRS-U6
            continue
        value, half = operands[0, i] - operands[3, i], ONE << (shift - 1)  # TRS-F1
        if scale32 and (value < -half or value >= half):  # TRS-U3
            continue
        product = value * multiplier  # TRS-F2, TRS-F3
        if twice and shift > 31:
            product += (ONE << 30) if value >= 0 else -(ONE << 30)  # TRS-R2
        total = shifted(product, shift, mode)  # TRS-R1
        if total < LOWEST or total > HIGHEST:  # TRS-U4
            continue
        total += operands[4, i]  # TRS-F4
        if total < LOWEST or total > HIGHEST:  # TRS-U5
            continue
        if by_letter and total < 0:
            if inexact:
                continue
            total = HIGHEST
        codes[i] = min(max(total, lowest), highest)  # TRS-C1
        states[i] = in_range if codes[i] == total else out_of_range


def furthest(operands, up, lowest, highest, codes, states):
    """The ends of what INEXACT_ROUND allows, for the elements that have a result; in units of 2^-(shift + 24)."""
    known = np.flatnonzero(states != UNDEFINED)
    for i, (x, multiplier, shift, input_zp, output_zp) in zip(known.tolist(), operands[:5, known].T.tolist()):
        product, one = (x - input_zp) * multiplier, 1 << shift
        total = product + (output_zp << shift)
        slack = (one << 23) + 3 * abs(product) + abs(total)  # TRS-R3
        far = ((total << 24) + slack) >> (shift + 24) if up else -((slack - (total << 24)) >> (shift + 24))
        codes[i] = min(max(far, lowest), highest)
        states[i] = IN_RANGE


LOOPS = {"tosa.RESCALE": output}
