"""From a case to the problems that it poses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise

from tiebreak.golden.elements import INTEGER_TYPES, IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array, Problem, Quantization


def output_slices(problems: Sequence[Problem]) -> tuple[slice, ...]:
    """Where the elements of each output stand among all of a case, output by output."""
    ends = list(accumulate((math.prod(problem.shape) for problem in problems), initial=0))
    return tuple(slice(*both) for both in pairwise(ends))


def problems_of(case: Case) -> tuple[Problem, ...]:
    """The problems that a case poses, one for each output. InvalidInput if types or shapes are not what it wants."""
    check_types(case)
    return get_operator(case.node.operator).problems(case.node, case.inputs)


def check_types(case: Case) -> None:
    node, inputs = case.node, case.inputs
    if len(inputs) != len(node.inputs):
        raise InvalidInput(f"{node.operator}: {len(inputs)} inputs given, the node has {len(node.inputs)}")
    for wanted, array in zip(node.inputs, inputs, strict=True):
        if array.dtype != wanted.dtype:
            message = f"{node.operator}: {wanted.name} is {array.dtype.name}, the node says {wanted.dtype.name}"
            raise InvalidInput(message)
        if wanted.held and not in_range(array, INTEGER_TYPES[wanted.held]):
            raise InvalidInput(f"{node.operator}: {wanted.name} has a value outside {wanted.held}")


def in_range(array: Array, kind: IntegerType) -> bool:
    """Whether all integers of an array are values of a type."""
    return not array.size or (kind.lowest <= int(array.min()) and int(array.max()) <= kind.highest)


def quantization_of(case: Case) -> Quantization:
    """The problem of a case whose only problem is a Quantization."""
    (problem,) = problems_of(case)
    if not isinstance(problem, Quantization):
        raise TypeError(f"{case.id} poses no plain quantization")
    return problem
