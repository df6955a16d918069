"""What can go wrong with QLinearAdd and QLinearMul, as changes of their terms, the likelier first.

F2 is the sum or product of both numbers, F3 its quotient by C_scale, and F4 the sum with C_zero_point, which is rounded
to an integer. A node may round each step to float32, or only the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import zip_longest

from tiebreak.conformance.operators import wrong_integer_terms as integers
from tiebreak.conformance.operators.wrong_terms import Table, Wrong, as_read, mistakes_of, of_place, often, pairs_of
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.by_id import by_id
from tiebreak.conformance.variants.changes import Numbers
from tiebreak.conformance.variants.mutant import Mutant, NodeCall, Output, operation, with_number
from tiebreak.golden.arithmetic import term as terms
from tiebreak.golden.arithmetic.term import Term, rounded, step
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.problem import Array, Elementwise
from tiebreak.golden.rounding import EVEN

A, B, PRODUCT = "a - a_zero", "b - b_zero", "F1"
value, quotient = partial(with_number, "F4"), partial(with_number, "F3")  # an exact quotient is fused with the sum
STEPWISE = "steps-in-float32"  # conforms alone: it is for pairs


def within(least: float, ratios: Array) -> Array:
    if not ((ratios >= least) & (ratios < 256)).all():
        raise ValueError("MLAS computes with such a ratio in float32")
    return ratios


BITS_15 = to.Conversion("15 bits", partial(to.significant, 15))
RATIO = to.Conversion("a ratio in fixed point", partial(within, 2.0**-14))
GREATEST = to.Conversion("the greatest ratio in fixed point", partial(within, 2.0**-10))


def inverse(n: Numbers) -> Term:
    return step(1 / n["c_scale"])


# Sums


def ratios(n: Numbers) -> tuple[Term, Term]:
    return step(n["a_scale"] / n["c_scale"]), step(n["b_scale"] / n["c_scale"])


def sum_by_ratios(a_is_last: bool, apart: bool, fused: bool, n: Numbers) -> Term:
    """Both ratios' products, fused, are added to one part that holds all zero points.

    As MLAS does it for AVX2 (qladd_avx2.cpp). The last operand's product is rounded `apart` where that is one number
    along the last axis. With `fused` the compiler fuses what makes the part, too.
    """
    both = (n["a"], n["a_zero"], ratios(n)[0]), (n["b"], n["b_zero"], ratios(n)[1])
    (x, x_zero, x_ratio), (y, y_zero, y_ratio) = both[::-1] if a_is_last else both
    x_part = x_zero * x_ratio if fused else step(x_zero * x_ratio)
    part = step(n["c_zero"] - step(x_part + step(y_zero * y_ratio)))
    y_product = step(y * y_ratio) if apart and not fused else y * y_ratio
    return step(x * x_ratio + step(y_product + part))


def by_ratios(*, fused: bool) -> Mutant:
    """See sum_by_ratios."""
    flags = (False, True)
    ways = {(last, apart): value(partial(sum_by_ratios, last, apart, fused)) for last in flags for apart in flags}

    def apply(call: NodeCall, problem: Elementwise, term: Term) -> Output:
        a, b = (is_single(call.inputs[place].shape, problem.shape) for place in (0, 3))
        return ways[a, a or b].changes[0](call, problem, term)

    return Mutant((apply,))


def is_single(own: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether an operand is one number along the last axis that has several."""
    sizes = zip_longest(own[::-1], shape[::-1], fillvalue=1)
    return next((size == 1 for size, count in sizes if count > 1), True)


def of_differences(n: Numbers) -> Term:
    a, b = ratios(n)
    return step(step(a * n[A]) + step(b * n[B]))


def each_rounded(n: Numbers) -> Term:
    a, b = (rounded(n[f"{name}_scale"] * n[number] / n["c_scale"], EVEN) for name, number in (("a", A), ("b", B)))
    return a + b + n["c_zero"]


def sum_fused(n: Numbers) -> Term:
    """As OpenVINO does it: its front end writes the document's steps, and its plugin fuses what can be."""
    return step(n["a_scale"] * n[A] + step(n["b_scale"] * n[B])) * inverse(n)


def sum_in_fixed_point(n: Numbers) -> Term:
    """Both ratios as whole numbers with one shift, of 22 bits for the greater. As MLAS does it for NEON (qladd.cpp)."""
    a, b = map(RATIO, ratios(n))
    unit = terms.power_of_two(21 - terms.exponent(GREATEST(terms.greatest(a, b))))
    total = n[A] * rounded(a * unit, EVEN) + n[B] * rounded(b * unit, EVEN)
    return rounded(total / unit, terms.AWAY) + n["c_zero"]


# Products


def scales(n: Numbers) -> Term:
    return n["a_scale"] * n["b_scale"]


def product_by_ratio(n: Numbers) -> Term:
    """As MLAS does it (qlmul.cpp), which rounds the product of the scales first, and what is made here, too."""
    return n[PRODUCT] * step(step(scales(n)) / n["c_scale"])


def product_of_numbers(n: Numbers) -> Term:
    return step(step(n["a_scale"] * n[A]) * step(n["b_scale"] * n[B]))


def product_in_fixed_point(n: Numbers) -> Term:
    """The ratio as a whole number of 15 bits, shifted once; ties upward."""
    return rounded(n[PRODUCT] * BITS_15(scales(n) / n["c_scale"]), terms.UPWARD) + n["c_zero"]


