"""TensorFlow's UniformRequantize as black boxes compute it: the facets of a requantization, and another document."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache, partial

import numpy as np

from tiebreak.conformance.semantics.integer_scaling import IntegerScaling, ScalingTable, documented
from tiebreak.conformance.semantics.integer_scaling_ends import ends_of
from tiebreak.conformance.semantics.integer_scaling_facets import (
    AT_31,
    BEFORE,
    IN_FLOAT32,
    IN_FLOAT64,
    NO_SECOND,
    ONCE,
    OWN_SIGNS,
    SECOND,
    Factor,
    ProductPosition,
    ScalingCombination,
    output_points_of,
)
from tiebreak.conformance.semantics.integer_scaling_rules import is_valid
from tiebreak.conformance.semantics.model import Candidates, Facet, Probe, Semantics, valid_candidates
from tiebreak.conformance.semantics.places import fused_multiply_add
from tiebreak.conformance.semantics.precisions import FLOAT32, Precision
from tiebreak.conformance.semantics.requantize import (
    OF_31_BITS,
    PARAMETERS,
    REAL_RATIO,
    THROUGH_NUMBERS,
    asked,
    beyond_words,
    first_probes,
    further_probe,
)
from tiebreak.conformance.semantics.round_modes import MODES
from tiebreak.golden.elements import INTEGER_TYPES, IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN


def merged(values: Array, factor: Factor, others: tuple[Array, ...], precision: Precision) -> Array:
    """The zero points are merged in float64, as a compiler does. The output's is taken off without a rounding."""
    dtype, (scale, own, other, last) = precision.dtype, others
    ratio = scale.astype(np.float64) / other.astype(np.float64)
    zero = (last.astype(np.float64) - own.astype(np.float64) * ratio).astype(dtype)
    total = fused_multiply_add(
        (values + own.astype(np.int64)).astype(dtype), ratio.astype(dtype), zero.astype(np.float64), dtype
    )
    return total.astype(np.float64) - last.astype(np.float64)


MERGED = ProductPosition(
    "merged-zero-points",
    "the input times the ratio plus one number, made of both zero points in float64, rounded once (fma)",
    "zero-points-merged",
    precision=FLOAT32,
    number=merged,
)
RANGES = {"input": (-128, 127), "output": (-128, 127)}
DEFAULTS = {
    f"{side}_quantization_{end}_val": value
    for side, ends in RANGES.items()
    for end, value in zip(("min", "max"), ends, strict=True)
}


# The scales of input and output: quotients that are ties, which a float64 ratio misses.
TIES = ((7.0, 50.0), (9.0, 70.0), (11.0, 10.0), (13.0, 90.0), (7.0, 110.0), (1.0, 198.0), (49.0, 98.0), (1.0, 98.0))


@cache  # values are told apart by identity: candidates and what is documented must have the same ones
def uniform_facets(target: IntegerType) -> tuple[Facet, ...]:
    return (
        Facet("reading", (OWN_SIGNS,)),
        Facet("factor", (REAL_RATIO, OF_31_BITS)),
        Facet("position", (IN_FLOAT32, ONCE, AT_31, IN_FLOAT64, *THROUGH_NUMBERS, MERGED)),
        Facet("round_mode", tuple(MODES.values())),
        Facet("second_rounding", (NO_SECOND, *SECOND)),
        Facet("zero_point", output_points_of(has_point=True)[:2]),
        Facet("saturation", ends_of(target, has_point=True)),
    )


def is_valid_here(target: IntegerType, semantics: Semantics) -> bool:
    """Merged zero points are in the sum before it is rounded."""
    one = ScalingCombination._make(semantics)
    return is_valid(target, semantics) and (one.position is not MERGED or one.zero_point is BEFORE)


@lru_cache(maxsize=8)
def uniform_candidates(target: IntegerType) -> Candidates:
    return valid_candidates(uniform_facets(target), partial(is_valid_here, target))


def uniform_requantize(node: Node) -> IntegerScaling:
    """The arithmetics that a node may have. InvalidInput for a range narrower than its type."""
    for side, tensor in (("input", node.inputs[0]), ("output", node.outputs[0])):
        kind = INTEGER_TYPES[tensor.dtype.name]
        least, greatest = (int(node.value(f"{side}_quantization_{end}_val")) for end in ("min", "max"))
        if (least, greatest) != (kind.lowest, kind.highest):
            whole = f"{kind.lowest} to {kind.highest}"
            raise InvalidInput(f"{node.operator}: semantics are known of the whole range of {kind.name}, {whole}")
    target = INTEGER_TYPES[node.output_type]
    facets = uniform_facets(target)
    table = ScalingTable(
        facets,
        documented(facets, round_mode=MODES[EVEN], factor=REAL_RATIO, position=IN_FLOAT32, zero_point=BEFORE),
        partial(uniform_candidates, target),
        lambda others: (others[1].astype(np.int64), others[3].astype(np.int64)),
        partial(beyond_words, node),
        partial(probes, node),
        partial(further_probe, node),
        PARAMETERS,
    )
    return IntegerScaling(node, table)


def probes(node: Node) -> Iterator[Probe]:
    yield from first_probes(node)
    random = np.random.default_rng(11)
    for scale, other in TIES:
        yield from asked(node, scale, other, (0, 0), random)


def silence_of_ties(node: Node) -> str:
    return "TensorFlow's documentation says that the result is rounded, and not how a tie is"


ROLES = {
    "reading": "difference",
    "factor": "ratio",
    "position": "product",
    "second_rounding": "product",
    "round_mode": "nearest",
    "zero_point": "zero-point",
    "saturation": "range",
}


def role_of_uniform(node: Node, facet: str) -> str:
    return ROLES[facet]
