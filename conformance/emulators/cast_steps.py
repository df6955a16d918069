"""The steps of a cast, as the values of an audit's facets say them: what is read, what it passes, the last step.

Where a facet's value has a rule in conformance/semantics/cast*.py, the steps follow that rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast as typed

import numpy as np

from tiebreak.conformance.emulators.cast_grid_steps import counted, grid_steps
from tiebreak.conformance.emulators.cast_integer_steps import between_steps, integer_steps
from tiebreak.conformance.emulators.cast_power_steps import power_steps
from tiebreak.conformance.emulators.steps import (
    DOUBLE,
    SINGLE,
    Computed,
    cast,
    constant,
    double,
    flushed,
    given,
    named,
    step,
    where,
)
from tiebreak.conformance.semantics.cast import CastArithmetic, Entry
from tiebreak.conformance.semantics.cast_inputs import SIBLINGS, SMALL_BITS, ElementType, Passage
from tiebreak.conformance.semantics.model import ANYTHING, Semantics
from tiebreak.conformance.semantics.type_grids import bits_as_numbers, largest_of, sign_bit
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, SMALL_FLOAT_TYPES, FloatType, IntegerType

LARGE = 2.0**40  # beyond all integers
NAN, ZERO, TWO = constant(np.nan), constant(0), constant(2)


def cast_steps(arithmetic: CastArithmetic, semantics: Semantics) -> Computed:
    """The result as a float64 that the output's type holds; NaN and infinities as the audit saw them."""
    return cast_of(arithmetic, semantics, given("x", arithmetic.source.name))


def cast_of(arithmetic: CastArithmetic, semantics: Semantics, x: Computed) -> Computed:
    """The same of this number. Where no answer says what an infinity gives, one on the way is a large number."""
    source, target = arithmetic.source, ELEMENT_TYPES[arithmetic.node.output_type]
    entry = typed(Entry, semantics[:3])
    real = named("real", double(x))
    number = passed_through(entry, x, real, source)
    if not arithmetic.infinite and "float16" in entry[1].through:
        number = infinite_as_large(number)
    v = real if number in (x, real) else named("v", double(number))
    if isinstance(target, FloatType) and target.specials == "e8m0":
        found = power_steps(semantics, v)
    elif isinstance(target, FloatType):
        signed = real if picks(v) and entry[0].id != "integers" else v
        found = grid_steps(semantics, v, signed, target)
    elif isinstance(source, FloatType):
        found = integer_steps(semantics, v, number, source, target)
    else:
        found = between_steps(semantics, v, source, target)
    if isinstance(source, IntegerType):
        return named("y", found)
    of_bits = entry[0].id in ("sibling-type", "integers")  # whose NaNs are others
    is_nan = step("is_nan", real if of_bits else v)
    return named("y", with_specials(arithmetic, found, is_nan, real, v, target))


def picks(v: Computed) -> bool:
    """Whether a number is one of two, of which ONNX Runtime makes 0 of a -0."""
    return v.op == "where" or any(map(picks, v.operands))


def passed_through(entry: Entry, x: Computed, real: Computed, source: ElementType) -> Computed:
    """The number before the last step, in the type that it has then; `real` is x as a float64."""
    reading, passage, subnormals = entry
    if isinstance(source, IntegerType):
        return infinite_as_large(through(passage, real)) if "float16" in passage.through else through(passage, real)
    if source.bits <= SMALL_BITS:
        return READINGS[reading.id](real, source) if reading.id in READINGS else real
    if subnormals.flushes:
        x = named("flushed_x", flushed(x, source.emin))
        real = named("flushed_real", double(x))
    return through(passage, carried_twice(real) if passage.carries_twice else x)


def infinite_as_large(number: Computed) -> Computed:
    """No answer says what an infinity gives where integers are cast: one that float16 makes is a large number."""
    return step("clamp", double(number), constant(-LARGE), constant(LARGE))


def through(passage: Passage, value: Computed) -> Computed:
    for name in passage.through:
        value = named(f"in_{name}", rounded_to(name, value))
    return cut_off(double(value), passage.keeps) if passage.keeps else value


def rounded_to(name: str, value: Computed) -> Computed:
    """A number rounded to a type, once. Libraries round a float64 to float32 before they round it to 16 bits."""
    kind = FLOAT_TYPES[name]
    if value.type != DOUBLE or kind.bits != 16:
        return cast(name, value)
    one = counted(value, kind, f"{name}_")
    found = named(f"{name}_value", step("rint", one.units) * one.unit)
    beyond = step("abs", found) > constant(largest_of(kind))
    return where(step("is_finite", value) & ~beyond, found, value * constant(np.inf))


