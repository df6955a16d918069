"""The steps of integers times a factor, rounded to integers, such as TOSA's RESCALE; combined_steps has those of two.

Products are made in 64 bits, which hold each one of which a document says something.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tiebreak.conformance.emulators.combined_steps import (
    exactly,
    in_floating_point,
    second_of,
    whole_ratio,
    whole_ratios,
)
from tiebreak.conformance.emulators.multiplier_steps import multiplier_of
from tiebreak.conformance.emulators.rounding_steps import rounded, takes_integer_above
from tiebreak.conformance.emulators.steps import (
    DOUBLE,
    LONG,
    SINGLE,
    Computed,
    cast,
    constant,
    double,
    given,
    named,
    step,
    where,
    with_names,
)
from tiebreak.conformance.emulators.traced import Traced
from tiebreak.conformance.semantics.integer_scaling import IntegerScaling
from tiebreak.conformance.semantics.integer_scaling_facets import HIGH, ScalingCombination, with_other_sign
from tiebreak.conformance.semantics.model import Semantics
from tiebreak.conformance.semantics.round_modes import RoundMode
from tiebreak.golden.errors import Unsupported

MOST_UP, MOST_DOWN = 2.0**30, 2.0**-38  # powers of a ratio beyond which every result is an end, or next to 0
Inputs = Mapping[str, Computed]


class FactorSteps(NamedTuple):
    """A factor as one whole number over another one, and as a float64 if one holds it."""

    over: Computed
    under: Computed
    real: Computed


def whole(value: float) -> Computed:
    return constant(value, LONG)


def long(value: Computed) -> Computed:
    return cast(LONG, value)


# How a factor comes of the parameters


def as_given(i: Inputs) -> FactorSteps:
    over, under = long(i["multiplier"]), long(step("two_to", step("maximum", double(i["shift"]), constant(0))))
    return FactorSteps(named("over", over), named("under", under), double(over) / double(under))


def cut(factor: FactorSteps, lost: int, more: int = 0) -> FactorSteps:
    """Without so many of the multiplier's low bits; `more` is added before."""
    size = whole(2.0**lost)
    over = step("floor_divide", factor.over + whole(more), size) * size
    return FactorSteps(over, factor.under, double(over) / double(factor.under))


def real_ratio(i: Inputs) -> FactorSteps:
    """The scales' significands, whole numbers of 24 bits, and the power of two that is left on one side."""
    scales = [double(i[name]) for name in ("input_scale", "output_scale")]
    powers = [step("power_of_two", scale) for scale in scales]
    first, second = (long(scale / power * constant(2.0**23)) for scale, power in zip(scales, powers, strict=True))
    power = named("power", step("clamp", powers[0] / powers[1], constant(MOST_DOWN), constant(MOST_UP)))
    up, down = (long(step("maximum", one, constant(1))) for one in (power, constant(1) / power))
    return FactorSteps(named("over", first * up), named("under", second * down), scales[0] / scales[1])


def of_31_bits(i: Inputs) -> FactorSteps:
    ratio = double(i["input_scale"]) / double(i["output_scale"])
    return FactorSteps(*multiplier_of(ratio), ratio)


def of_15_bits(i: Inputs) -> FactorSteps:
    factor, lost = of_31_bits(i), whole(2.0**16)
    over = step("minimum", step("floor_divide", factor.over + whole(2.0**15), lost), whole(2.0**15 - 1)) * lost
    return factor._replace(over=over)


def of_fraction_bits(bits: int) -> Callable[[Inputs], FactorSteps]:
    def factor(i: Inputs) -> FactorSteps:
        ratio = named("ratio", i["input_scale"] / i["output_scale"])
        over = step("rint", double(ratio) * constant(2.0**bits))
        return FactorSteps(long(over), whole(2.0**bits), double(ratio))

    return factor


FACTORS: Mapping[str, Callable[[Inputs], FactorSteps]] = {
    "as-given": as_given,
    "of-16-bits": lambda i: cut(as_given(i), 16, 1 << 15),
    "cut-to-16-bits": lambda i: cut(as_given(i), 16),
    "real": real_ratio,
    "31-bits": of_31_bits,
    "15-bits": of_15_bits,
    "8-fraction-bits": of_fraction_bits(8),
    "16-fraction-bits": of_fraction_bits(16),
}


