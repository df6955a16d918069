"""The steps that make a ratio of scales a whole number of 31 bits and a power of two."""

from __future__ import annotations

from tiebreak.conformance.emulators.steps import LONG, Computed, cast, constant, named, step

UNIT = constant(2.0**30)


def multiplier_and_power(ratio: Computed, name: str = "") -> tuple[Computed, Computed]:
    """The multiplier, an int64, and the power (float64) of which it has so many units: the ratio is both over 2^30.

    The ratio is a float64; `name` is a prefix for the names of lines.
    """
    power = named(f"{name}power", step("power_of_two", ratio))
    return named(f"{name}multiplier", cast(LONG, step("floor", ratio / power * UNIT + constant(0.5)))), power


def multiplier_of(ratio: Computed) -> tuple[Computed, Computed]:
    """The ratio as one whole number over another one, both int64; as integer_scaling_facets.multiplier_of_bits."""
    multiplier, power = multiplier_and_power(named("ratio", ratio))
    up = cast(LONG, step("clamp", power / UNIT, constant(1), UNIT))
    under = cast(LONG, step("clamp", UNIT / power, constant(1), constant(2.0**62)))
    return multiplier * up, named("under", under)
