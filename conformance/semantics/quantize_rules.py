"""Which combinations of the facets of round(x / scale) + zero_point an audit leaves out of its search, and why.

A combination is left out where it makes no sense, or where it gives the same as a simpler one for every input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import filterfalse, product
from typing import NamedTuple

from tiebreak.conformance.semantics.model import Candidates
from tiebreak.conformance.semantics.precisions import EXACT, FLOAT16, FLOAT64, Precision
from tiebreak.conformance.semantics.quantize_facets import FACETS, Combination
from tiebreak.conformance.semantics.quantize_saturation import INT32_WIDER, INT32_WRAP, INT64_WIDER, SATURATE, SINGLE
from tiebreak.conformance.semantics.quantize_scaling import DIVIDE, FUSED, NARROW
from tiebreak.conformance.semantics.round_modes import NEVER_NEGATIVE
from tiebreak.conformance.semantics.subnormals import KEPT
from tiebreak.golden.elements import FloatType, IntegerType

SEES_SHIFTS = (  # modes that may round x and x + zero_point differently, though the sum is exact
    "ROUND_NEAREST_TOWARD_INFINITY",
    "ROUND_NEAREST_TOWARD_ZERO",
    "ROUND_NEAREST_TOWARD_EVEN",
    "ROUND_TOWARD_INFINITY",
    "ROUND_TOWARD_ZERO",
)
SEES_TINY = ("ROUND_TOWARD_INFINITY", "ROUND_UP", "ROUND_DOWN")  # the other modes round a subnormal quotient to 0


class Rule(NamedTuple):
    """`name` says why the combinations that `excludes` is true of are left out."""

    name: str
    excludes: Callable[[Combination], bool]


class RuleOfTypes(NamedTuple):
    """A rule for nodes that quantize real numbers of a type to integers of a type."""

    name: str
    excludes: Callable[[Combination, FloatType, IntegerType], bool]


RULES = (  # the rules that leave out the most come first, which makes them quick to apply
    # Scaling by the ends of a range, as FakeQuantize does it.
    Rule("nothing leaves a range that x is clamped to", lambda c: c.scaling.of_range and not c.saturation.of_ranges),
    Rule("flushing is not modelled with ranges", lambda c: c.scaling.of_range and c.subnormals is not KEPT),
    Rule("the ends of a range contain the zero point", lambda c: c.scaling.of_range and not c.zero_point.first),
    Rule(
        "the mode is another one on numbers that are never negative",
        lambda c: c.scaling.of_range and c.round_mode not in NEVER_NEGATIVE,
    ),
    # Flushed numbers.
    Rule(
        "only a division becomes a product with an exact reciprocal",
        lambda c: c.subnormals.keeps_factors and c.scaling is not DIVIDE,
    ),
    Rule(
        "the mode rounds a subnormal quotient to 0, as if it were flushed",
        lambda c: c.subnormals.of_quotient and c.round_mode.id not in SEES_TINY,
    ),
    Rule("an exact quotient is never flushed", lambda c: c.subnormals.of_quotient and c.precision.is_exact),
    Rule("a fused step has no quotient of its own to flush", lambda c: c.subnormals.of_quotient and c.scaling is FUSED),
    # A zero point that is added in float64.
    Rule(
        "the mode rounds an exact sum as it rounds the quotient",
        lambda c: c.zero_point.wider and c.round_mode.id not in SEES_SHIFTS,
    ),
    Rule(
        "float64 is no wider than the precision",
        lambda c: c.zero_point.wider and c.precision in (EXACT, FLOAT64),
    ),
    Rule(
        "a zero point is added in float64 to a quotient only",
        lambda c: c.zero_point.wider and c.scaling.adds_zero_point,
    ),
    # Scaling and precision.
    Rule("an exact quotient is x / scale", lambda c: c.precision.is_exact and c.scaling is not DIVIDE),
    Rule(
        "an exact quotient has no rounded sum with 0.5",
        lambda c: c.precision.is_exact and c.round_mode.sum is not None,
    ),
    Rule("a fused step adds before rounding", lambda c: c.scaling.fused and not c.zero_point.first),
    Rule("a fused step is not modelled in float64", lambda c: c.scaling.fused and c.precision is FLOAT64),
    # Saturation.
    Rule(
        "nothing is added after rounding: there is nothing to clamp before",
        lambda c: c.zero_point.first and c.saturation.clamps_first,
    ),
    Rule("nothing is added after rounding in float32", lambda c: c.zero_point.first and c.saturation is SINGLE),
    Rule(
        "nothing is added after rounding: the sum is the rounded quotient",
        lambda c: c.zero_point.first and c.saturation.of_sum,
    ),
    Rule("int64 holds every float16", lambda c: c.precision is FLOAT16 and c.saturation.through == 64),
)
RULES_OF_TYPES = (
    # Scaling by the ends of a range, as FakeQuantize does it.
    RuleOfTypes(
        "float16 does not hold the number of a range's steps",
        lambda c, real, quantized: c.scaling.of_range and c.precision is FLOAT16 and quantized.bits >= 16,
    ),
    # Flushed quotients.
    RuleOfTypes(
        "every quotient is a normal number of the precision: none is flushed",
        lambda c, real, quantized: c.subnormals.of_quotient and holds_every_quotient(c.precision, real),
    ),
    # Scaling and precision.
    RuleOfTypes(
        "the reciprocal in x's type is no narrower than the precision",
        lambda c, real, quantized: c.scaling is NARROW and c.precision.type.precision <= real.precision,
    ),
    # Saturation.
    RuleOfTypes(
        "int32 has room for all that matters",
        lambda c, real, quantized: c.saturation.through == 32 and int32_is_enough(c, quantized),
    ),
    RuleOfTypes(
        "float32 holds every sum in and around a range of 16 bits",
        lambda c, real, quantized: c.saturation.single and quantized.bits <= 16,
    ),
    RuleOfTypes(
        "int64 has room for the sum too",
        lambda c, real, quantized: c.saturation is INT64_WIDER and int64_holds_every_sum(c, quantized),
    ),
    RuleOfTypes(
        "no float16 sum exceeds a range of 32 bits: all ways to saturate are one",
        lambda c, real, quantized: (
            c.precision is FLOAT16 and c.zero_point.first and quantized.bits == 32 and c.saturation is not SATURATE
        ),
    ),
)


@lru_cache(maxsize=32)  # some 9,000 combinations for each pair of types
def valid_combinations(real: FloatType, quantized: IntegerType) -> Candidates:
    """The combinations that no rule leaves out."""
    left: Iterable[Combination] = valid_for_some_types()
    for rule in RULES_OF_TYPES:
        left = [one for one in left if not rule.excludes(one, real, quantized)]
    return Candidates(FACETS, tuple(left))


@lru_cache(maxsize=1)
def valid_for_some_types() -> list[Combination]:
    left: Iterable[Combination] = map(Combination._make, product(*(facet.values for facet in FACETS)))
    for rule in RULES:
        left = filterfalse(rule.excludes, left)
    return list(left)


def holds_every_quotient(precision: Precision, real: FloatType) -> bool:
    """Whether every quotient of two numbers of the type is a normal number of the precision."""
    return precision is FLOAT64 and real.bits <= 32


def int32_is_enough(c: Combination, quantized: IntegerType) -> bool:
    """Whether a cast to int32 on the way gives nothing that a simpler combination does not give.

    No float16 is out of int32, but its sum with a zero point of 32 bits may be.

    With p digits the largest number below 2^31 is 2^31 - 2^(31 - p). If 0 <= zero point < 2^(31 - p), their sum needs
    no more room than int32 has; if the sum was made before rounding, nothing is added to it.

    Numbers from 2^31 on are multiples of 2^(32 - p): their lowest 32 - p bits are 0, as are those of -2^31, which
    stands for them after the cast. A type of 32 bits needs no wrapping after int32 has wrapped.
    """
    if c.precision in (FLOAT16, EXACT):
        return c.precision is FLOAT16 and not (c.saturation.of_sum and quantized.bits == 32)
    digits = 32 - c.precision.type.precision
    if c.saturation is INT32_WIDER:
        return c.zero_point.first or (quantized.lowest == 0 and quantized.highest < 2.0 ** (digits - 1))
    return c.saturation is INT32_WRAP and (digits >= quantized.bits or quantized.bits == 32)


def int64_holds_every_sum(c: Combination, quantized: IntegerType) -> bool:
    """Whether a sum with the zero point stays in int64 for every number of the precision that int64 holds.

    As in int32_is_enough, with 2^63 and 0 <= zero point < 2^(63 - p).
    """
    digits = 63 - c.precision.type.precision
    return c.zero_point.first or (quantized.lowest == 0 and quantized.highest < 2.0**digits)