def scaling_steps(arithmetic: IntegerScaling, semantics: Semantics) -> Computed:
    """The code. Raises Unsupported for 48 bits."""
    names, kinds = arithmetic.table.names, [tensor.element for tensor in arithmetic.node.inputs]
    if wide := [kind for kind in (*kinds, arithmetic.node.output_type) if kind == "int48"]:
        raise Unsupported(f"no language has numbers of {wide[0]}")
    own_name = "a" if arithmetic.table.combines else "x"
    x, *others = (given(name, kind) for name, kind in zip((own_name, *names), kinds, strict=True))
    inputs = dict(zip(names, others, strict=True))
    return with_names(named("y", code(arithmetic, ScalingCombination._make(semantics), long(x), inputs)))


def code(arithmetic: IntegerScaling, one: ScalingCombination, x: Computed, i: Inputs) -> Computed:
    """The code, a whole number of 64 bits."""
    source, target = arithmetic.types
    points: Any = arithmetic.table.points(tuple(map(Traced, i.values())))  # type: ignore[arg-type]
    own, last = (long(point.of) for point in points)
    taken = otherwise(x, source) if one.reading.input_too else x
    difference = named("difference", taken - (otherwise(own, source) if one.reading.point_too else own))
    point = named("point", otherwise(last, target) if one.zero_point.other_sign else last)
    first = point if one.zero_point.first else None
    value = named("whole", scaled(arithmetic.table.combines, one, difference, i, first))
    if first is not None and one.saturation.alone is not None:
        ended: Any = one.saturation.alone(Traced(value), target)  # type: ignore[arg-type]
    else:
        rest = whole(0) if first is not None else point
        ended = one.saturation.of(Traced(value), Traced(rest), target)  # type: ignore[arg-type]
    found: Computed = ended.of
    return found


def otherwise(value: Computed, kind: Any) -> Computed:
    found: Any = with_other_sign(Traced(value), kind)  # type: ignore[arg-type]
    read: Computed = found.of
    return read


def scaled(combines: str, one: ScalingCombination, difference: Computed, i: Inputs, first: Computed | None) -> Computed:
    """The rounded quotient, with the zero point in it that is added `first`; as integer_scaling.Rounded."""
    position, others = one.position, tuple(map(Traced, i.values()))
    if position.precision is not None:
        if position.id in (SINGLE, DOUBLE):
            kind = position.precision.type.name
            number = cast(kind, double(difference)) * cast(kind, FACTORS[one.factor.id](i).real)
        else:
            number = in_floating_point(position, difference, others)
        total = number if first is None else number + cast(number.type, double(first))
        return in_64_bits(rounded(named("q", total), one.round_mode))
    if combines and one.factor.is_real:
        return in_64_bits(exactly(combines, difference, others, one.round_mode, first))
    number, under = product(combines, one, difference, i)
    if not position.high:
        return divided(number, under, one.round_mode, first)
    assert one.second_rounding.mode is not None
    size = whole(2.0**HIGH)
    once = named("once", divided(number, step("minimum", under, size), one.round_mode, first))
    left = step("maximum", step("floor_divide", under, size), whole(1))
    return where(under > size, divided(once, named("left", left), one.second_rounding.mode, None), once)


def product(combines: str, one: ScalingCombination, difference: Computed, i: Inputs) -> tuple[Computed, Computed]:
    """A whole number, and the one that divides it."""
    others = tuple(map(Traced, i.values()))
    if combines == "sum":
        of_a, of_b, under = whole_ratios(int(one.factor.id.removesuffix("-bits")), others)
        return named("sum", difference * of_a + second_of(others) * of_b), under
    if combines:
        over, under = whole_ratio(others)
        return named("product", difference * second_of(others) * over), under
    factor = FACTORS[one.factor.id](i)
    return named("product", difference * factor.over), factor.under


def in_64_bits(value: Computed) -> Computed:
    """A rounded number as an integer, far beyond every type if it is larger."""
    return long(step("clamp", value, constant(-(2.0**62)), constant(2.0**62)))


def divided(number: Computed, under: Computed, mode: RoundMode, first: Computed | None) -> Computed:
    """A whole number over a positive one, and an integer added, rounded."""
    lower = named("lower", step("floor_divide", number, under))
    past = named("past", number - lower * under)
    short = under - past
    below = named("below", lower if first is None else lower + first)
    takes = takes_integer_above(mode, below, past > whole(0), past > short, step("equal", past, short))
    return below if takes is None else where(takes, below + whole(1), below)
