"""The steps of two integers that are multiplied or added, and scaled: QLinearMul, QLinearAdd, products of matrices.

Positions in floating point are the tables' own formulas, traced. A real quotient is rounded as one: the numerator is
a sum of two float64, and what is compared with a half is exact where it is close.
"""

from __future__ import annotations

from typing import Any

from tiebreak.conformance.emulators.multiplier_steps import multiplier_and_power, multiplier_of
from tiebreak.conformance.emulators.rounding_steps import takes_integer_above
from tiebreak.conformance.emulators.steps import LONG, Computed, cast, constant, double, named, step, where
from tiebreak.conformance.emulators.traced import Traced
from tiebreak.conformance.semantics.integer_scaling_facets import HIGH
from tiebreak.conformance.semantics.precisions import FLOAT32
from tiebreak.conformance.semantics.round_modes import RoundMode
from tiebreak.conformance.semantics.scaled_operands import in_type, scales_of, second_difference

FAR = 2.0**27  # quotients from here on are far beyond every type, and stand for themselves
SPLITTER = 2.0**41 + 1  # of a float32 in two halves of 12 bits


def second_of(others: Any) -> Computed:
    """The second difference, a whole number of 64 bits."""
    found: Any = second_difference(others)
    difference: Computed = found.of
    return named("second", difference)


def wide_scales(others: Any) -> list[Computed]:
    return [double(one.of) for one in scales_of(others)]  # type: ignore[attr-defined]


def whole_ratio(others: Any) -> tuple[Computed, Computed]:
    """The scales' ratio as a multiplier of 31 bits over a power of two, whole numbers of 64 bits."""
    a, b, y = wide_scales(others)
    return multiplier_of(a * b / y)


def whole_ratios(bits: int, others: Any) -> tuple[Computed, Computed, Computed]:
    """Both float32 ratios as whole numbers, and the power of two under them: the greater one has so many bits."""
    scales: Any = in_type(others, FLOAT32)
    a, b, c = (one.of for one in scales)
    ratios = [named(f"ratio_of_{name}", double(one / c)) for name, one in (("a", a), ("b", b))]
    power = named("power", step("power_of_two", step("maximum", *ratios)))
    size = named("size", step("clamp", constant(2.0 ** (bits - 1)) / power, constant(2.0**-60), constant(2.0**61)))
    first, second = (cast(LONG, step("rint", ratio * size)) for ratio in ratios)
    under = cast(LONG, step("clamp", size, constant(1), constant(2.0**61)))
    return named("multiplier_of_a", first), named("multiplier_of_b", second), named("under", under)


def exactly(combines: str, difference: Computed, others: Any, mode: RoundMode, first: Computed | None) -> Computed:
    """The rounded real quotient plus an integer, a float64."""
    a, b, y = wide_scales(others)
    second, wide = second_of(others), double(difference)
    if combines == "sum":
        return of_pair(named("of_a", wide * a), named("of_b", double(second) * b), y, mode, first)
    scaled = named("scaled", double(difference * second) * a)
    large = named("large", b * constant(SPLITTER))
    upper = named("upper", large - (large - b))
    return of_pair(named("of_upper", scaled * upper), named("of_lower", scaled * (b - upper)), y, mode, first)


def of_pair(p: Computed, q: Computed, under: Computed, mode: RoundMode, first: Computed | None) -> Computed:
    """(p + q) / under, rounded: both products are exact, and the rest of the sum of both is kept."""
    total = named("total", p + q)
    back = named("back", total - p)
    lost = named("lost", (p - (total - back)) + (q - back))
    near = named("near", step("floor", total / under))

    def beyond(whole: Computed) -> Computed:
        return (total - whole * under) + lost

    before = where(beyond(near) < constant(0), near - constant(1), near)
    lower = named("lower", where(beyond(near + constant(1)) >= constant(0), near + constant(1), before))
    half = named("from_half", beyond(lower + constant(0.5)))
    below = named("below", lower if first is None else lower + double(first))
    some, more, tie = step("equal", beyond(lower), constant(0)), half > constant(0), step("equal", half, constant(0))
    takes = takes_integer_above(mode, below, ~some, more, tie)
    rounded = below if takes is None else where(takes, below + constant(1), below)
    return where(step("abs", near) < constant(FAR), rounded, near)


# TensorFlow Lite's fixed point, as scaled_sum_positions.in_three_steps


def rescaled(name: str, values: Computed, ratio: Computed) -> Computed:
    """Times a multiplier of 31 bits, twice rounded, the second time with ties away from zero."""
    found = named(f"{name}_shifted", high_half(name, values, ratio))
    size = step("floor", step("abs", found) + constant(0.5))
    return cast(LONG, step("copysign", size, found))


def high_half(name: str, values: Computed, ratio: Computed) -> Computed:
    """The product with the multiplier without 31 bits, ties up, times the power of two that is left: a float64."""
    multiplier, power = multiplier_and_power(ratio, f"{name}_")
    product = values * multiplier + constant(2.0 ** (HIGH - 1), LONG)
    upper = step("floor_divide", product, constant(2.0**HIGH, LONG))
    return double(upper) * (power * constant(2))


def in_three_steps(difference: Computed, others: Any) -> Computed:
    a, b, c = wide_scales(others)
    twice = named("twice", constant(2) * step("maximum", a, b))
    shift = constant(2.0**20, LONG)
    first = rescaled("a", difference * shift, named("a_ratio", a / twice))
    second = rescaled("b", second_of(others) * shift, named("b_ratio", b / twice))
    last = named("last_ratio", twice / (constant(2.0**20) * c))
    return high_half("last", named("both", first + second), last)


def in_floating_point(position: Any, difference: Computed, others: Any) -> Computed:
    """A position's number, in its precision."""
    if position.id == "three-multipliers":
        return in_three_steps(difference, others)
    found: Any = position.number(Traced(difference), None, others, position.precision)
    result: Computed = found.of
    return result
