"""What an audit of `tensorflow.Dequantize` asks: the facets of its term, their combinations, and inputs to try."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from tiebreak.conformance.operators.tensorflow_dequantize_variants import (
    OF_COMBINED,
    OF_FIRST,
    OF_RESULT,
    OF_SCALED,
    added,
    moved,
    offset,
)
from tiebreak.conformance.operators.wrong_terms import facet_of
from tiebreak.conformance.semantics.model import Facet, Probe, Semantics, Value
from tiebreak.conformance.semantics.precisions import BFLOAT16, FLOAT16, FLOAT32, FLOAT64
from tiebreak.conformance.semantics.term_arithmetic import TermArithmetic, TermChange
from tiebreak.conformance.variants.changes import matched
from tiebreak.golden.arithmetic.doubles import DOUBLE
from tiebreak.golden.arithmetic.term import AWAY, Term, step
from tiebreak.golden.elements import INTEGER_TYPES, IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node

SUBNORMALS = facet_of(
    "subnormals",
    TermChange("kept", "subnormal numbers are kept"),
    {"outputs-flushed": "flushes-outputs", "flushed": "flushes"},
    OF_RESULT,
)
DIVISIONS = {
    "division-first": "divides-before-width",
    "reciprocal-ratio": "range-ratio-by-reciprocal",
    "reciprocal-ratio-fused": "range-ratio-by-reciprocal-fused",
    "reciprocal": "reciprocal-of-integer-range",
}


def of_combined(kind: IntegerType, narrow: bool) -> Iterator[Facet]:
    """range(T) of 32 bits is a power of two in float32, whose integers it rounds before anything is added."""
    words = kind.bits == 32
    in_order = TermChange("product-first", "times the range's width, over range(T), plus min_range")
    positions = {
        "ratio-first": "range-ratio-first",
        "ratio-fused": "result:fused",
        **({} if words else DIVISIONS),
        "between-ends": "result:between the limits",
        "from-max": "counts-from-max",
        "integer-zero-point": "by-integer-zero-point",
    }
    half = TermChange("half-range", "(range(T) + 1) / 2 is added to a signed integer, exactly")
    offsets = {"half-less": "offset-of-half-less", "one-less": "offset-of-one-less", "none": "no-offset"}
    other_offsets = facet_of("offset", half, offsets if kind.signed else {}, OF_COMBINED).values
    rounded_first = TermChange(
        "added-in-float32",
        "the integer is rounded to float32 before (range(T) + 1) / 2 is added",
        offset(lambda x, count: step(step(x) + count)),
        "converts-before-subtracting",
    )
    counts = {} if words else {"values": "counts-values", "one-less": "counts-one-step-less"}
    yield Facet("precision", (FLOAT32, FLOAT64, BFLOAT16, *(() if kind.bits > 8 else (FLOAT16,))))
    yield facet_of("position", in_order, positions, OF_COMBINED)
    yield Facet("offset", (*other_offsets, *((rounded_first,) if words and kind.signed else ())))
    highest = TermChange("steps", "range(T) is the highest value less the lowest")
    yield facet_of("range_of_type", highest, counts, OF_COMBINED)
    yield SUBNORMALS


DOUBLE_AFTER_SCALE = TermChange("double-after-scale", "range_scale is made of float32 steps, the rest is of doubles")


def distributed(x: Term, factor: Term, low: Term) -> Term:
    number, lowest = matched(x, "subtract") or (x, 0 * x)
    return step(step(number * factor, DOUBLE) + step(low - step(lowest * factor, DOUBLE), DOUBLE), DOUBLE)


NEAREST_AWAY = TermChange(
    "nearest-away",
    "min_range moves to the nearest multiple of range_scale, of two to the one away from zero",
    moved(AWAY),
    "moves-minimum:to the nearest multiple, away from zero",
)
NOT_ADDED = TermChange(
    "none",
    "min_range is not added",
    added(lambda x, factor, low: step(0 * low + x * factor, DOUBLE)),
    "no-minimum",
)
AS_GIVEN = TermChange("as-given", "min_range is added as it is")
DISTRIBUTED = TermChange(
    "distributed",
    "input * range_scale, and min_range - lowest * range_scale, are added",
    added(distributed),
    "distributes-scale",
)
FROM_LOWEST = TermChange("difference-first", "(input - lowest) * range_scale is added")


def of_first(kind: IntegerType, narrow: bool) -> Iterator[Facet]:
    """Without other scales for 32 bits, of which range_adjust is 1 in float32."""
    others = (FLOAT64, BFLOAT16, *((FLOAT16,) if kind.bits == 8 else ()))
    single = facet_of("precision", DOUBLE_AFTER_SCALE, {"float32": "min-first-in-float32"}, OF_FIRST).values
    yield Facet("precision", (*single, *others))
    scales = {"one-division": "one-division", "without-adjust": "no-range-adjust"}
    adjusted = TermChange("adjusted", "the width * range_adjust / 2^bits, each step rounded")
    yield facet_of("scaling", adjusted, {} if kind.bits == 32 else scales, OF_FIRST)
    moves = {"nearest-even": "moves-minimum", "down": "moves-minimum-down"}
    as_given, *moved_ = facet_of("minimum", AS_GIVEN, moves, OF_FIRST).values
    yield Facet("minimum", (as_given, NEAREST_AWAY, *moved_, NOT_ADDED))
    without_lowest = facet_of("position", FROM_LOWEST, {"without-lowest": "no-lowest"}, OF_FIRST).values[1]
    yield Facet("position", (FROM_LOWEST, *((DISTRIBUTED, without_lowest) if kind.signed else ())))
    yield SUBNORMALS


def of_scaled(kind: IntegerType, narrow: bool) -> Iterator[Facet]:
    """Both ends of 32 bits have one magnitude in float32."""
    words = kind.bits == 32
    larger = TermChange("larger", "the larger of min_range / min_expected_T and max_range / max_expected_T")
    factors = {"smaller": "smaller-factor", "max-alone": "max-side-alone", "min-alone": "one-end-alone:min_range"}
    factors |= {} if words else {"magnitude": "one-scale-of-half-the-values"}
    if not kind.signed:
        larger = TermChange("max", "max_range / max_expected_T")
        factors = {"narrow-min": "narrow-for-unsigned"} if narrow else {}
    ranges = {"ignored": "ignores:narrow_range"} if narrow else {"always": "narrow-range"}
    as_asked = TermChange("as-asked", "min_expected_T is what narrow_range says")
    times = TermChange("times", "the integer, rounded to the type of the steps, times the factor")
    products = {"over-inverse": "divides-by-step"}
    products |= {"exact-integer": "multiplies-exact-input", "highest-overflows": "highest-overflows"} if words else {}
    yield Facet("precision", (FLOAT32, FLOAT64, BFLOAT16, *(() if kind.bits > 8 else (FLOAT16,))))
    yield facet_of("scaling", larger, {**factors, "width": "width-over-steps"}, OF_SCALED)
    yield facet_of("narrow_range", as_asked, ranges if kind.signed and not words else {}, OF_SCALED)
    computed = TermChange("as-computed", "the factor has the type of the steps")
    yield facet_of("factor", computed, {"bfloat16": "factor-in-bfloat16", "float16": "factor-in:float16"}, OF_SCALED)
    yield facet_of("position", times, products, OF_SCALED)
    yield SUBNORMALS


@cache
def facets_of(mode: str, kind: IntegerType, narrow: bool) -> tuple[Facet, ...]:
    make = {"MIN_COMBINED": of_combined, "MIN_FIRST": of_first, "SCALED": of_scaled}[mode]
    return tuple(make(kind, narrow))


@dataclass
class RangeDequantizeArithmetic(TermArithmetic):
    """The arithmetic of a node with one range for all elements."""

    @property
    def kind(self) -> IntegerType:
        return INTEGER_TYPES[self.node.input_type]

    def documented_value(self, facet: Facet) -> Value:
        return facet.values[0]

    def is_valid(self, semantics: Semantics) -> bool:
        """Steps that show: at most one facet of some is not the document's, and what rounds nothing is left out."""
        one = {facet.name: value for facet, value in zip(self.facets, semantics, strict=True)}
        others = {name for name, value in one.items() if value is not self.documented[self.names.index(name)]}
        return VALID[str(self.node.value("mode"))](self.kind, {name: one[name].id for name in one}, others)

    @property
    def names(self) -> list[str]:
        return [facet.name for facet in self.facets]

    def first_probes(self) -> Iterator[Probe]:
        random = np.random.default_rng(7)
        steps = float(self.kind.highest - self.kind.lowest)
        exact = [(first - 0.5, first + steps + more - 0.5) for first in (-1, -2, 3) for more in (0, 1)]
        tiny = [(low * LEAST, high * LEAST) for low, high in TINY]
        tiny += [(low * LEAST, (high * steps) * LEAST) for low, high in TINY]
        tiny += [(low * -self.kind.lowest * LEAST, high * self.kind.highest * LEAST) for low, high in SUBNORMAL_FACTORS]
        for low, high in (*RANGES, *exact, *tiny):
            yield self.probe(low, high, random)

    def further_probe(self, random: np.random.Generator) -> Probe:
        low, high = sorted(random.normal(size=2) * 2.0 ** random.integers(-3, 7))
        least = LEAST * (1 if random.integers(2) else self.kind.highest)
        scale = 1.0 if random.integers(4) else float(least / max(abs(low), abs(high)))
        return self.probe(float(low) * scale, float(high) * scale, random)

    def probe(self, low: float, high: float, random: np.random.Generator) -> Probe:
        """All codes of a narrow type; of a wide one those beside both ends and zero, and any of each size."""
        lowest, highest = self.kind.lowest, self.kind.highest
        if self.kind.bits <= 8:
            x = np.arange(lowest, highest + 1)
        else:
            powers = np.exp2(random.uniform(0, self.kind.bits, MANY)).astype(np.int64) * random.choice([-1, 1], MANY)
            near = np.arange(NEAR)
            x = np.clip(np.concatenate([powers, near, -near, lowest + near, highest - near]), lowest, highest)
            x = np.concatenate([x, random.integers(lowest, highest, MANY, endpoint=True)])
        others = tuple(np.array(end, np.float32) for end in (low, high))
        return Probe(np.unique(x).astype(self.node.inputs[0].dtype), others)


