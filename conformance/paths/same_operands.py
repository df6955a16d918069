"""Elements with the same operands, in nodes that differ in their layout only, and the answers to them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tiebreak.conformance.paths.deciding import deciding_numbers, tensors_of
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array, Problem
from tiebreak.golden.problems import problems_of

LAYOUT_ATTRIBUTES = ("axes", "axis", "block_size", "auto_broadcast")


@dataclass(frozen=True)
class Part:
    """One output of a case: its problem, and where it starts among the codes of all outputs.

    `unasked`: the backend makes all parameters constants, though the node has no constants.
    """

    case: Case
    problem: Problem
    start: int
    unasked: bool = False

    @property
    def size(self) -> int:
        return math.prod(self.problem.shape)

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(tensor.name for tensor in self.case.node.inputs[1:])

    @property
    def constants(self) -> tuple[str, ...]:
        """The parameters that were given to the backend as constants, or that it makes constants itself."""
        return self.parameters if self.unasked and not self.case.node.baked else tuple(self.case.node.constants)


@dataclass(frozen=True)
class SameOperands:
    """All elements of some parts that have the same operands, with more than one answer among them.

    `part`, `index` and `answer` are int arrays with one value for each element: its part's place in `parts`, its flat
    index there, and its answer's place in `codes`. The most frequent answer comes first.
    """

    parts: Sequence[Part]
    part: Array
    index: Array
    answer: Array
    codes: tuple[int, ...]

    def by_part(self, of: Any) -> Array:
        """A number for each element: what the function `of` gives for its part."""
        numbers = np.array([of(part) for part in self.parts])
        return np.asarray(numbers[self.part])


def by_node(cases: Sequence[Case], always_constant: frozenset[str]) -> dict[str, list[Part]]:
    """The outputs of the cases by node_key: nodes that differ in their layout only are together."""
    parts: dict[str, list[Part]] = {}
    for case in cases:
        start = 0
        for problem in problems_of(case):
            part = Part(case, problem, start, case.node.operator in always_constant)
            parts.setdefault(node_key(case.node, problem.output), []).append(part)
            start += part.size
    return parts


def node_key(node: Node, output: str) -> str:
    """The node without its layout, as JSON: what an answer may depend on besides the operands."""
    spec = get_operator(node.operator)
    attributes = {
        name: value
        for name, value in node.attributes.items()
        if name not in LAYOUT_ATTRIBUTES and value != spec.attribute(name).default
    }
    types = [tensor.element for tensor in (*node.inputs, *node.outputs)]
    return json.dumps([node.operator, node.opset, attributes, types, output], sort_keys=True)


def with_several_answers(parts: Sequence[Part], outputs: Mapping[str, Array]) -> Iterator[SameOperands]:
    """The elements of each set of operands to which there is more than one answer."""
    operands = [np.concatenate(column) for column in zip(*map(operand_columns, parts), strict=True)]
    codes = np.concatenate([outputs[p.case.id][p.start : p.start + p.size] for p in parts])
    part = np.repeat(np.arange(len(parts)), [p.size for p in parts])
    index = np.concatenate([np.arange(p.size) for p in parts])
    group = group_numbers(operands)
    order = np.lexsort((codes, group))
    same = group[order][1:] == group[order][:-1]
    for number in np.unique(group[order][1:][same & (codes[order][1:] != codes[order][:-1])]):
        chosen = np.flatnonzero(group == number)
        found, answer, count = np.unique(codes[chosen], return_inverse=True, return_counts=True)
        most = np.argsort(-count, kind="stable")
        answer = np.argsort(most)[answer.reshape(-1)]
        yield SameOperands(parts, part[chosen], index[chosen], answer, tuple(found[most].tolist()))


def operand_columns(part: Part) -> tuple[Array, ...]:
    """A part's operands: for each of them an int64 code for every element; then what else decides it."""
    shown = (operand.astype(np.int64) for operand in part.problem.operands)
    return *shown, deciding_numbers(part.case, part.problem)


def group_numbers(operands: Sequence[Array]) -> Array:
    """A number for each element, the same where all operands are the same."""
    order = np.lexsort(operands[::-1])  # probes repeat their operands in order: that is as good as sorted
    new = np.zeros(order.size, np.int64)
    for operand in operands:
        new[1:] |= operand[order][1:] != operand[order][:-1]
    number = np.empty_like(new)
    number[order] = np.cumsum(new)
    return number


def granularity(part: Part) -> str:
    if part.case.node.attributes.get("block_size"):
        return "in blocks"
    tensors = tensors_of(part.case)
    parameters = (array for number, array in enumerate(part.case.inputs) if number not in tensors)
    return "per axis" if any(array.size > 1 for array in parameters) else "per tensor"
