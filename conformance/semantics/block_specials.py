"""Blocks with a shared power of two that hold NaN or an infinity, zeros alone, or numbers too small for their scale.

All ways to a scale are the same but for a factor that is a power of two. So a backend's scale of a block of ones tells
which magnitudes need a scale below the least one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from tiebreak.conformance.semantics.model import Facet, Probe
from tiebreak.conformance.semantics.special_calls import NON_FINITE, non_finite, non_finite_numbers, with_own_codes
from tiebreak.golden.problem import Array

BIAS, NAN, TOP = 127, 255, 254  # of E8M0: what is added to an exponent, and its last two codes
BELOW, FAR_BELOW = (-1, -2, -3), -8  # codes that such magnitudes would have; a quotient in bfloat16 has no farther
OVERFLOWN = 128 + BIAS  # the code of 2^128, which an infinity's exponent is


@dataclass(frozen=True, eq=False)
class ScaleOfSpecial:
    """`code` gives the scale's code from the one that the rule would give the magnitude if no range ended."""

    id: str
    sentence: str
    code: Callable[[int], int]
    cause: str = ""


def always(code: int, found: int) -> int:
    return code


def scale(id: str, sentence: str, code: int) -> ScaleOfSpecial:
    return ScaleOfSpecial(id, sentence, partial(always, code))


OF_ZEROS = Facet(
    "zero_block",
    (
        scale("least", "the scale of zeros is 2^-127", 0),
        scale("one", "the scale of zeros is 1", BIAS),
        scale("nan", "the scale of zeros is NaN", NAN),
    ),
)
BELOW_LEAST = Facet(
    "below_least",
    (
        scale("clamped", "a scale that would be below 2^-127 is 2^-127", 0),
        ScaleOfSpecial(
            "wraps",
            "the exponent of a scale that would be below 2^-127 wraps around",
            lambda found: found % 256,
            "scale-exponent-wraps",
        ),
        scale("raised", "a scale that would be below 2^-126 is 2^-126", 1),
        scale("one", "a scale that would be below 2^-127 is 1", BIAS),
        scale("nan", "a scale that would be below 2^-127 is NaN", NAN),
    ),
)


def scales_of_non_finite(shift: int | None) -> tuple[ScaleOfSpecial, ...]:
    """What a block may give that holds NaN or an infinity beside 1; `shift` is the exponent of the scale of 1."""
    fixed = (
        scale("nan", "the scale is NaN", NAN),
        scale("largest", "the scale is 2^127", TOP),
        scale("two", "the scale is 2", BIAS + 1),
        scale("one", "the scale is 1", BIAS),
        scale("least", "the scale is 2^-127", 0),
    )
    if shift is None:
        return fixed
    own = (
        scale("as-2^128", "the scale is that of 2^128, to which the exponent's bits belong", OVERFLOWN + shift),
        scale("as-without", "the scale is that of the block's other numbers", BIAS + shift),
    )
    every = (*fixed[:2], *own, *fixed[2:])
    return tuple(with_own_codes(every, [(one.code(0),) for one in every]))


def special_facets(shift: int | None, dtype: np.dtype[np.generic]) -> tuple[Facet, ...]:
    """Those that a type of inputs has; `shift` is the exponent of the scale of 1, None if it is not known."""
    below = (BELOW_LEAST,) if small_magnitudes(shift, dtype).size else ()
    return (OF_ZEROS, *below, *(Facet(name, scales_of_non_finite(shift)) for name in NON_FINITE))


def small_magnitudes(shift: int | None, dtype: np.dtype[np.generic]) -> Array:
    """Powers of two whose scale would be below 2^-127, as far as the type has them."""
    asked = (*BELOW, FAR_BELOW) if dtype.itemsize > 2 else BELOW
    powers = [] if shift is None else [2.0 ** (code - BIAS - shift) for code in asked]
    found = np.array(powers, np.float64).astype(dtype)
    return np.asarray(found[found != 0])


def special_probes(shift: int | None, dtype: np.dtype[np.generic]) -> Iterator[Probe]:
    for value in (0.0, *small_magnitudes(shift, dtype), *non_finite_numbers()):
        yield Probe(np.array([value]).astype(dtype), ())


def special_of(probe: Probe) -> str:
    """The facet of a special call by its one number."""
    return non_finite(probe.x) or ("below_least" if probe.x.any() else "zero_block")


def beside(probe: Probe) -> Array:
    """What a special call's block holds beside its number: 1, or nothing."""
    return np.array([1.0] if non_finite(probe.x) else []).astype(probe.x.dtype)
