"""Sums of two scaled integers as black boxes compute them: the facets, and inputs that separate values.

    C = saturate(round((A_scale * (A - A_zero_point) + B_scale * (B - B_zero_point)) / C_scale + C_zero_point))

com.microsoft.QLinearAdd does it. Where the inputs stand, scaled_operands says; b is one number.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, lru_cache, partial
from math import lcm

import numpy as np

from tiebreak.conformance.semantics.integer_scaling import IntegerScaling, ScalingTable, documented
from tiebreak.conformance.semantics.integer_scaling_ends import SATURATE, ends_of
from tiebreak.conformance.semantics.integer_scaling_facets import (
    AWAY,
    BEFORE,
    NO_SECOND,
    OWN_SIGNS,
    UPWARD,
    Factor,
    FactorOf,
    ScalingCombination,
    output_points_of,
    readings_of,
)
from tiebreak.conformance.semantics.integer_scaling_rules import rounds_soundly
from tiebreak.conformance.semantics.model import Candidates, Facet, Semantics, valid_candidates
from tiebreak.conformance.semantics.precisions import FLOAT32
from tiebreak.conformance.semantics.round_modes import MODES
from tiebreak.conformance.semantics.scaled_operands import (
    A_POINT,
    Others,
    first_probes,
    further_probe,
    in_type,
    names_of,
    of_output,
    scales_of,
    second_difference,
)
from tiebreak.conformance.semantics.scaled_products import adds
from tiebreak.conformance.semantics.scaled_sum_positions import (
    AS_WRITTEN,
    EACH,
    EXACTLY,
    POSITIONS,
    RANGE,
    TWICE,
    WITH_POINT,
)
from tiebreak.golden.elements import INTEGER_TYPES, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.rounding import EVEN

# What the first difference is multiplied by, and what is added


def real_ratios(others: Others) -> Factor:
    """The real ratios of both scales to the output's, over one number."""
    a, b, c = (Fraction(float(scale)) for scale in scales_of(others))
    first, second = a / c, b / c * int(second_difference(others))
    under = lcm(first.denominator, second.denominator)
    return Factor(int(first * under), under, int(second * under))


def whole_ratios(bits: int, others: Others) -> Factor:
    """The float32 ratios as whole numbers with one shift. The greater one has so many bits."""
    a, b, c = in_type(others, FLOAT32)
    ratios = [float(scale / c) for scale in (a, b)]
    shift = bits - int(np.frexp(max(ratios))[1])
    first, second = (int(np.rint(np.ldexp(ratio, shift))) for ratio in ratios)
    second *= int(second_difference(others))
    return Factor(first << max(-shift, 0), 1 << max(shift, 0), second << max(-shift, 0))


def of_bits(bits: int) -> FactorOf:
    return FactorOf(
        f"{bits}-bits",
        f"both float32 ratios as whole numbers with one shift, {bits} bits for the greater",
        partial(whole_ratios, bits),
        f"ratios-in-fixed-point:{bits}",
        is_real=False,
    )


REAL = FactorOf("real", "no integer stands for a ratio of scales", real_ratios, "real-ratio", has_shift=False)
FACTORS = (REAL, of_bits(22), of_bits(21))  # MLAS's for NEON (qladd.cpp), XNNPACK's (microparams-init.c)


@cache  # values are told apart by identity: candidates and what is documented must have the same ones
def sum_facets(kind: IntegerType) -> tuple[Facet, ...]:
    return (
        Facet("reading", readings_of(kind, has_point=True)),
        Facet("factor", FACTORS),
        Facet("position", POSITIONS),
        Facet("round_mode", tuple(MODES.values())),
        Facet("second_rounding", (NO_SECOND,)),
        Facet("zero_point", output_points_of(has_point=True)),
        Facet("saturation", ends_of(kind, has_point=True, far=True)),
    )


def is_valid(target: IntegerType, semantics: Semantics) -> bool:
    """Whether a combination makes sense. What is read with another sign is rounded to even, from few positions."""
    one = ScalingCombination._make(semantics)
    if one.position in WITH_POINT and one.zero_point is not BEFORE:
        return False
    if one.position is RANGE and one.saturation is not SATURATE:
        return False  # nothing leaves a range that the sum is clamped to
    if one.position is TWICE and one.round_mode.id not in (AWAY, UPWARD, EVEN):
        return False
    if one.position is EACH and not (one.round_mode.id == EVEN and not one.zero_point.first):
        return False  # what is added is whole
    usual = one.round_mode.id == EVEN and one.position in (AS_WRITTEN, EXACTLY)
    return rounds_soundly(one) and adds(target, one) and (one.reading is OWN_SIGNS or usual)


@lru_cache(maxsize=8)
def sum_candidates(kind: IntegerType) -> Candidates:
    return valid_candidates(sum_facets(kind), partial(is_valid, kind))


SCALES = (  # of a, b and the output
    *((1.0, 1.0, 2.0), (0.5, 1.0, 1.0), (1.0, 3.0, 4.0), (0.5, 0.25, 1.5), (1.0, 1.0, 1.0), (1.0, 2.0, 6.0)),
    *((0.02, 0.03, 0.04), (0.1, 0.3, 0.2), (0.7, 0.07, 1.4), (0.3, 0.1, 0.6), (0.02, 0.05, 0.02)),
    *((0.0235, 0.0117, 0.0291), (0.9, 0.0041, 1.3), (0.0041, 0.9, 1.3), (0.1, 0.7, 0.2), (0.9, 1.1, 0.33)),
    *((0.6, 0.2, 0.4), (3.0, 5.0, 14.0), (0.05, 0.15, 0.1), (12.3, 0.457, 21.0), (200.0, 150.0, 1.0)),
    *((1.0, 1.0, 2.0**-25), (0.3, 0.1, 1e-8)),  # quotients on both sides of 2^31
)
TIES = (  # and the second difference
    *(((0.02, 0.03, 0.04), 1), ((0.02, 0.03, 0.04), 2), ((0.1, 0.3, 0.2), 3), ((0.7, 0.07, 1.4), 10)),
    *(((0.3, 0.1, 0.6), 3), ((0.3, 0.1, 0.6), 99), ((0.01, 0.07, 0.02), 5), ((0.09, 0.03, 0.18), 3)),
)


BELOW_INT32 = (65793.0, 65793.0, 2.0**-7)  # 255 times their ratio is 2^31 - 128, which zero points take beyond int32


def scaled_sums(node: Node) -> IntegerScaling:
    """The arithmetics of a node whose document rounds the sum of quotient and zero point."""
    kind = INTEGER_TYPES[node.output_type]
    facets = sum_facets(kind)
    table = ScalingTable(
        facets,
        documented(facets, round_mode=MODES[EVEN], factor=REAL, position=AS_WRITTEN, zero_point=BEFORE),
        partial(sum_candidates, kind),
        lambda others: (others[A_POINT].astype(np.int64), of_output(others)[1].astype(np.int64)),
        lambda probe: np.zeros(probe.x.shape, bool),
        partial(first_probes, node, real_ratios, SCALES, TIES, BELOW_INT32),
        partial(further_probe, node, real_ratios),
        names_of(node),
        "sum",
    )
    return IntegerScaling(node, table)
