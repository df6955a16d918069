"""What may happen where a number becomes a result: other ends, casts, and NaN and infinities as something else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants.changes import matched
from tiebreak.conformance.variants.number_changes import Named, converted
from tiebreak.conformance.variants.one_step import toward
from tiebreak.golden.arithmetic.term import (
    AWAY,
    DOWN,
    TOWARD_ZERO,
    UP,
    UPWARD,
    Term,
    clamp,
    is_finite,
    step,
    to_ends,
    where,
    whole,
    wrapped,
)
from tiebreak.golden.arithmetic.text import text_of
from tiebreak.golden.elements import INTEGER_TYPES, FloatType, IntegerType, decode, scaled
from tiebreak.golden.problem import Array, Problem


def of_ends(site: Term, problem: Problem) -> Iterator[Named]:
    """What becomes an integer: other ends, no ends, and what is cast before."""
    (value,), (low, high), kind = site.args, site.constant, problem.result
    assert isinstance(kind, IntegerType)
    yield "wraps", whole(wrapped(value, kind))
    yield "casts-to-int32", to_ends(to.X86_CAST(value), low, high)
    yield "narrow-range", to_ends(value, low + 1, high)
    yield "highest-never", to_ends(value, low, high - 1)
    yield "wraps-above", where(value > high, whole(wrapped(value, kind)), site)
    yield "wraps-below", where(value < low, whole(wrapped(value, kind)), site)
    yield "ends-of-type-exchanged", where(value > high, whole(low), where(value < low, whole(high), site))
    yield "beyond-to-lowest", where(value > high, whole(low), site)
    yield "negative-to-highest", where(value < 0, whole(high), site)
    yield "beyond-to-zero", where((value > high) | (value < low), whole(max(low, 0)), site)
    yield "narrower-by-one-bit", to_ends(value, low // 2, high // 2)
    if kind.signed:
        other = INTEGER_TYPES[f"u{kind.name}"]
        yield "saturates-as-unsigned", whole(wrapped(to_ends(value, other.lowest, other.highest), kind))
        yield "number-not-below-zero:the result", to_ends(value, 0, high)
    else:
        signed = INTEGER_TYPES.get(kind.name[1:])
        if signed:
            yield "highest-of-signed", to_ends(value, low, signed.highest)
            yield "saturates-as-signed", whole(wrapped(to_ends(value, signed.lowest, signed.highest), kind))
    for word in ("int8", "int16", "int32"):
        ends = INTEGER_TYPES[word]
        yield f"sum-wraps-in:{word}", to_ends(wrapped(value, ends), low, high)
        yield (
            f"number-saturates-to:{text_of(value)},{word}".replace(" + ", "+"),
            whole(wrapped(clamp(value, ends.lowest, ends.highest), kind)),
        )
    if matched(value, "add"):
        first, second = matched(value, "add")
        yield "clamps-before-zero-point", to_ends(clamp(first, low, high) + second, low, high)
        yield "clamps-before-zero-point-and-wraps", whole(wrapped(clamp(first, low, high) + second, kind))
        yield "number-taken-as:NaN and infinity,0", where(is_finite(first), site, to_ends(second, low, high))


def of_float(site: Term, problem: Problem) -> Iterator[Named]:
    """What becomes a float: another rounding to the type, other ends, NaN and infinities as something else."""
    end, (value,) = site.constant, site.args
    kind: FloatType = end.kind
    largest = float(decode(kind.largest_bits, kind))
    ways = {"down": DOWN, "up": UP, "toward zero": TOWARD_ZERO, "ties away from zero": AWAY, "ties upward": UPWARD}
    for way, mode in ways.items():
        yield f"number-rounds:the result,{way}", replace(site, args=(toward(value, kind, mode),))
    yield "flushes-outputs", replace(site, args=(to.flushed_in(kind)(step(value)),))
    rounded_first = converted(f"flushed after {kind.name}", partial(flushed_after, kind))
    yield "number-flushed-in:the rounded result," + kind.name, replace(site, args=(rounded_first(step(value)),))
    for beyond in ("ieee", "largest"):
        if beyond != end.beyond:
            id_ = "never-saturates" if beyond == "ieee" else "overflow-saturates"
            yield id_, replace(site, constant=replace(end, beyond=beyond))
    number = step(value)
    for name, number_ in (("0", 0.0), ("the largest number", largest), ("infinity", np.inf)):
        of_nan = converted(f"NaN to {name}", partial(instead_of, np.isnan, number_))
        yield f"number-taken-as:a result of NaN,{name}", replace(site, args=(of_nan(number),))
    for name, number_ in (("0", 0.0), ("the largest number", largest), ("NaN", np.nan)):
        of_infinity = converted(f"infinity to {name}", partial(instead_of, np.isinf, number_))
        yield f"number-taken-as:an infinite result,{name}", replace(site, args=(of_infinity(number),))
        beyond_ = converted(f"beyond {largest} to {name}", partial(instead_of, partial(is_beyond, largest), number_))
        yield f"number-taken-as:a result beyond the largest number,{name}", replace(site, args=(beyond_(number),))


def is_beyond(largest: float, values: Array) -> Array:
    return np.abs(values) > largest


def instead_of(condition: Callable[[Array], Array], number: float, values: Array) -> Array:
    signed = number if np.isnan(number) else np.copysign(number, values)
    return np.where(condition(values), signed, values)


def flushed_after(kind: FloatType, values: Array) -> Array:
    """As after rounding to the type's precision: what rounds up to the least normal number stays."""
    least_normal = float(scaled(1, kind.emin))
    return to.below_to_zero(least_normal * (1 - 2.0 ** -(kind.precision + 1)), values)
