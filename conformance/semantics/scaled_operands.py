"""The inputs of two integers that are combined and scaled: what stands where, which are tried, how a node takes them.

The inputs after the first are a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale and y_zero_point; all are
scalars. A bias of 0 stands last, or in QGemm before the output's two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle

import numpy as np

from tiebreak.conformance.semantics.integer_scaling_facets import Factor
from tiebreak.conformance.semantics.integer_scaling_probes import FEW, numbers_for
from tiebreak.conformance.semantics.model import Probe
from tiebreak.conformance.semantics.places import as_array
from tiebreak.conformance.semantics.precisions import Precision
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

Others = tuple[Array, ...]
Scales = tuple[float, float, float]  # of a, b and the output
FactorOfScales = Callable[[Others], Factor]
BIAS = "bias"
A_SCALE, A_POINT, B, B_SCALE, B_POINT = range(5)  # places of the inputs after the first

# What stands where


def of_output(others: Others) -> tuple[Array, Array]:
    """The scale and the zero point of the output."""
    at = B_POINT + (1 if others[B_POINT + 1].dtype.kind == "f" else 2)
    return others[at], others[at + 1]


def scales_of(others: Others) -> tuple[Array, Array, Array]:
    return others[A_SCALE], others[B_SCALE], of_output(others)[0]


def second_difference(others: Others) -> Array:
    """b less its zero point, int64."""
    return as_array(others[B].astype(np.int64) - others[B_POINT].astype(np.int64))


def in_type(others: Others, precision: Precision) -> tuple[Array, Array, Array]:
    """The three scales in the type of the steps."""
    a, b, y = (scale.astype(precision.dtype) for scale in scales_of(others))
    return a, b, y


def names_of(node: Node) -> tuple[str, ...]:
    """The inputs after the first, whatever the node calls them."""
    names = ["a_scale", "a_zero_point", "b", "b_scale", "b_zero_point", "y_scale", "y_zero_point"]
    if len(node.inputs) > len(names) + 1:
        names.insert(place_of_bias(node), BIAS)
    return tuple(names)


def place_of_bias(node: Node) -> int:
    """Its place among the inputs after the first: it alone is an int32."""
    return [tensor.dtype for tensor in node.inputs[1:]].index(np.dtype(np.int32))


# Inputs

DIFFERENCES = (1, 2, 3, 5, 10, 25, 50, 99)  # of b and its zero point


def first_probes(
    node: Node, factor: FactorOfScales, scales: Sequence[Scales], ties: Sequence[tuple[Scales, int]], below: Scales
) -> Iterator[Probe]:
    """Each three scales with some differences and zero points; then those that have a difference of their own.

    Those that come next `below` the end of int32 have the difference 1 and zero points of both ends.
    """
    random = np.random.default_rng(7)
    points, steps = cycle(points_of(node)), cycle(DIFFERENCES)
    for three in scales:
        for _ in range(4):
            yield asked(node, factor, three, next(steps), next(points), random)
    for three, step in ties:
        yield asked(node, factor, three, step, (0, 0), random)
    first, last = (INTEGER_TYPES[name] for name in (node.input_type, node.output_type))
    for own in (first.lowest, first.highest):
        for point in (last.lowest, last.highest):
            yield asked(node, factor, below, 1, (own, point), random)


def points_of(node: Node) -> list[tuple[int, int]]:
    """Zero points of a and the output: 0, the ends, and a number near the middle."""
    first, last = (INTEGER_TYPES[name] for name in (node.input_type, node.output_type))
    return [
        (one, other)
        for other in (0, last.lowest, last.highest, last.lowest + 77)
        for one in (0, first.lowest, first.highest, first.lowest + 77)
    ]


def further_probe(node: Node, factor: FactorOfScales, random: np.random.Generator) -> Probe:
    """Scales of a like size, or decimals of few digits."""
    scales = np.exp(random.normal(size=3))
    if random.random() < 0.5:
        scales = random.integers(1, 100, 3) / 100
    points = points_of(node)
    own = points[int(random.integers(len(points)))]
    a, b, y = map(float, scales)
    return asked(node, factor, (a, b, y), int(random.integers(1, 100)), own, random)


def asked(
    node: Node, factor: FactorOfScales, scales: Scales, step: int, points: tuple[int, int], random: np.random.Generator
) -> Probe:
    """Every a, or many; b lies `step` above its zero point."""
    b_point = INTEGER_TYPES[node.inputs[3].dtype.name].lowest + 27
    values = [scales[0], points[0], b_point + step, scales[1], b_point, scales[2], points[1]]
    kinds = [tensor.dtype for tensor in node.inputs[1:]]
    if len(kinds) > len(values):
        values.insert(place_of_bias(node), 0)
    others = tuple(np.array(value).astype(kind) for value, kind in zip(values, kinds, strict=True))
    return Probe(numbers_for(node, factor(others), points[0], random)[:FEW], others)


# The call of a probe


def beside_a_tensor(node: Node, probe: Probe) -> Probe:
    """Every element beside one of its own: b is as long as a, since kernels take a single number apart."""
    others = (np.full(probe.x.shape, other) if place == B else other for place, other in enumerate(probe.others))
    return Probe(probe.x, tuple(others))


def as_rows(node: Node, probe: Probe) -> Probe:
    """A matrix of one column times one of one element."""
    return Probe(probe.x.reshape(-1, 1), with_second(probe, (1, 1)))


def as_rows_and_bias(node: Node, probe: Probe) -> Probe:
    """The same with a bias of one element for every row."""
    *first, bias, scale, point = with_second(probe, (1, 1))
    return Probe(probe.x.reshape(-1, 1), (*first, bias.reshape(1), scale, point))


def as_pixels(node: Node, probe: Probe) -> Probe:
    """An image of one channel under one weight; the last input is the bias."""
    *others, bias = with_second(probe, (1, 1, 1, 1))
    return Probe(probe.x.reshape(1, 1, -1, 1), (*others, bias.reshape(1)))


def with_second(probe: Probe, shape: tuple[int, ...]) -> Others:
    return tuple(other.reshape(shape) if place == B else other for place, other in enumerate(probe.others))
