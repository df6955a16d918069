"""Which combinations of the facets of round(x / scale) + zero_point an audit leaves out of its search, and why.

A combination is left out where it makes no sense, or where it gives the same as a simpler one for every input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import filterfalse, product
from typing import NamedTuple

from tiebreak.conformance.semantics.model import Candidates
from tiebreak.conformance.semantics.places import NEVER_NEGATIVE
from tiebreak.conformance.semantics.quantize_facets import AFTER, CAST, FACETS, NARROW, OF_RANGES, WIDER
from tiebreak.golden.elements import FLOAT_TYPES, FloatType, IntegerType
from tiebreak.golden.rounding import ROUND_MODES

SEES_SHIFTS = (  # modes that may round x and x + zero_point differently, though the sum is exact
    "ROUND_NEAREST_TOWARD_INFINITY",
    "ROUND_NEAREST_TOWARD_ZERO",
    "ROUND_NEAREST_TOWARD_EVEN",
    "ROUND_TOWARD_INFINITY",
    "ROUND_TOWARD_ZERO",
)
SEES_TINY = ("ROUND_TOWARD_INFINITY", "ROUND_UP", "ROUND_DOWN")  # the other modes round a subnormal quotient to 0
FLUSHES_QUOTIENTS = ("quotients flushed", "all flushed")


class Combination(NamedTuple):
    """One value of each facet."""

    precision: str
    scaling: str
    subnormals: str
    zero_point: str
    round_mode: str
    saturation: str

    @property
    def flushes_quotients(self) -> bool:
        return self.subnormals in FLUSHES_QUOTIENTS

    @property
    def of_range(self) -> bool:
        """Whether x is scaled by the ends of a range, as FakeQuantize does it."""
        return self.scaling.startswith("range")

    @property
    def adds_first(self) -> bool:
        """Whether the zero point is added before rounding."""
        return self.zero_point != AFTER


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
    Rule("nothing leaves a range that x is clamped to", lambda c: c.of_range and c.saturation not in OF_RANGES),
    Rule("flushing is not modelled with ranges", lambda c: c.of_range and c.subnormals != "kept"),
    Rule("the ends of a range contain the zero point", lambda c: c.of_range and not c.adds_first),
    Rule(
        "the mode is another one on numbers that are never negative",
        lambda c: c.of_range and c.round_mode not in NEVER_NEGATIVE,
    ),
    # Flushed quotients.
    Rule(
        "the mode rounds a subnormal quotient to 0, as if it were flushed",
        lambda c: c.flushes_quotients and c.round_mode not in SEES_TINY,
    ),
    Rule("an exact quotient is never flushed", lambda c: c.flushes_quotients and c.precision == "exact"),
    Rule("a fused step has no quotient of its own to flush", lambda c: c.flushes_quotients and c.scaling == "fused"),
    # A zero point that is added in float64.
    Rule(
        "the mode rounds an exact sum as it rounds the quotient",
        lambda c: c.zero_point == WIDER and c.round_mode not in SEES_SHIFTS,
    ),
    Rule(
        "float64 is no wider than the precision",
        lambda c: c.zero_point == WIDER and c.precision in ("exact", "float64"),
    ),
    Rule(
        "a zero point is added in float64 to a quotient only",
        lambda c: c.zero_point == WIDER and c.scaling not in ("divide", "reciprocal", NARROW),
    ),
    # Scaling and precision.
    Rule("an exact quotient is x / scale", lambda c: c.precision == "exact" and c.scaling != "divide"),
    Rule(
        "an exact quotient has no rounded sum with 0.5",
        lambda c: c.precision == "exact" and c.round_mode not in ROUND_MODES,
    ),
    Rule("a fused step adds before rounding", lambda c: "fused" in c.scaling and not c.adds_first),
    Rule("a fused step is not modelled in float64", lambda c: "fused" in c.scaling and c.precision == "float64"),
    # Saturation.
    Rule(
        "nothing is added after rounding: there is nothing to clamp before",
        lambda c: c.adds_first and c.saturation.startswith("clamp"),
    ),
    Rule("nothing is added after rounding in float32", lambda c: c.adds_first and c.saturation == "float32"),
    Rule("int64 holds every float16", lambda c: c.precision == "float16" and c.saturation.startswith("int64")),
)
RULES_OF_TYPES = (
    # Scaling by the ends of a range, as FakeQuantize does it.
    RuleOfTypes(
        "float16 does not hold the number of a range's steps",
        lambda c, real, quantized: c.of_range and c.precision == "float16" and quantized.bits >= 16,
    ),
    # Flushed quotients.
    RuleOfTypes(
        "every quotient is a normal number of the precision: none is flushed",
        lambda c, real, quantized: c.flushes_quotients and holds_every_quotient(c.precision, real),
    ),
    # Scaling and precision.
    RuleOfTypes(
        "the reciprocal in x's type is no narrower than the precision",
        lambda c, real, quantized: c.scaling == NARROW and digits_of(c.precision) <= real.precision,
    ),
    # Saturation.
    RuleOfTypes(
        "int32 has room for all that matters",
        lambda c, real, quantized: c.saturation.startswith("int32") and int32_is_enough(c, quantized),
    ),
    RuleOfTypes(
        "float32 holds every sum in and around a range of 16 bits",
        lambda c, real, quantized: c.saturation in ("float32", CAST) and quantized.bits <= 16,
    ),
    RuleOfTypes(
        "int64 has room for the sum too",
        lambda c, real, quantized: c.saturation == "int64, then a wider sum" and int64_holds_every_sum(c, quantized),
    ),
    RuleOfTypes(
        "no float16 sum exceeds a range of 32 bits: all ways to saturate are one",
        lambda c, real, quantized: (
            c.precision == "float16" and c.adds_first and quantized.bits == 32 and c.saturation != "saturate"
        ),
    ),
)


@lru_cache(maxsize=32)  # some 9,000 combinations for each pair of types
def valid_combinations(real: FloatType, quantized: IntegerType) -> Candidates:
    """The combinations that no rule leaves out."""
    left: Iterable[Combination] = valid_for_some_types()
    for rule in RULES_OF_TYPES:
        left = [one for one in left if not rule.excludes(one, real, quantized)]
    return Candidates(FACETS, tuple(map(tuple, left)))


@lru_cache(maxsize=1)
def valid_for_some_types() -> list[Combination]:
    left: Iterable[Combination] = map(Combination._make, product(*(facet.values for facet in FACETS)))
    for rule in RULES:
        left = filterfalse(rule.excludes, left)
    return list(left)


def digits_of(precision: str) -> int:
    """Significand bits; those of an exact quotient are the ones of the float64 it is compared in."""
    return FLOAT_TYPES["float64" if precision == "exact" else precision].precision


def holds_every_quotient(precision: str, real: FloatType) -> bool:
    """Whether every quotient of two numbers of the type is a normal number of the precision."""
    return precision == "float64" and real.bits <= 32


def int32_is_enough(c: Combination, quantized: IntegerType) -> bool:
    """Whether a cast to int32 on the way gives nothing that a simpler combination does not give.

    With p digits the largest number below 2^31 is 2^31 - 2^(31 - p). If 0 <= zero point < 2^(31 - p), their sum needs
    no more room than int32 has; if the sum was made before rounding, nothing is added to it.

    Numbers from 2^31 on are multiples of 2^(32 - p): their lowest 32 - p bits are 0, as are those of -2^31, which
    stands for them after the cast. A type of 32 bits needs no wrapping after int32 has wrapped.
    """
    if c.precision in ("float16", "exact"):
        return c.precision == "float16"
    digits = 32 - digits_of(c.precision)
    if c.saturation == "int32, then a wider sum":
        return c.adds_first or (quantized.lowest == 0 and quantized.highest < 2.0 ** (digits - 1))
    return c.saturation == "int32, then wrap" and (digits >= quantized.bits or quantized.bits == 32)


def int64_holds_every_sum(c: Combination, quantized: IntegerType) -> bool:
    """Whether a sum with the zero point stays in int64 for every number of the precision that int64 holds.

    As in int32_is_enough, with 2^63 and 0 <= zero point < 2^(63 - p).
    """
    return c.adds_first or (quantized.lowest == 0 and quantized.highest < 2.0 ** (63 - digits_of(c.precision)))
