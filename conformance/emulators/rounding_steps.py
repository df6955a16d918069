"""The steps that make an argument a whole number: the facet `round_mode`, of numbers that a type holds or of quotients.

A number less its own whole part is exact in its type, and so is the comparison with a half.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tiebreak.conformance.emulators.steps import Computed, constant, double, modulus, named, step, where
from tiebreak.conformance.semantics.quantize import FAR
from tiebreak.conformance.semantics.round_modes import RoundMode
from tiebreak.golden.rounding import EVEN

HALF, ONE = constant(0.5), constant(1)


def rounded(argument: Computed, mode: RoundMode) -> Computed:
    """A whole number (float64) of an argument in the working precision; NaN and infinities stay."""
    if mode.sum is None:
        return MODES[mode.id](double(argument))
    half = constant(0.5, argument.type)
    if mode.id == "half-added-to-magnitude":
        half = step("copysign", half, argument)
    return step("floor" if mode.id == "floor-of-half-more" else "truncate", double(argument + half))


def plainly(op: str) -> Callable[[Computed], Computed]:
    return lambda q: step(op, q)


def away(q: Computed) -> Computed:
    q = named("wide", q)
    return step("copysign", step("ceil", step("abs", q)), q)


def nearest_away(q: Computed) -> Computed:
    q = named("wide", q)
    cut = named("cut", step("truncate", q))
    return where(step("abs", q - cut) >= HALF, cut + step("copysign", ONE, q), cut)


def nearest_to_zero(q: Computed) -> Computed:
    q = named("wide", q)
    cut = named("cut", step("truncate", q))
    return where(step("abs", q - cut) > HALF, cut + step("copysign", ONE, q), cut)


def nearest_up(q: Computed) -> Computed:
    q = named("wide", q)
    below = named("below", step("floor", q))
    return where(q - below >= HALF, below + ONE, below)


def nearest_down(q: Computed) -> Computed:
    q = named("wide", q)
    above = named("above", step("ceil", q))
    return where(above - q >= HALF, above - ONE, above)


MODES: Mapping[str, Callable[[Computed], Computed]] = {
    EVEN: plainly("rint"),
    "ROUND_TOWARD_ZERO": plainly("truncate"),
    "ROUND_UP": plainly("ceil"),
    "ROUND_DOWN": plainly("floor"),
    "ROUND_TOWARD_INFINITY": away,
    "ROUND_NEAREST_TOWARD_INFINITY": nearest_away,
    "ROUND_NEAREST_TOWARD_ZERO": nearest_to_zero,
    "ROUND_NEAREST_UPWARD": nearest_up,
    "ROUND_NEAREST_DOWNWARD": nearest_down,
}


def rounded_exactly(x: Computed, scale: Computed, q: Computed, added: Computed | None, mode: RoundMode) -> Computed:
    """x / scale plus an integer, rounded though no type holds it: by the rest of the division, which is exact.

    `q` is x / scale in float64, which stands for itself from 2^50 on.
    """
    size, unit = named("size", step("abs", x)), named("unit", step("abs", scale))
    rest = named("rest", step("remainder", size, unit))
    other = named("other", unit - rest, "what is missing to the next multiple of scale")
    multiple = named("multiple", step("rint", (size - rest) / unit))
    negative, some = (
        named("negative", step("equal", x < constant(0), scale > constant(0))),
        named("some", rest > constant(0)),
    )
    first = where(
        negative & some, step("negative", multiple) - ONE, where(negative, step("negative", multiple), multiple)
    )
    below = named("below", first if added is None else first + added)
    more = named("more", (negative & some & (rest < other)) | (~negative & (rest > other)))
    takes = takes_integer_above(mode, below, some, more, step("equal", rest, other))
    whole = below if takes is None else named("near", where(takes, below + ONE, below))
    return where(step("abs", q) < constant(FAR), whole, q)


def takes_integer_above(
    mode: RoundMode, below: Computed, some: Computed, more: Computed, tie: Computed
) -> Computed | None:
    """As places.takes_integer_above; None if never.

    Beyond the integer `below` there is `some`thing, `more` than a half, or a half: a `tie`.
    """
    minus = below < constant(0, below.type)
    directed = {"ROUND_TOWARD_INFINITY": some & ~minus, "ROUND_TOWARD_ZERO": some & minus, "ROUND_UP": some}
    if mode.id in (*directed, "ROUND_DOWN"):
        return directed.get(mode.id)
    ties = {
        "ROUND_NEAREST_TOWARD_INFINITY": tie & ~minus,
        "ROUND_NEAREST_TOWARD_ZERO": tie & minus,
        "ROUND_NEAREST_UPWARD": tie,
        EVEN: tie & step("equal", modulus(below, 2), constant(1, below.type)),
    }
    return more | ties[mode.id] if mode.id in ties else more
