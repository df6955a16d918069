"""Spreads a recorded case's operands over its elements, as an audit's table of semantics takes them."""

from __future__ import annotations

import math

import numpy as np

from tiebreak.conformance.judging.operands import broadcast_scalar, operands_along
from tiebreak.conformance.semantics.model import Probe
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array, Quantization
from tiebreak.golden.problems import problems_of


def quotient_operands(case: Case) -> Probe | None:
    """x, scale and zero point; None unless the node is exactly round(x / scale) + zero_point."""
    (problem, *_) = problems_of(case)
    if not isinstance(problem, Quantization):
        return None
    own = operands_along(case, problem, problem.axes)
    return Probe(np.ascontiguousarray(own.x), (own.scale, own.zero_point))


def input_alone(case: Case) -> Probe:
    """x, where there is no other input."""
    return Probe(np.ascontiguousarray(case.inputs[0]).reshape(-1), ())


def broadcast_operands(case: Case) -> Probe | None:
    """x and the other inputs broadcast against it; None if they do not broadcast to its shape."""
    x = case.inputs[0]
    try:
        others = tuple(np.broadcast_to(limit, x.shape).reshape(-1) for limit in case.inputs[1:])
    except ValueError:
        return None
    return Probe(x.reshape(-1), others)


def operands_along_axis(case: Case) -> Probe:
    """x and the other inputs, each of which is a scalar or has a value for each index of the attribute `axis`."""
    x, axis = case.inputs[0], int(case.node.attributes.get("axis", -1))
    return Probe(x.reshape(-1), tuple(spread_along(array, axis, x.shape) for array in case.inputs[1:]))


def spread_along(parameter: Array, axis: int, shape: tuple[int, ...]) -> Array:
    """A parameter of one value, or of one per index of an axis, spread over an input of a shape; flat."""
    if parameter.size == 1:
        return broadcast_scalar(parameter.reshape(-1), math.prod(shape))
    lengths = [size if at == axis else 1 for at, size in enumerate(shape)]
    return np.ascontiguousarray(np.broadcast_to(parameter.reshape(lengths), shape)).reshape(-1)
