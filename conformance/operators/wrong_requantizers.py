"""Wrong steps of operators that requantize by the ratio of two scales, as changes of a term.

A backend's term is round((input - input_zero_point) * input_scale / output_scale) + output_zero_point in real
arithmetic. Its difference and its whole number are marked, so that changes find them whatever they are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from tiebreak.conformance.operators import wrong_integer_terms as integers
from tiebreak.conformance.operators.wrong_integer_terms import saturated, word
from tiebreak.conformance.operators.wrong_terms import Wrong, of_place, often
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.changes import Change, at, operands_of
from tiebreak.conformance.variants.evaluation import FAR
from tiebreak.conformance.variants.mutant import Mutant, WrongOutput, changed, written
from tiebreak.golden.arithmetic.term import (
    AWAY,
    DOWN,
    TOWARD_ZERO,
    UP,
    UPWARD,
    Term,
    clamp,
    floor,
    greatest,
    in_reals,
    least,
    power_of_two,
    rounded,
    step,
    steps_of,
    where,
    wrapped,
)
from tiebreak.golden.elements import FLOAT_TYPES, FloatType, IntegerType
from tiebreak.golden.operators.tflite_requantize import BITS, LEAST, MOST, multiplier_of
from tiebreak.golden.problem import Elementwise
from tiebreak.golden.rounding import EVEN

FLOAT32 = FLOAT_TYPES["float32"]
DIFFERENCE, WHOLE, SCALES = "the difference", "the whole number", ("the scale", "the other scale")  # marks
LANES = 16  # of a vector of bytes
FROM_ZERO = "ROUND_TOWARD_INFINITY"
Whole = Callable[[Term, Term, Term], Term]  # of the difference and both scales


# The term of a backend, and its marked parts


def real(difference: Term, scale: Term, other: Term, mode: str = EVEN) -> Term:
    return rounded(difference * scale / other, mode)


def reading(whole_of: Callable[[Elementwise], Whole], usable: Callable[[Term, Term], Sequence[Term]]) -> WrongOutput:
    """The backend's term, with this whole number for a problem. A scale that is not usable is 1."""

    def change(p: Elementwise) -> Change:
        x, s_in, z_in, s_out, z_out = operands_of(p).values()
        given = zip(usable(s_in, s_out), (s_in, s_out), SCALES, strict=True)
        scales = [where(condition, scale, 1).by(mark) for condition, scale, mark in given]
        whole = whole_of(p)((x - z_in).by(DIFFERENCE), *scales).by(WHOLE)
        summed = clamp(whole, -int(FAR), int(FAR)) + z_out
        return lambda one: in_reals(replace(one, args=(summed,))) if one.name == "to-ends" else None

    (found,) = written(change).changes
    return found


def whole_number(whole: Callable[..., Term], **ways: object) -> Mutant:
    """Another whole number."""

    def found(one: Term) -> Term:
        parts = [next(part for part in steps_of(one) if mark in part.clauses) for mark in (DIFFERENCE, *SCALES)]
        return whole(*parts, **ways)

    return changed(at(WHOLE, found))


def difference(change: Callable[[Term, Term], Term]) -> Mutant:
    """Another difference, from the input and its zero point."""
    return changed(at(DIFFERENCE, lambda one: change(*one.args)))


def output(change: Callable[[Term, Term, Term, IntegerType], Term]) -> Mutant:
    """Another result, from the right one, the whole number, the zero point and the type."""

    def make(p: Elementwise) -> Change:
        kind = p.result
        assert isinstance(kind, IntegerType)

        def found(one: Term) -> Term | None:
            if one.name != "to-ends":
                return None
            number, zero_point = one.args[0].args
            return change(one, number, zero_point, kind)

        return found

    return written(make)


def single(value: Term) -> Term:
    """A number in float32; the term's others are exact."""
    return step(value, FLOAT32)


# Whole numbers by a multiplier and shifts


