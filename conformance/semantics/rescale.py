"""TOSA's RESCALE as black boxes compute it: the facets that its nodes have, and inputs that tell values apart."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache, partial
from itertools import cycle

import numpy as np

from tiebreak.conformance.semantics.integer_scaling import IntegerScaling, ScalingTable, documented
from tiebreak.conformance.semantics.integer_scaling_ends import ends_of
from tiebreak.conformance.semantics.integer_scaling_facets import (
    AT_31,
    AWAY_SECOND,
    IN_FLOAT32,
    IN_FLOAT64,
    NO_SECOND,
    ONCE,
    SECOND,
    UPWARD,
    Factor,
    FactorOf,
    output_points_of,
    readings_of,
)
from tiebreak.conformance.semantics.integer_scaling_probes import numbers_for, open_left_out, pairs_of_points
from tiebreak.conformance.semantics.integer_scaling_rules import is_valid
from tiebreak.conformance.semantics.model import Candidates, Facet, Probe, valid_candidates
from tiebreak.conformance.semantics.rescale_channels import ScalingByChannel
from tiebreak.conformance.semantics.round_modes import MODES
from tiebreak.golden.elements import INTEGER_TYPES, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.tosa_rescale import DOUBLE, INEXACT, LEAST_SHIFT, MOST_SHIFT, unmet_requirements
from tiebreak.golden.problem import Array
from tiebreak.golden.samples.tosa_rescale import points_of

WHOLE_MULTIPLIER = 31  # bits
GAINS = (-10, -4, -1, 0, 1, 2, 3, 4, 6)  # of shifts, over the one that makes 1 of the usual multiplier
WIDER_GAINS = (9, 16, 23)  # of inputs of more than 8 bits
OF_SUMS = ((129, 47), (213, 47), (255, 47), (30001, 47), (32767, 47))  # whose ties a float64 can't tell in 48 bits
MULTIPLIERS = (1 << 30, 3 << 29, 0x5A827999, 0x7FFFFFFF, (1 << 30) + 1, 0x55555555)


# How the multiplier is used


def as_given(others: tuple[Array, ...]) -> Factor:
    return Factor(int(others[0].reshape(-1)[0]), 1 << max(int(others[1].reshape(-1)[0]), 0))


def rounded_to_bits(bits: int, others: tuple[Array, ...]) -> Factor:
    """The multiplier rounded to its first bits, of the 31 that it may have."""
    factor, fewer = as_given(others), WHOLE_MULTIPLIER - bits
    return factor._replace(over=(factor.over + (1 << (fewer - 1))) >> fewer << fewer)


def cut_to_bits(bits: int, others: tuple[Array, ...]) -> Factor:
    factor, fewer = as_given(others), WHOLE_MULTIPLIER - bits
    return factor._replace(over=factor.over >> fewer << fewer)


AS_GIVEN = FactorOf("as-given", "multiplier and shift as they are", as_given)
FACTORS = (
    AS_GIVEN,
    FactorOf(
        "of-16-bits",
        "the multiplier rounded to 15 bits and a sign, as without scale32",
        partial(rounded_to_bits, 15),
        "factor-of-bits:15",
        is_real=False,
        plain=False,
    ),
    FactorOf(
        "cut-to-16-bits",
        "the upper 16 bits of the multiplier, the others cut off",
        partial(cut_to_bits, 15),
        "factor-cut-to-bits:15",
        is_real=False,
        plain=False,
    ),
)


@cache  # values are told apart by identity: candidates and what is documented must have the same ones
def rescale_facets(source: IntegerType, target: IntegerType, scale32: bool) -> tuple[Facet, ...]:
    wide = source.bits > 16
    long = (wide and target.bits > 16) or is_sum(source)  # of which float64 does not hold what decides a tie
    positions = (ONCE, *((AT_31,) if scale32 or wide else ()), IN_FLOAT32, *((IN_FLOAT64,) if long else ()))
    seconds = SECOND if AT_31 in positions else ()
    return (
        Facet("reading", readings_of(source, has_point=len(points_of(source.name)) > 1)),
        Facet("factor", FACTORS if scale32 else FACTORS[:1]),
        Facet("position", positions),
        Facet("round_mode", tuple(MODES.values())),
        Facet("second_rounding", (NO_SECOND, *seconds)),
        Facet("zero_point", output_points_of(has_point=len(points_of(target.name)) > 1)),
        Facet("saturation", ends_of(target, has_point=len(points_of(target.name)) > 1)),
    )


def is_sum(source: IntegerType) -> bool:
    """Whether it has more bits than the other types: a sum of products of 16 bits."""
    return source.bits > 32


@lru_cache(maxsize=64)
def rescale_candidates(source: IntegerType, target: IntegerType, scale32: bool) -> Candidates:
    return valid_candidates(rescale_facets(source, target, scale32), partial(is_valid, target))


def rescale(node: Node) -> IntegerScaling:
    """The arithmetics that a node may have."""
    source, target = INTEGER_TYPES[node.input_type], INTEGER_TYPES[node.output_type]
    facets = rescale_facets(source, target, bool(node.value("scale32")))
    twice = {"position": AT_31, "second_rounding": AWAY_SECOND} if node.value("rounding_mode") == DOUBLE else {}
    table = ScalingTable(
        facets,
        documented(facets, round_mode=MODES[UPWARD], **twice),
        partial(rescale_candidates, source, target, bool(node.value("scale32"))),
        lambda others: (others[2].astype(np.int64), others[3].astype(np.int64)),
        partial(unmet, node),
        partial(first_probes, node),
        partial(further_probe, node),
        ("multiplier", "shift", "input_zp", "output_zp"),
    )
    return ScalingByChannel(node, table) if node.value("per_channel") else IntegerScaling(node, table)


def silence_of_rescale(node: Node) -> str:
    """What the document leaves open of a node; empty if nothing."""
    if node.value("rounding_mode") != INEXACT:
        return ""
    return f"TOSA allows any result within a bound where rounding_mode is {INEXACT}"


ROLES = {
    "reading": "difference",
    "round_mode": "single",
    "second_rounding": "double",
    "zero_point": "zero-point",
    "saturation": "saturate",
}


def role_of_rescale(node: Node, facet: str) -> str:
    """The role of the clause that a facet is about."""
    double = node.value("rounding_mode") == DOUBLE
    own = {"factor": "scale32" if node.value("scale32") else "scale16", "position": "double" if double else "single"}
    return (ROLES | own)[facet]


# Inputs


def unmet(node: Node, probe: Probe) -> Array:
    """The elements with a requirement that does not hold: the document says nothing of them."""
    operands = (np.broadcast_to(one.reshape(-1), probe.x.shape) for one in (probe.x, *probe.others))
    return unmet_requirements(node, *(one.astype(np.int64) for one in operands))


def first_probes(node: Node) -> Iterator[Probe]:
    """Multipliers with and without a pattern in their bits, at shifts that fill, exceed and hardly use the range."""
    random, points = np.random.default_rng(7), cycle(pairs_of_points(node, points_of))
    gains = GAINS + (WIDER_GAINS if INTEGER_TYPES[node.input_type].bits > 8 else ())
    for multiplier in MULTIPLIERS:
        for gain in gains:
            yield from asked(node, multiplier >> (30 - one_of(node)), one_of(node) + gain, next(points), random)
    for multiplier, shift in OF_SUMS if is_sum(INTEGER_TYPES[node.input_type]) else ():
        yield from asked(node, multiplier, shift, next(points), random)


def further_probe(node: Node, random: np.random.Generator) -> Probe:
    """Any multiplier and shift with which some number has a result."""
    one, pairs = one_of(node), pairs_of_points(node, points_of)
    while True:
        multiplier = int(random.integers(1, 1 << (one + 1)))
        shift = one + int(random.integers(-6, 14 if INTEGER_TYPES[node.input_type].bits == 8 else 26))
        for found in asked(node, multiplier, shift, pairs[int(random.integers(len(pairs)))], random):
            return found


def one_of(node: Node) -> int:
    """The logarithm of the multiplier that stands for 1 where the shift is the same."""
    return 30 if node.value("scale32") else 14


def asked(
    node: Node, multiplier: int, shift: int, points: tuple[int, int], random: np.random.Generator
) -> Iterator[Probe]:
    """A probe with these parameters and the numbers of which the document says something; none if there are none."""
    if not LEAST_SHIFT <= shift <= MOST_SHIFT:
        return
    kinds = [tensor.dtype for tensor in node.inputs[1:]]
    values = (multiplier, shift, *points)
    others = tuple(np.array([value]).astype(kind) for value, kind in zip(values, kinds, strict=True))
    numbers = numbers_for(node, Factor(multiplier, 1 << shift), points[0], random)
    yield from open_left_out(Probe(numbers, others), partial(unmet, node))
