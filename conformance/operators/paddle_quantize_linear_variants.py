"""What can go wrong with paddle.QuantizeLinear, as changes of its term: round(X * range / Scale).

F1 is range, F2 its product with X, F3 the quotient by the scale, R1 the rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from tiebreak.conformance.operators import wrong_integer_terms as integers
from tiebreak.conformance.operators.wrong_terms import (
    Wrong,
    as_read,
    mistakes_of,
    of_inputs,
    of_place,
    of_results,
    often,
    pairs_of,
)
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.changes import Change, at, inner, operands_of
from tiebreak.conformance.variants.mutant import Mutant, NodeCall, at_once, changed, written
from tiebreak.conformance.variants.places import CHANNEL_NAMES, PLACES, misplaced
from tiebreak.golden.arithmetic.term import (
    AWAY,
    DOWN,
    TOWARD_ZERO,
    UP,
    Term,
    clamp,
    greatest,
    least,
    lifted,
    step,
    where,
)
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.problem import Elementwise
from tiebreak.golden.rounding import EVEN

ENDS = "the ends"  # their mark
EPSILON, LEAST = (Fraction(float(np.float32(value))) for value in (1e-6, 1e-30))  # of the kernel's `inverse`
Quotient = Callable[[Term, Term, Term], Term]  # of X, the scale and range


def within_ends(whole: Callable[[Term], Term]) -> Mutant:
    """Results beyond qmin and qmax are open: the ends take their place."""

    def make(p: Elementwise) -> Change:
        def held(number: Term) -> Term:
            return clamp(whole(number), p.constants["qmin"], p.constants["qmax"]).by(ENDS)

        return lambda one: replace(one, args=(held(one.args[0]),)) if one.name == "to-float" else None

    return written(make)


(WITHIN_ENDS,) = within_ends(to.NAN_TO_LEAST).changes  # as C's fmax does it


# The quotient, in other orders


def quotient(make: Quotient) -> Mutant:
    def found(one: Term) -> Term:
        product, scale = inner(one).args
        x, steps = inner(product).args
        return make(x, scale, steps)

    return changed(at("PQL-F3", found))


def raised(scale: Term) -> Term:
    """A scale of at most 1e-30 plus 1e-6, as the kernel's `inverse` has it."""
    return where(scale <= LEAST, step(scale + EPSILON), scale)


def inverse(number: Term) -> Term:
    return step(1 / number)


def by_inverse(x: Term, scale: Term, steps: Term) -> Term:
    return step(step(steps * inverse(scale)) * x)


def by_kernel_inverse(x: Term, scale: Term, steps: Term) -> Term:
    """The kernel's own inverse: a small scale is raised."""
    return by_inverse(x, raised(scale), steps)


def by_flushed_inverse(x: Term, scale: Term, steps: Term) -> Term:
    """So where subnormals are flushed, as in eager mode."""
    return step(step(steps * to.FLUSH(inverse(raised(scale)))) * x)


def step_by_reciprocals(x: Term, scale: Term, steps: Term) -> Term:
    """The step is the scale times a reciprocal, and X is multiplied by its reciprocal."""
    return step(x * inverse(step(scale * inverse(steps))))


def divided_in(name: str, x: Term, scale: Term, steps: Term) -> Term:
    own = partial(step, kind=FLOAT_TYPES[name])
    return own(own(own(x) * own(steps)) / own(scale))


QUOTIENTS = of_place(
    "quotient",
    often("own-reciprocal-times-range", "quotient", quotient(by_inverse)),
    Wrong("own-inverse-times-range + flushes-inputs-and-reciprocals", "quotient", quotient(by_flushed_inverse)),
    often("own-inverse-times-range", "quotient", quotient(by_kernel_inverse)),
    often("own-reciprocal", "quotient", quotient(lambda x, scale, steps: step(step(x * steps) * inverse(scale)))),
    often("factor-first", "quotient", quotient(lambda x, scale, steps: step(x * step(steps / scale)))),
    often("step-first", "quotient", quotient(lambda x, scale, steps: step(x / step(scale / steps)))),
    Wrong("step-by-reciprocals", "quotient", quotient(step_by_reciprocals)),
    Wrong(
        "step-by-reciprocal-of-range",
        "quotient",
        quotient(lambda x, scale, steps: step(x / step(scale * inverse(steps)))),
    ),
    Wrong("own-reciprocal-before-range", "quotient", quotient(lambda x, scale, n: step(step(x * inverse(scale)) * n))),
    Wrong("divides-before-range", "quotient", quotient(lambda x, scale, steps: step(step(x / scale) * steps))),
    Wrong("multiplies-by-scale", "quotient", quotient(lambda x, scale, steps: step(step(x * steps) * scale))),
    Wrong("ignores:range", "range", quotient(lambda x, scale, steps: step(x / scale))),
    Wrong("divides-in:float16", "quotient", quotient(partial(divided_in, "float16"))),
    Wrong("divides-in:bfloat16", "quotient", quotient(partial(divided_in, "bfloat16"))),
)

# Range, the ends, scale and X


def from_attributes(p: Elementwise) -> tuple[int, int, int]:
    return 2 ** (p.constants["bit_length"] - 1) - 1, p.constants["qmin"], p.constants["qmax"]