def once(
    difference: Term, scale: Term, other: Term, bits: int = BITS, reduced: bool = False, wide: bool = False
) -> Term:
    """A product with a multiplier of so many bits, shifted once; `reduced` cuts them from one of 31 bits.

    The difference is an int32, which wraps around, unless `wide`.
    """
    multiplier, shift = multiplier_of(scale / other, BITS if reduced else bits)
    full = (1 << bits) - 1
    if reduced:
        multiplier = least(rounded(multiplier * power_of_two(bits - BITS), UPWARD), full)
    right = clamp(bits - least(shift, min(BITS, bits) - 1), 0, 62)
    factor = where(shift > MOST, full, multiplier) * power_of_two(0 - right)
    return rounded((difference if wide else word(difference)) * factor, UPWARD)


def twice(difference: Term, scale: Term, other: Term, second: str = AWAY, left: int = 0) -> Term:
    """The doubled high half of the product, then a shift; first `left`, by which the ratio is less."""
    multiplier, shift = multiplier_of(scale / other * power_of_two(-left))
    places = greatest(shift, 0)
    # A processor shifts an int32 by as many places as 5 bits say; what a vector's lane shifts out is gone.
    power = power_of_two(least(places, 32) if second == UPWARD else places - 32 * floor(places / 32))
    return halved(word(word(word(difference) * power) * (1 << left)), multiplier, shift, second)


def twice_saturating(difference: Term, scale: Term, other: Term) -> Term:
    """As `twice`, but the difference and what is shifted to the left stay at the ends of int32, as gemmlowp has it."""
    multiplier, shift = multiplier_of(scale / other)
    shifted = saturated(saturated(difference) * power_of_two(clamp(shift, 0, BITS)))
    return halved(shifted, multiplier, shift, AWAY)


def halved(shifted: Term, multiplier: Term, shift: Term, second: str) -> Term:
    high = rounded(shifted * multiplier * power_of_two(-BITS), UPWARD)
    return rounded(high * power_of_two(clamp(shift, LEAST, 0)), second)


def by_vectors(difference: Term, scale: Term, other: Term) -> Term:
    """As `twice`, in vectors with ties upward; what is left of the array has them away from zero."""
    return where(
        to.in_whole_vectors(LANES, difference), twice(difference, scale, other, UPWARD), twice(difference, scale, other)
    )


def of_fraction_bits(difference: Term, scale: Term, other: Term, bits: int, wide: bool = False) -> Term:
    """A product with a ratio in float32 that has so many fractional bits, ties to even, shifted once.

    The difference is an int32, which wraps around, unless `wide`.
    """
    ratio = clamp(single(scale / other), -(1 << 20), 1 << 20)
    factor = rounded(ratio * (1 << bits), EVEN) / (1 << bits)
    return rounded((difference if wide else word(difference)) * factor, UPWARD)


# Whole numbers in floating point


def in_type(difference: Term, scale: Term, other: Term, kind: FloatType, mode: str = EVEN) -> Term:
    """Difference, ratio and product each in a type."""
    return rounded(step(step(difference, kind) * step(scale / other, kind), kind), mode)


def through_numbers(difference: Term, scale: Term, other: Term, reciprocal: bool = False) -> Term:
    """The number that the input stands for, in float32, divided by the other scale."""
    number = single(single(difference) * scale)
    return rounded(single(number * single(1 / other) if reciprocal else number / other), EVEN)


ROUNDINGS = {"toward zero": TOWARD_ZERO, "down": DOWN, "up": UP, "away from zero": FROM_ZERO}