# The tables

TRUNCATE = by.in_mode(terms.TOWARD_ZERO)
WRAPS, ADDS_LAST = by_id("wraps"), integers.rounds_before("c_zero", TRUNCATE)
OUTPUTS = (
    *of_place("out", often("wraps", "saturate", WRAPS)),
    *of_place("rounding out", often("truncates-and-wraps", "nearest", integers.rounds(TRUNCATE) + WRAPS)),
    *of_place("rounding", often("truncates-then-adds-zero-point", "nearest", ADDS_LAST)),
    Wrong("truncates-then-adds-zero-point-and-wraps", "nearest", ADDS_LAST + WRAPS),
    *of_place("out", often("casts-to-int32", "saturate", by_id("casts-to-int32"))),
    Wrong("narrow-range", "saturate", by_id("narrow-range")),
    Wrong("highest-of-signed", "saturate", by_id("highest-of-signed")),
    Wrong("wraps-in-int16-then-saturates", "saturate", by_id("sum-wraps-in:int16")),
)
POINTS = of_place(
    "points",
    *(often(f"ignores:{x}_zero_point", "zero-point", integers.taken_as(0, f"{x.lower()}_zero")) for x in "ABC"),
    Wrong("ignores:all zero points", "zero-point", integers.taken_as(0, "a_zero", "b_zero", "c_zero")),
    often("zero-points-exchanged:of A and B", "zero-point", integers.exchanged("a_zero", "b_zero")),
    *(Wrong(f"zero-point-negated:{x}_zero_point", "zero-point", integers.negated(f"{x.lower()}_zero")) for x in "ABC"),
    Wrong("difference-wraps", "zero-point", integers.DIFFERENCE_WRAPS),
    Wrong("difference-saturates", "zero-point", integers.DIFFERENCE_SATURATES),
)
SCALES = of_place(
    "scales",
    *(often(f"ignores:{x}_scale", "quotient", integers.taken_as(1, f"{x.lower()}_scale")) for x in "ABC"),
    Wrong("multiplies-by-output-scale", "quotient", operation("divide", lambda number, scale: number * scale)),
    Wrong("one-scale-for-both:A_scale", "together", integers.taken_for({"b_scale": "a_scale"})),
    Wrong("one-scale-for-both:B_scale", "together", integers.taken_for({"a_scale": "b_scale"})),
)
SHARED = (*OUTPUTS, *POINTS, *SCALES)
RECIPROCAL = often("reciprocal-of-output-scale", "quotient", quotient(lambda n: step(n["F2"] * inverse(n))))
IN_STEPS = (
    *(Wrong(f"steps-in:{name}", "nearest", by.all_steps_in(FLOAT_TYPES[name])) for name in ("float16", "bfloat16")),
    often(STEPWISE, "nearest", Mutant(())),
)
SUMS = (
    often("ratios-in-float32:fused with all zero points", "quotient", by_ratios(fused=False)),
    often("ratios-in-float32:zero points fused, too", "quotient", by_ratios(fused=True)),
    often("ratios-in-float32:of differences", "quotient", quotient(of_differences)),
    often("rounds-each-operand", "together", value(each_rounded)),
    often("ratios-in-fixed-point:22", "quotient", value(sum_in_fixed_point)),
    RECIPROCAL,
    often("reciprocal-of-output-scale:fused", "quotient", quotient(sum_fused)),
    *IN_STEPS,
)
BY_RATIO, OF_NUMBERS = "ratio-of-scales-in-float32", "multiplies-numbers-in-float32"
ROUNDED_RATIO = quotient(lambda n: step(n[PRODUCT] * step(scales(n) / n["c_scale"])))
BY_INVERSE = quotient(lambda n: step(product_of_numbers(n) * inverse(n)))
FUSED = quotient(lambda n: product_of_numbers(n) * inverse(n))
PRODUCTS = (
    often(BY_RATIO, "quotient", quotient(lambda n: step(product_by_ratio(n)))),
    often(f"{BY_RATIO}:fused", "quotient", quotient(product_by_ratio)),
    often(f"{BY_RATIO}:rounded once", "quotient", ROUNDED_RATIO),
    often(OF_NUMBERS, "together", quotient(lambda n: step(product_of_numbers(n) / n["c_scale"]))),
    often(f"{OF_NUMBERS}:by the reciprocal", "together", BY_INVERSE),
    often(f"{OF_NUMBERS}:by the reciprocal, fused", "together", FUSED),
    Wrong("ratios-in-fixed-point:15", "quotient", value(product_in_fixed_point)),
    RECIPROCAL,
    *IN_STEPS,
)
EXCHANGED = Wrong("scales-exchanged:of A and B", "numbers", integers.exchanged("a_scale", "b_scale"))


def tables(values: Sequence[Wrong], others: Sequence[Wrong]) -> tuple[Table, Table]:
    """Mistakes and pairs. All but other values are made in a value rounded once, and alone in one of rounded steps."""
    own = as_read(integers.as_it_is, of_place("value", *values))
    once = as_read(integers.ROUNDED_ONCE, others)
    alone = [one for one in own if one.id != STEPWISE]
    return (*mistakes_of([*alone, *once]), *mistakes_of(others)), pairs_of([*own, *once])


ADD_MISTAKES, ADD_PAIRS = tables(SUMS, (EXCHANGED, *SHARED))
MUL_MISTAKES, MUL_PAIRS = tables(PRODUCTS, SHARED)
