"""The steps from a number to an integer type in a cast: the round mode, and what is beyond the range."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from tiebreak.conformance.emulators.rounding_steps import rounded
from tiebreak.conformance.emulators.saturation_steps import TypeEnds, passed
from tiebreak.conformance.emulators.steps import Computed, cast, constant, modulus, named, step, where
from tiebreak.conformance.semantics.cast_between_integers import BetweenIntegers, held_otherwise
from tiebreak.conformance.semantics.cast_inputs import OWN_READING
from tiebreak.conformance.semantics.cast_integers import TWO31, TWO63, IntegerCombination
from tiebreak.conformance.semantics.model import Semantics
from tiebreak.golden.elements import FloatType, IntegerType

ZERO = constant(0)


def integer_steps(
    semantics: Semantics, v: Computed, number: Computed, source: FloatType, target: IntegerType
) -> Computed:
    """A whole number in the type's range (float64), of a finite one: `v` is a float64, `number` has its own type."""
    c = IntegerCombination._make(semantics)
    working = c.precision.precision_from(source).type.name
    argument = cast(working, number) if c.round_mode.sum else v
    whole = named("whole", rounded(argument, c.round_mode))
    return ENDS[c.saturation.id](v, whole, TypeEnds(target))


def between_steps(semantics: Semantics, v: Computed, source: IntegerType, target: IntegerType) -> Computed:
    """The same of an integer (float64)."""
    c, ends = BetweenIntegers._make(semantics), TypeEnds(target)
    if c.reading is OWN_READING:
        return ENDS[c.saturation.id](v, v, ends)
    read = named("read", with_other_sign(v, source), "the same bits")
    return wrapped(v, read, ends) if held_otherwise(c) else ENDS[c.saturation.id](read, read, ends)


def with_other_sign(v: Computed, kind: IntegerType) -> Computed:
    size = constant(2.0**kind.bits)
    if kind.signed:
        return where(v < ZERO, v + size, v)
    return where(v > constant(kind.highest // 2), v - size, v)


def wrapped(v: Computed, whole: Computed, ends: TypeEnds) -> Computed:
    return ends.wrap(named("low_bits", modulus(whole, ends.size)))


def held_then_wrapped(room: float, v: Computed, whole: Computed, ends: TypeEnds) -> Computed:
    return wrapped(v, named("held", passed(whole, room), "an integer's lowest value for what it can't hold"), ends)


def zero_or_wrapped(v: Computed, whole: Computed, ends: TypeEnds) -> Computed:
    fits = (v >= constant(-TWO31)) & (v <= constant(TWO31 - 1))
    return wrapped(v, named("held", where(fits, whole, ZERO)), ends)


def clamped_then_wrapped(bits: int, v: Computed, whole: Computed, ends: TypeEnds) -> Computed:
    room = 2.0 ** (bits - 1)
    return wrapped(v, named("held", step("clamp", whole, constant(-room), constant(room - 1))), ends)


def zero_beyond(v: Computed, whole: Computed, ends: TypeEnds) -> Computed:
    return where((whole < ends.lowest) | (whole > ends.highest), ZERO, whole)


def remainder_of_sign(v: Computed, whole: Computed, ends: TypeEnds) -> Computed:
    return ends.clamp(step("remainder", whole, constant(ends.size)))


def higher_bits(v: Computed, whole: Computed, ends: TypeEnds) -> Computed:
    return wrapped(v, step("floor", whole / constant(ends.size)), ends)


def clamped(v: Computed, whole: Computed, ends: TypeEnds) -> Computed:
    return ends.clamp(whole)


ENDS: Mapping[str, Callable[[Computed, Computed, TypeEnds], Computed]] = {
    "none": lambda v, whole, ends: whole,
    "saturate": clamped,
    "wrap": wrapped,
    "int32-then-wrap": partial(held_then_wrapped, TWO31),
    "int32-or-zero-then-wrap": zero_or_wrapped,
    "int64-then-wrap": partial(held_then_wrapped, TWO63),
    "int32-clamped-then-wrap": partial(clamped_then_wrapped, 32),
    "int8-clamped-then-wrap": partial(clamped_then_wrapped, 8),
    "zero": zero_beyond,
    "remainder-of-sign": remainder_of_sign,
    "higher-bits": higher_bits,
}