def by_multipliers(role: str) -> Iterator[Wrong]:
    wrong, frequent = partial(of_whole, role, Wrong), partial(of_whole, role, often)
    yield frequent("rounds-in-two-steps:away from zero", twice)
    yield frequent("rounds-in-two-steps:upward", twice, second=UPWARD)
    yield frequent(f"rounds-in-two-steps-by-vectors:{LANES}", by_vectors)
    yield frequent("rounds-in-two-steps:to even", twice, second=EVEN)
    yield wrong("rounds-in-two-steps:away from zero, saturating in int32", twice_saturating)
    for name, make, wide in (
        ("factor-of-fraction-bits", frequent, False),
        ("factor-of-fraction-bits-wide", wrong, True),
    ):
        yield from (make(f"{name}:{bits}", of_fraction_bits, bits=bits, wide=wide) for bits in (8, 16))
    yield frequent("multiplier-of-bits:31", once)
    yield frequent("multiplier-of-bits:15", once, bits=15, reduced=True)
    yield wrong("multiplier-of-bits:21", once, bits=21)


def in_floats(role: str) -> Iterator[Wrong]:
    wrong = partial(of_whole, role, Wrong)
    for ending, make, mode in (("", often, EVEN), (", ties away", often, AWAY), (", ties up", Wrong, UPWARD)):
        yield of_whole(role, make, f"ratio-product-in:float32{ending}", in_type, kind=FLOAT32, mode=mode)
    yield from (wrong(f"ratio-product-in:{name}", in_type, kind=FLOAT_TYPES[name]) for name in ("float16", "bfloat16"))
    yield wrong("through-numbers-in-float32", through_numbers)
    yield wrong("through-numbers-in-float32:by the reciprocal", through_numbers, reciprocal=True)


def of_whole(role: str, make: Callable[..., Wrong], id_: str, whole: Callable[..., Term], **ways: object) -> Wrong:
    return replace(make(id_, role, whole_number(whole, **ways)), place="whole")


# The scales


def each(conversion: to.Conversion) -> Mutant:
    return by.operands(conversion, "s_in", "s_out")


TWICE_THE_RATIO, HALF_THE_RATIO = (
    by.operands(change, "s_in") for change in (lambda scale: scale * 2, lambda scale: scale / 2)
)


def scales(role: str) -> tuple[Wrong, ...]:
    return of_place(
        "scales",
        often("shift-off-by-one:more", role, TWICE_THE_RATIO),
        often("shift-off-by-one:less", role, HALF_THE_RATIO),
        Wrong("ratio-inverted", role, integers.exchanged("s_in", "s_out")),
        Wrong("ignores-scale", role, integers.taken_as(1, "s_in", "s_out")),
        Wrong("ignores-scale:of the output", role, integers.taken_as(1, "s_out")),
        Wrong("ignores-scale:of the input", role, integers.taken_as(1, "s_in")),
        Wrong("scale-in:bfloat16", role, each(to.BFLOAT16)),
        Wrong("scale-in:float16", role, each(to.FLOAT16)),
        Wrong("scale-to-power-of-two-below", role, each(to.POWER_BELOW)),
    )


# The input and the zero points


def inputs(role: str) -> tuple[Wrong, ...]:
    points = (
        often("ignores-zero-point:of the input", role, integers.taken_as(0, "z_in")),
        often("ignores-zero-point:of the output", role, integers.taken_as(0, "z_out")),
        often("ignores-zero-point", role, integers.taken_as(0, "z_in", "z_out")),
        often("zero-points-exchanged", role, integers.exchanged("z_in", "z_out")),
        often("adds-zero-point:of the input", role, integers.negated("z_in")),
        often("subtracts-zero-point:of the output", role, integers.negated("z_out")),
    )
    differences = (
        Wrong("difference-wraps", role, integers.held_difference(DIFFERENCE, wrapped)),
        Wrong("difference-saturates", role, integers.held_difference(DIFFERENCE, saturated)),
        Wrong("difference-reversed", role, difference(lambda x, zero_point: zero_point - x)),
    )
    reads = (
        Wrong("input-as-signed", role, integers.read_as(True, "x")),
        Wrong("input-as-unsigned", role, integers.read_as(False, "x")),
    )
    return (*of_place("z", *points), *of_place("difference", *differences), *of_place("x", *reads))