def steps(make: Callable[[int, int, int], int]) -> Mutant:
    """Another range."""
    return written(lambda p: at("PQL-F1", lambda one: step(lifted(make(*from_attributes(p))))))


def ends(make: Callable[[int, int, int], tuple[int, int]]) -> Mutant:
    return written(lambda p: at(ENDS, lambda one: clamp(one.args[0], *map(lifted, make(*from_attributes(p))))))


def limited(p: Elementwise) -> Change:
    scale = operands_of(p)["scale"]
    return by.of_operand("value", lambda x: least(greatest(x, 0 - scale), scale))


def is_away(call: NodeCall) -> bool:
    return call.node.round_mode != EVEN


def scale(conversion: Callable[[Term], Term]) -> Mutant:
    return by.operands(conversion, "scale")


OWN_INVERSE, QMAX, LIMITED = "own-inverse-times-range", "range-and-ends-are-qmax", "clips-to-scale:with round_type 1"
RANGE_IS_QMAX = steps(lambda n, qmin, qmax: qmax)
OF_QMAX = at_once(RANGE_IS_QMAX, ends(lambda n, qmin, qmax: (-qmax - 1, qmax)))
LIMITED_IF_AWAY = integers.only(is_away, written(limited))  # as the kernel does it
OF_KERNEL = at_once(quotient(by_kernel_inverse), OF_QMAX)
OPERANDS = (
    *of_place(
        "steps ends",
        Wrong(f"{OWN_INVERSE} + {QMAX}", "range", OF_KERNEL),
        often(QMAX, "range", OF_QMAX),
        Wrong("range-is-qmax", "range", RANGE_IS_QMAX),
        Wrong("range-counts:2^(bit_length - 1)", "range", steps(lambda n, qmin, qmax: n + 1)),
        Wrong("range-counts:2^bit_length - 1", "range", steps(lambda n, qmin, qmax: 2 * n + 1)),
        Wrong("ignores:bit_length", "range", steps(lambda n, qmin, qmax: 127)),
    ),
    Wrong("small-scale-raised", "quotient", scale(raised)),
    *of_place(
        "limit",
        often(LIMITED, "product", LIMITED_IF_AWAY),
        Wrong("clips-to-scale", "product", written(limited)),
        Wrong(f"{OWN_INVERSE} + {QMAX} + {LIMITED}", "range", OF_KERNEL + LIMITED_IF_AWAY),
    ),
    Wrong("scale-in:float16", "quotient", scale(to.FLOAT16)),
    Wrong("scale-in:bfloat16", "quotient", scale(to.BFLOAT16)),
    Wrong("scale-to-power-of-two", "quotient", scale(to.Conversion("1 bit", partial(to.significant, 1)))),
)

# Rounding and the ends


def rounds(rounding: by.Rounding, *modes: str) -> Mutant:
    """In nodes with these modes, or in all."""
    mutant = changed(by.rounding(rounding))
    return integers.only(lambda call: call.node.round_mode in modes, mutant) if modes else mutant


TO_AWAY, TO_EVEN = rounds(by.in_mode(AWAY), EVEN), rounds(by.in_mode(EVEN), AWAY)
HALF_ADDED = rounds(by.trunc_of_signed_half_more, AWAY)
OF_BITS = ends(lambda n, qmin, qmax: (-n - 1, n))
ROUNDS = of_place(
    "round",
    often("ties-away", "even", TO_AWAY),
    often("ignores:round_type", "away", TO_EVEN),
    Wrong("inverts:round_type", "round-type", at_once(TO_AWAY, TO_EVEN)),
    Wrong("truncates", "even", rounds(by.in_mode(TOWARD_ZERO))),
    Wrong("floors", "even", rounds(by.in_mode(DOWN))),
    Wrong("ceils", "even", rounds(by.in_mode(UP))),
    Wrong("floor-of-half-more", "even", rounds(by.floor_of_half_more)),
    Wrong("half-added-to-magnitude", "away", HALF_ADDED),
)
OF_ENDS = (
    Wrong(
        "step-by-reciprocals + ends-of-bits + half-added-to-magnitude:with round_type 1",
        "quotient",
        at_once(quotient(step_by_reciprocals), OF_BITS, HALF_ADDED),
    ),
    Wrong("ends-of-bits", "bit-length", OF_BITS),
    Wrong("narrow-range", "quotient", ends(lambda n, qmin, qmax: (-qmax, qmax))),
    Wrong("narrow-range:whatever qmin is", "quotient", ends(lambda n, qmin, qmax: (qmin + 1, qmax))),
)
STEPS = as_read(
    WITHIN_ENDS,
    (
        *QUOTIENTS,
        *OPERANDS,
        *ROUNDS,
        *OF_ENDS,
        *of_place("x", *of_inputs("value", "product")),
        *of_place("out", *of_results("output-type")),
    ),
)
MISTAKES, PAIRS = mistakes_of(STEPS), pairs_of(STEPS)

# The places of scales

OF_SCALES = {**CHANNEL_NAMES, "one-for-all:first range": "one-for-all:scale"}
CHANNELS = [Wrong(OF_SCALES[name], "axis", misplaced({1: place}, only="Y")) for name, place in PLACES.items()]
CHANNEL_MISTAKES = mistakes_of(as_read(WITHIN_ENDS, CHANNELS))