Valid = Callable[[IntegerType, dict[str, str], set[str]], bool]  # of a type, ids by facet, and what is not documented


def combined_shows(kind: IntegerType, one: dict[str, str], others: set[str]) -> bool:
    """At most one of range(T), the offset and the precision is not the document's."""
    if len(others & {"precision", "range_of_type", "offset"}) > 1:
        return False
    if (one["offset"], one["position"], one["subnormals"]) == (
        "added-in-float32",
        "integer-zero-point",
        "outputs-flushed",
    ):
        return False  # no result of 32 bits is subnormal, but for 0
    if "precision" in others:
        orders = ("product-first",) if one["precision"] == "float64" else ("product-first", "ratio-first")
        return "subnormals" not in others and one["position"] in orders
    return "range_of_type" not in others or one["position"] in ("product-first", "ratio-first", "ratio-fused")


def first_shows(kind: IntegerType, one: dict[str, str], others: set[str]) -> bool:
    """Steps apart in double round nothing that a float32 shows; other precisions than two do the document's steps."""
    if one["precision"] not in ("double-after-scale", "float32"):
        return others == {"precision"}
    if one["position"] == "distributed" and "precision" not in others:
        return False
    if one["minimum"] == "none" and one["position"] != "distributed" and "precision" in others:
        return False  # nothing is rounded but the product
    # 2^31 steps are added to min_range: no result is subnormal, and which multiple it moves to is rounded away.
    shown = one["subnormals"] != "outputs-flushed" and one["minimum"] in ("as-given", "nearest-away", "none")
    return not (one["position"] == "distributed" and kind.bits == 32) or shown


