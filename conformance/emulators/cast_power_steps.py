"""The steps from a number to float8_e8m0fnu, a power of two or NaN: as conformance/semantics/cast_powers.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tiebreak.conformance.emulators.steps import Computed, constant, modulus, named, step, where
from tiebreak.conformance.semantics import cast_powers
from tiebreak.conformance.semantics.cast_powers import CodeOrMagnitude, PowerCombination
from tiebreak.conformance.semantics.model import Semantics

NAN, ZERO, ONE, HALFWAY, TWO = map(constant, (np.nan, 0, 1, 1.5, 2))
LEAST = constant(cast_powers.LEAST, name="LEAST")
LARGEST = constant(cast_powers.LARGEST, name="LARGEST")
FIRST_NORMAL = constant(2.0**cast_powers.SINGLE_EMIN)
FAR_BELOW = constant(2.0**-200)  # so small that every mode gives the end of the range

# Whether a number goes to the power of two above it: of how many times the one below it is, and of that one.
UPWARD: Mapping[str, Callable[[Computed, Computed], Computed]] = {
    "up": lambda times, power: times > ONE,
    "nearest": lambda times, power: times >= HALFWAY,
    "nearest-down": lambda times, power: times > HALFWAY,
    "nearest-even": lambda times, power: (
        (times > HALFWAY) | (step("equal", times, HALFWAY) & step("equal", modulus(step("exponent", power), 2), ZERO))
    ),
    "nearest-exponent": lambda times, power: times * times >= TWO,
    "always-up": lambda times, power: times >= ONE,
}


def power_steps(semantics: Semantics, v: Computed) -> Computed:
    """A float64 that the type holds, of a finite one."""
    one = PowerCombination._make(semantics)
    size = named("size", step("abs", v))
    power = named("rounded", rounded_to_power(one, size))
    found = step("clamp", power, LEAST, LARGEST)
    if not one.saturation.saturates:
        compared = size if one.saturation.compares_number else power
        found = where((compared < LEAST) | (compared > LARGEST), NAN, named("in_range", found))
    found = instead(one.negative, v < ZERO, named("positive", found))
    return instead(one.zero, step("equal", v, ZERO), named("not_zero", found))


def rounded_to_power(one: PowerCombination, size: Computed) -> Computed:
    """A power of two, without an end."""
    below = named("below", step("power_of_two", step("maximum", size, FAR_BELOW)))
    times = size / below
    is_subnormal = named("is_subnormal", size < FIRST_NORMAL)
    if one.exponent.of_field:
        below = named("below_field", where(is_subnormal, LEAST, below))
        times = where(is_subnormal, ONE + size / FIRST_NORMAL, times)
    mode = one.round_mode.mode.id
    if mode == cast_powers.DOWN.id:
        return below
    times = named("times", times)
    upward = UPWARD[mode](times, below)
    if one.exponent.of_field and mode == "nearest":
        upward = upward & ~(is_subnormal & step("equal", times, HALFWAY))
    return where(upward, below * TWO, below)


def instead(value: CodeOrMagnitude, there: Computed, found: Computed) -> Computed:
    """What zero, or a negative number, gives in place of its magnitude's power."""
    if value.code is None:
        return found
    return where(there, NAN if value.code == cast_powers.NAN else LEAST, found)
