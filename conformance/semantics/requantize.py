"""TensorFlow Lite's requantization as black boxes compute it: the facets, and inputs that tell values apart."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache, lru_cache, partial
from itertools import cycle

import numpy as np

from tiebreak.conformance.semantics.integer_scaling import IntegerScaling, ScalingTable, documented
from tiebreak.conformance.semantics.integer_scaling_ends import ends_of
from tiebreak.conformance.semantics.integer_scaling_facets import (
    AT_31,
    AWAY_SECOND,
    HIGH,
    IN_FLOAT32,
    NO_SECOND,
    ONCE,
    SECOND,
    UPWARD,
    Factor,
    FactorOf,
    ProductPosition,
    multiplier_of_bits,
    output_points_of,
    readings_of,
)
from tiebreak.conformance.semantics.integer_scaling_probes import numbers_for, open_left_out, pairs_of_points
from tiebreak.conformance.semantics.integer_scaling_rules import is_valid
from tiebreak.conformance.semantics.model import Candidates, Facet, Probe, Value, valid_candidates
from tiebreak.conformance.semantics.precisions import FLOAT32, Precision
from tiebreak.conformance.semantics.round_modes import MODES
from tiebreak.golden.elements import INTEGER_TYPES, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.tflite_requantize import DOUBLE, REAL
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN

PARAMETERS = ("input_scale", "input_zero_point", "output_scale", "output_zero_point")
LEAST, MOST = -31, 30  # shifts of the ratio
WORD = 1 << 30  # results are smaller, so that every step fits int32


# How the ratio of the scales is held


def ratio_of(others: tuple[Array, ...]) -> Fraction:
    """The real ratio of the input's scale to the output's."""
    return Fraction(float(others[0])) / Fraction(float(others[2]))


def real_ratio(others: tuple[Array, ...]) -> Factor:
    return Factor(*ratio_of(others).as_integer_ratio())


def of_bits(bits: int, others: tuple[Array, ...]) -> Factor:
    """The float64 ratio as a whole number of so many bits and a shift."""
    return multiplier_of_bits(bits, float(others[0]) / float(others[2]))


def of_fewer_bits(bits: int, others: tuple[Array, ...]) -> Factor:
    """The multiplier of 31 bits rounded to fewer."""
    found = of_bits(HIGH, others)
    most, fewer = (1 << bits) - 1, HIGH - bits
    return found._replace(over=min((found.over + (1 << (fewer - 1))) >> fewer, most) << fewer)


def of_fraction_bits(bits: int, others: tuple[Array, ...]) -> Factor:
    """The float32 ratio as a whole number of units of 2^-bits, ties to even."""
    ratio = np.float32(others[0]) / np.float32(others[2])
    return Factor(int(np.rint(np.float64(ratio) * 2.0**bits)), 1 << bits)


REAL_RATIO = FactorOf("real", "no integer stands for the scales' ratio", real_ratio, "real-ratio", has_shift=False)
OF_31_BITS = FactorOf(
    "31-bits",
    "the ratio as a whole number of 31 bits and a shift",
    partial(of_bits, HIGH),
    "multiplier-of-bits:31",
    is_real=False,
)
FACTORS = (
    REAL_RATIO,
    OF_31_BITS,
    FactorOf(
        "15-bits",
        "that of 31 bits rounded to 15",
        partial(of_fewer_bits, 15),
        "multiplier-of-bits:15",
        has_shift=False,
        is_real=False,
        plain=False,
    ),
    *(
        FactorOf(
            f"{bits}-fraction-bits",
            f"the float32 ratio as a whole number of units of 2^-{bits}",
            partial(of_fraction_bits, bits),
            f"factor-of-fraction-bits:{bits}",
            has_shift=False,
            is_real=False,
            plain=False,
        )
        for bits in (8, 16)
    ),
)


# What floating-point numbers are made


def divided(values: Array, factor: Factor, others: tuple[Array, ...], precision: Precision) -> Array:
    kind = precision.dtype
    number = (values.astype(kind) * others[0].astype(kind)).astype(kind)
    quotient: Array = (number / others[2].astype(kind)).astype(kind)
    return quotient


def times_reciprocal(values: Array, factor: Factor, others: tuple[Array, ...], precision: Precision) -> Array:
    kind = precision.dtype
    number = (values.astype(kind) * others[0].astype(kind)).astype(kind)
    quotient: Array = (number * (kind.type(1) / others[2].astype(kind))).astype(kind)
    return quotient


THROUGH_NUMBERS = (
    ProductPosition(
        "dequantized",
        "the difference times the input's scale, a float32, is divided by the output's",
        "through-numbers-in-float32",
        precision=FLOAT32,
        number=divided,
    ),
    ProductPosition(
        "dequantized-reciprocal",
        "the difference times the input's scale, a float32, is multiplied by the reciprocal of the output's",
        "through-numbers-in-float32:by the reciprocal",
        precision=FLOAT32,
        number=times_reciprocal,
    ),
)
POSITIONS = (ONCE, AT_31, IN_FLOAT32, *THROUGH_NUMBERS)


@cache  # values are told apart by identity: candidates and what is documented must have the same ones
def requantize_facets(source: IntegerType, target: IntegerType) -> tuple[Facet, ...]:
    points = target.bits <= 8
    return (
        Facet("reading", readings_of(source, has_point=source.bits <= 8)),
        Facet("factor", FACTORS),
        Facet("position", POSITIONS),
        Facet("round_mode", tuple(MODES.values())),
        Facet("second_rounding", (NO_SECOND, *SECOND)),
        Facet("zero_point", output_points_of(has_point=points)),
        Facet("saturation", ends_of(target, has_point=points)),
    )


@lru_cache(maxsize=64)
def requantize_candidates(source: IntegerType, target: IntegerType) -> Candidates:
    return valid_candidates(requantize_facets(source, target), partial(is_valid, target))


def requantize(node: Node) -> IntegerScaling:
    """The arithmetics that a node may have."""
    source, target = INTEGER_TYPES[node.input_type], INTEGER_TYPES[node.output_type]
    facets, rounding = requantize_facets(source, target), node.value("rounding")
    chosen: dict[str, Value] = {"factor": REAL_RATIO if rounding == REAL else OF_31_BITS}
    mode = MODES[EVEN if rounding == REAL else UPWARD]
    if rounding == DOUBLE:
        chosen |= {"position": AT_31, "second_rounding": AWAY_SECOND}
    table = ScalingTable(
        facets,
        documented(facets, round_mode=mode, **chosen),
        partial(requantize_candidates, source, target),
        lambda others: (others[1].astype(np.int64), others[3].astype(np.int64)),
        partial(beyond_words, node),
        partial(first_probes, node),
        partial(further_probe, node),
        PARAMETERS,
    )
    return IntegerScaling(node, table)


def silence_of_requantize(node: Node) -> str:
    """What the document leaves open of a node; empty if nothing."""
    if node.value("rounding") != REAL:
        return ""
    return "TensorFlow Lite's specification leaves the tie rule open, and allows implementations that differ slightly"


ROLES = {
    "reading": "same",
    "zero_point": "same",
    "second_rounding": "second",
    "saturation": "saturate",
}


def role_of_requantize(node: Node, facet: str) -> str:
    """The role of the clause that a facet is about."""
    rounding = str(node.value("rounding"))
    own = {"factor": "same" if rounding == REAL else "multiplier", "position": rounding, "round_mode": rounding}
    return (ROLES | own)[facet]


# Inputs


def beyond_words(node: Node, probe: Probe) -> Array:
    """The elements of which int32 may not hold every step: the document says nothing of them."""
    ratio = float(ratio_of(probe.others))
    values = np.abs(probe.x.astype(np.int64) - probe.others[1].astype(np.int64)).astype(np.float64)
    shifted = values * 2.0 ** max(np.frexp(ratio)[1], 0)
    return np.asarray((np.maximum(values, shifted) >= WORD) | (values * ratio >= WORD))


RATIOS = (  # the scales of input and output
    *((1.0, 2.0), (1.0, 4.0), (1.0, 1.0), (3.0, 4.0), (0.1, 0.3), (0.5, 0.75), (0.02, 0.04), (0.7, 0.9)),
    *((3.0, 2.0), (0.9, 0.7), (4.0, 1.0), (1.0, 3.0), (0.013, 0.21), (123.0, 457.0), (0.0038, 0.0021)),
    *((1e-3, 7e-2), (512.0, 1.0), (0.3, 0.1), (1.0, 8.0), (5.0, 16.0)),
    *((1.0, 6.0), (1.0, 10.0), (1.0, 14.0), (3.0, 10.0), (5.0, 6.0), (1.0, 22.0), (7.0, 26.0), (1.0, 34.0)),
    (9.0, 14.0),
    *((0.1, 0.2), (0.3, 0.6), (0.1, 0.6), (0.7, 1.4), (0.05, 0.3), (0.9, 1.8), (0.01, 0.1), (0.11, 0.66)),
)
WIDER = ((1.0, 512.0), (1.0, 65536.0), (3.0, 1 << 20), (0.37, 9999.0), (0.001, 41.5))  # of more than 8 bits


def first_probes(node: Node) -> Iterator[Probe]:
    random, points = np.random.default_rng(7), cycle(pairs_of_points(node, points_of))
    wide = INTEGER_TYPES[node.input_type].bits > 8
    for scale, other in RATIOS + (WIDER if wide else ()):
        for _ in range(2):
            yield from asked(node, scale, other, next(points), random)


def further_probe(node: Node, random: np.random.Generator) -> Probe:
    """Any two scales of a like size, of which every other pair has few bits."""
    pairs, wide = pairs_of_points(node, points_of), INTEGER_TYPES[node.input_type].bits > 8
    while True:
        scale, other = (float(one) for one in np.exp(random.normal(size=2)).astype(np.float32))
        if random.random() < 0.5:
            scale, other = float(random.integers(1, 64)), float(2 ** random.integers(0, 8))
        other *= 2.0 ** random.integers(0, 14) if wide else 1.0
        for found in asked(node, scale, other, pairs[int(random.integers(len(pairs)))], random):
            return found


def points_of(kind: str) -> tuple[int, ...]:
    """0, a number near the middle, and the ends; of wider types 0 alone, as the specification has it."""
    own = INTEGER_TYPES[kind]
    if own.bits > 8:
        return (0,)
    return (0, own.lowest, own.highest, own.lowest + 77)


def asked(
    node: Node, scale: float, other: float, points: tuple[int, int], random: np.random.Generator
) -> Iterator[Probe]:
    """A probe with these parameters and the numbers of which the document says something; none if there are none."""
    kinds = [tensor.dtype for tensor in node.inputs[1:]]
    values = (scale, points[0], other, points[1])
    others = tuple(np.array(value).astype(kind) for value, kind in zip(values, kinds, strict=True))
    numbers = numbers_for(node, real_ratio(others), points[0], random)
    yield from open_left_out(Probe(numbers, others), partial(beyond_words, node))