def scaled_shows(kind: IntegerType, one: dict[str, str], others: set[str]) -> bool:
    """A type or a form of the factor that is not the document's goes with the document's other facets."""
    if "precision" in others:
        return others == {"precision"}
    if "narrow_range" in others and one["scaling"] not in ("larger", "smaller", "min-alone"):
        return False
    return "factor" not in others or others == {"factor"}


VALID: dict[str, Valid] = {"MIN_COMBINED": combined_shows, "MIN_FIRST": first_shows, "SCALED": scaled_shows}
LEAST = 2.0**-126
MANY, NEAR = 150, 12
RANGES = (
    *((0.0, 255.0), (-12.8, 12.7), (-1.1, 2.3), (0.0, 0.7), (-3.3, 0.0), (-100.0, 77.7), (-0.5, 7.9), (-1.0, 1.0)),
    *((0.3, 5.1), (-9.7, -1.3), (-1.3, 2.7), (-7.7, 0.3)),
    *((0.0, 257.0), (-100.5, 156.5), (-130.25, 130.75)),  # width * range_adjust / 2^16 is not the width / 65535
)
TINY = ((0.0, 0.7), (-0.6, 1.3), (0.3, 1.7), (-1.9, 3.1), (-40.0, 3.3), (0.0, 200.7))  # in the least normal number
SUBNORMAL_FACTORS = ((-0.6, 0.7), (-0.3, 0.9), (-0.9, 0.4), (0.0, 0.5))  # of SCALED, in the same


def range_dequantize(node: Node) -> RangeDequantizeArithmetic:
    """The arithmetics that a node may have.

    InvalidInput for a bfloat16 result, whose last rounding hides the steps before, and for ranges along an axis.
    """
    if node.output_type != "float32":
        raise InvalidInput(f"{node.operator}: semantics are known of a float32 result, not of {node.output_type}")
    if node.attributes.get("axis", -1) != -1:
        raise InvalidInput(f"{node.operator}: semantics are known of one range, without an axis")
    facets = facets_of(str(node.value("mode")), INTEGER_TYPES[node.input_type], bool(node.value("narrow_range")))
    return RangeDequantizeArithmetic(node, facets)


ROLES: dict[str, dict[str, str]] = {
    "MIN_COMBINED": {"": "combined", "offset": "offset", "range_of_type": "range-of-T"},
    "MIN_FIRST": {"": "min-first", "precision": "double-steps", "scaling": "range-scale"},
    "SCALED": {"": "scaled", "narrow_range": "narrow"},
}


def role_of_range_dequantizer(node: Node, facet: str) -> str:
    """The role of the clause that a facet of a node is about."""
    mode: Any = node.value("mode")
    if (mode, facet) == ("SCALED", "scaling"):
        return "signed-factor" if INTEGER_TYPES[node.input_type].signed else "unsigned-factor"
    return ROLES[mode].get(facet, ROLES[mode][""])


def silence_of_offset(node: Node) -> str:
    kind = INTEGER_TYPES[node.input_type]
    is_open = node.value("mode") == "MIN_COMBINED" and kind.signed and kind.bits > 8
    return f"the document does not say what MIN_COMBINED adds to {kind.name}" if is_open else ""
