"""The steps from a number to one of a small or short float type: round mode, subnormals, the type's end, zeros.

A number is counted in units: the distance to the type's next value at the number's size, a power of two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from tiebreak.conformance.emulators.rounding_steps import MODES
from tiebreak.conformance.emulators.steps import Computed, constant, modulus, named, step, where
from tiebreak.conformance.semantics.cast_grid import GridCombination
from tiebreak.conformance.semantics.cast_grid_facets import SIGN_KEPT, ZeroSign
from tiebreak.conformance.semantics.cast_inputs import SMALL_BITS
from tiebreak.conformance.semantics.model import Semantics
from tiebreak.conformance.semantics.type_grids import largest_of
from tiebreak.golden.elements import FloatType

NAN, INFINITY, ZERO, ONE, TWO = map(constant, (np.nan, np.inf, 0, 1, 2))
HALF = constant(0.5)


@dataclass(frozen=True)
class Counted:
    """A number's magnitude, the unit there, and how many units the number is, with its sign."""

    size: Computed
    unit: Computed
    units: Computed


def counted(v: Computed, kind: FloatType, prefix: str = "") -> Counted:
    """Counts a float64. All three are exact. `prefix` begins the names of the lines."""
    size = named(f"{prefix}size", step("abs", v))
    power = step("power_of_two", step("maximum", size, constant(2.0**kind.emin)))
    unit = named(
        f"{prefix}unit", power * constant(2.0 ** (1 - kind.precision)), f"the spacing of {kind.name} at this size"
    )
    return Counted(size, unit, v / unit)


def grid_steps(semantics: Semantics, v: Computed, signed: Computed, kind: FloatType) -> Computed:
    """A float64 that the type holds, of a finite one; `signed` has its sign."""
    c = GridCombination._make(semantics)
    if is_held(c, kind):
        return v
    one = counted(v, kind)
    whole = WHOLE[c.round_mode.id](one.units)
    if c.output_subnormals.cuts:
        subnormal, least = one.size < constant(2.0**kind.emin), step("truncate", one.units)
        whole = where(subnormal, least, named("normal", whole))
    whole = named("whole", step("abs", whole))
    rounded = named("rounded", whole * one.unit)
    goes_beyond = c.reading.id == "doubled"  # though no number of the input's type does
    ended = ENDS["saturate" if goes_beyond and c.saturation.id == "none" else c.saturation.id](
        OnGrid(one, whole, rounded, kind)
    )
    if c.output_subnormals.flushes:
        ended = where(rounded < constant(2.0**kind.emin), ZERO, named("ended", ended))
    return with_sign(c.zero, named("magnitude", ended), v, signed, kind)


def is_held(c: GridCombination, kind: FloatType) -> bool:
    """Whether the type holds every number, and nothing happens to it."""
    plain = (c.round_mode.id, c.output_subnormals.id, c.saturation.id) == ("none", "kept", "none")
    return plain and c.reading.id != "doubled" and (c.zero is SIGN_KEPT or kind.bits > SMALL_BITS)


def ties_to_odd(units: Computed) -> Computed:
    units = named("wide", units)
    even, cut = named("even", step("rint", units)), step("truncate", units)
    tie = step("equal", step("abs", units - cut), HALF)
    return where(tie, units + units - even, even)


def last_bit_lost(units: Computed) -> Computed:
    return step("truncate", step("rint", units) / TWO) * TWO


WHOLE: Mapping[str, Callable[[Computed], Computed]] = {
    **MODES,
    "none": lambda units: units,  # the output's type holds the number
    "ties-to-odd": ties_to_odd,
    "last-bit-lost": last_bit_lost,
}


@dataclass(frozen=True)
class OnGrid:
    """A number, what it is rounded to as if the type's exponent had no end, and that in units: both without a sign."""

    number: Counted
    whole: Computed
    magnitude: Computed
    kind: FloatType

    @property
    def largest(self) -> Computed:
        return constant(largest_of(self.kind), name="LARGEST")

    @property
    def is_beyond(self) -> Computed:
        return self.magnitude > self.largest

    @property
    def nothing(self) -> Computed:
        """What is beyond: infinity, or NaN in a type that has none."""
        return INFINITY if self.kind.specials == "ieee" else NAN


def saturated(one: OnGrid) -> Computed:
    return step("minimum", one.magnitude, one.largest)


def overflowing(one: OnGrid) -> Computed:
    return where(one.is_beyond, one.nothing, one.magnitude)


def a_step_more(one: OnGrid) -> Computed:
    size = one.number.size
    return where((size >= constant(480)) & (size < constant(496)), one.largest, named("overflown", overflowing(one)))


def nan_before_infinity(one: OnGrid) -> Computed:
    beyond = where(one.number.size < constant(65536), NAN, INFINITY)
    return where(one.is_beyond, named("beyond", beyond), one.magnitude)


def low_bits(one: OnGrid) -> Computed:
    """The bits of a magnitude, less the high ones of its exponent, read again."""
    kind = one.kind
    first, infinity = constant(2.0 ** (kind.precision - 1)), constant(kind.infinity_bits)
    high = step("exponent", one.number.unit) + constant(kind.precision - 1 - kind.emin)
    kept = named("kept", modulus(high * first + one.whole, 2.0 ** (kind.bits - 1)), "the low bits")
    field = named("field", step("floor", kept / first))
    hidden = where(field > ZERO, first, ZERO)
    unit = step("two_to", step("maximum", field, ONE) + constant(kind.emin - kind.precision))
    value = named("value", (kept - field * first + hidden) * unit)
    value = where(step("equal", kept, infinity), one.nothing, value)
    return where(kept > infinity, NAN, named("ordinary", value)) if kind.specials == "ieee" else value


ENDS: Mapping[str, Callable[[OnGrid], Computed]] = {
    "none": lambda one: one.magnitude,
    "saturate": saturated,
    "overflow": overflowing,
    "nan": lambda one: where(one.is_beyond, NAN, one.magnitude),
    "overflow-of-number": lambda one: where(one.number.size > one.largest, one.nothing, one.magnitude),
    "overflow-after-step": a_step_more,
    "nan-before-infinity": nan_before_infinity,
    "saturate-at-240": lambda one: step("minimum", one.magnitude, constant(240)),
    "wrap": low_bits,
}


def with_sign(zero: ZeroSign, magnitude: Computed, v: Computed, signed: Computed, kind: FloatType) -> Computed:
    """Small types show the sign of a zero; of wider ones it is not compared, and stays."""
    signed = step("copysign", magnitude, signed)
    if zero is SIGN_KEPT or kind.bits > SMALL_BITS:
        return signed
    is_zero = step("equal", magnitude, ZERO)
    if zero.id == "positive-if-rounded":
        is_zero = is_zero & ~step("equal", v, ZERO)
    return where(is_zero, ZERO, signed)