def carried_twice(real: Computed) -> Computed:
    """See cast_inputs.is_carried."""
    magnitude = named("real_size", step("abs", real))
    power = named("power", step("power_of_two", step("maximum", magnitude, constant(2.0**-149))))
    lifted = step("equal", step("rint", magnitude / power * constant(2.0**10)), constant(2.0**11))
    lifted = named("lifted", lifted & (power < constant(2.0**-15)), "float16's 11 bits make it a power of two")
    return named("carried", cast(SINGLE, where(lifted, real * TWO, real)))


def cut_off(value: Computed, bits: int) -> Computed:
    """A number without the bits behind the first ones. A float64 has none behind 2^-1074."""
    power = step("power_of_two", step("maximum", step("abs", value), constant(2.0 ** (bits - 1075))))
    unit = named("last_bit", power * constant(2.0 ** (1 - bits)))
    return named("cut_off", where(step("is_finite", value), step("truncate", value / unit) * unit, value))


def as_sibling(v: Computed, kind: FloatType) -> Computed:
    """A sibling's exponents are one more, or one less. Some bits of a number are those of its NaN or infinity."""
    if kind.specials == "fnuz":
        sibling = SMALL_FLOAT_TYPES[SIBLINGS[kind.name]]
        doubled, beyond = named("doubled", v * TWO), constant(largest_of(sibling))
        infinite = step("equal", step("abs", v), constant(2.0**kind.emax)) if sibling.specials == "ieee" else None
        other = NAN if infinite is None else where(infinite, doubled * constant(np.inf), NAN)
        return where(step("abs", doubled) > beyond, other, doubled)
    return where(step("equal", v, ZERO) & step("has_sign", v), NAN, v / TWO)


def as_bits(v: Computed, kind: FloatType) -> Computed:
    """The sign, the exponent's field and the fraction of a number, as one integer."""
    one = counted(v, kind, "own_")
    field = step("exponent", one.unit) + constant(kind.precision - 1 - kind.emin)
    if kind.specials == "e8m0":
        return field
    bits = field * constant(2.0 ** (kind.precision - 1)) + step("abs", one.units)
    bits = named("bits", bits + where(step("has_sign", v), constant(sign_bit(kind)), ZERO))
    return where(step("is_finite", v), bits, v) if kind.specials == "ieee" else bits


READINGS: Mapping[str, Callable[[Computed, FloatType], Computed]] = {
    "sibling-type": as_sibling,
    "integers": as_bits,
    "subnormals-flushed": lambda v, kind: named("flushed_x", flushed(v, kind.emin)),
    "doubled": lambda v, kind: v * TWO,
    "halved": lambda v, kind: v / TWO,
    "least-as-zero": lambda v, kind: where(step("equal", v, constant(2.0**kind.emin)), ZERO, v),
    "least-doubled": lambda v, kind: where(step("equal", v, constant(2.0**kind.emin)), v * TWO, v),
}


def with_specials(
    arithmetic: CastArithmetic, found: Computed, is_nan: Computed, real: Computed, v: Computed, target: ElementType
) -> Computed:
    """The result, but what the backend gave for NaN, and for infinities, whether x is one or became one.

    Not every conversion keeps the sign of a NaN: `real` has it.
    """
    nan, infinite = numbers_of(arithmetic.nan, target), numbers_of(arithmetic.infinite, target)
    both = [*nan.values(), *infinite.values()]
    if both and all(np.isnan(one) for one in both):
        return where(step("is_finite", v), found, NAN)
    if infinite:
        infinity = by_sign(infinite, v)
        found = where(step("equal", step("abs", v), constant(np.inf)), infinity, named("finite", found))
    if not nan:
        return found
    return where(is_nan, by_sign(nan, real, of_nan=True), named("ordered", found))


def numbers_of(codes: Mapping[bool, int], target: ElementType) -> dict[bool, float]:
    """Results by the sign of x, in place of their codes."""
    known = {negative: code for negative, code in codes.items() if code != ANYTHING}
    if isinstance(target, IntegerType):
        return {negative: float(code) for negative, code in known.items()}
    return {negative: float(bits_as_numbers(np.array([code]), target)[0]) for negative, code in known.items()}


def by_sign(numbers: Mapping[bool, float], x: Computed, *, of_nan: bool = False) -> Computed:
    """A result that may depend on the sign of x, which is infinite, or NaN: not every language has the sign of one."""
    plus = numbers.get(False, numbers.get(True, 0.0))
    minus = numbers.get(True, plus)
    if same(plus, minus):
        return constant(plus)
    if plus > 0 and minus == -plus and not of_nan:
        return step("copysign", constant(plus), x)
    return where(step("has_sign", x), constant(minus), constant(plus))


def same(a: float, b: float) -> bool:
    return (np.isnan(a) and np.isnan(b)) or (a == b and np.signbit(a) == np.signbit(b))
