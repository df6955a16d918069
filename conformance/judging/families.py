"""Problems that differ in their operands only, as one problem of all their elements: one call of the kernel for many.

A chunk of cases has few families: usually one for each output of its operator.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tiebreak.golden import kernel
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import UNDEFINED, Array, Problem, Quantization


@dataclass(frozen=True)
class Family:
    """Outputs of several cases as one flat `problem`; its rounding mode means nothing.

    `elements` (int64) are the places of its elements among all elements of the cases. `slots` are the outputs that it
    holds: (number of the case, number of the output). `names` are the operands' names.
    """

    problem: Problem
    elements: Array
    slots: tuple[tuple[int, int], ...]
    names: tuple[str, ...]


def families_of(cases: Sequence[Case], problems: Sequence[Sequence[Problem]], starts: Array) -> list[Family]:
    """The families of the cases' problems. `starts` says where each case's elements begin, output by output."""
    slots: dict[Hashable, list[tuple[int, int]]] = {}
    places: dict[Hashable, list[Array]] = {}
    names: dict[Hashable, tuple[str, ...]] = {}
    for number, (case, outputs) in enumerate(zip(cases, problems, strict=True)):
        begin, own = int(starts[number]), operand_names(case, outputs)
        for output, problem in enumerate(outputs):
            key = family_key(problem, own[output])
            size = math.prod(problem.shape)
            slots.setdefault(key, []).append((number, output))
            places.setdefault(key, []).append(np.arange(begin, begin + size))
            names.setdefault(key, own[output])
            begin += size
    return [
        Family(joined([problems[n][o] for n, o in own]), np.concatenate(places[key]), tuple(own), names[key])
        for key, own in slots.items()
    ]


def operand_names(case: Case, problems: Sequence[Problem]) -> list[tuple[str, ...]]:
    inputs, form = [tensor.name for tensor in case.node.inputs], get_operator(case.node.operator).forms[0]
    return [tuple(problem.names(inputs, form)) for problem in problems]


def family_key(problem: Problem, names: tuple[str, ...]) -> Hashable:
    """Equal for problems that may be solved as one."""
    if isinstance(problem, Quantization):
        return problem.real, problem.quantized, problem.output, problem.orders, names
    constants = tuple(sorted(problem.constants.items()))
    steps = problem.formula, problem.orders, problem.working, constants
    return *steps, problem.output, problem.result, problem.kinds, names


def joined(problems: Sequence[Problem]) -> Problem:
    """One flat problem of all elements of problems of a family."""
    first = problems[0]
    operands = tuple(np.concatenate(own) for own in zip(*(problem.operands for problem in problems), strict=True))
    if isinstance(first, Quantization):
        x, scale, zero_point = operands
        return replace(first, axes=(0,), x=x, scale=scale, zero_point=zero_point)
    return replace(first, shape=(operands[0].size,), operands=operands)


def solve_families(families: Sequence[Family], size: int, mode: str, *, working: bool) -> tuple[Array, Array]:
    """(codes int64, states uint8) of all elements by the kernel, in the order of the cases."""
    codes, states = np.zeros(size, np.int64), np.full(size, UNDEFINED, np.uint8)
    for family in families:
        found, state = kernel.solve(family.problem, working=working, mode=mode or None)
        codes[family.elements], states[family.elements] = found, state
    return codes, states


def parts(families: Sequence[Family], wanted: Array) -> Iterator[tuple[Family, Array, Problem]]:
    """Each family with wanted elements: their places among all elements, in order, and the problem of them alone.

    `wanted` is a mask (bool) over all elements.
    """
    for family in families:
        own = np.flatnonzero(wanted[family.elements])
        if own.size:
            yield family, family.elements[own], family.problem.some(own)
