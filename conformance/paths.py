"""Answers that depend on the path: the same operands, bit by bit, in the same node, but another result.

Only the cases of conformance/probes.py are compared: they give every slice the same parameters, so that no other fault
looks like this one. Nothing is tolerated but another NaN for a NaN.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, compress, pairwise
from typing import Any

import numpy as np

from tiebreak.conformance.judge import DEVIATES, judge
from tiebreak.conformance.naming import Element
from tiebreak.conformance.probes import PREFIX, path_cases
from tiebreak.conformance.rows import element_operands, text_of
from tiebreak.conformance.truths import TruthCache
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.pose import problems_of
from tiebreak.golden.problem import Array, Problem, Quantization, along

__all__ = ["causes_by_path", "path_cases", "path_rows"]

LAYOUT_ATTRIBUTES = ("axes", "axis", "block_size", "auto_broadcast")
WIDTHS = (2, 4, 8, 16, 32, 64)
SIZES = (4, 8, 16, 32, 64, 1024)
FEW = 4  # elements that are told by their places, since much would tell them apart by chance
MOST_RUNS = 4
BAKED = (
    "with every parameter as an input",
    "with some parameters as constants and some as inputs",
    "with every parameter as a constant",
)
MOST_ANSWERS = 3


@dataclass(frozen=True)
class Part:
    """One output of a case: the problem that it poses, and where it begins among all outputs.

    `unasked`: the backend builds all parameters of a node without constants in.
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
        """The parameters that the backend was given as constants, or makes constants itself."""
        return self.parameters if self.unasked and not self.case.node.baked else tuple(self.case.node.constants)


@dataclass(frozen=True)
class Members:
    """The elements of some parts that have the same operands: each one's part, index, and which answer it is."""

    parts: Sequence[Part]
    part: Array
    index: Array
    answer: Array
    codes: tuple[int, ...]  # by answer

    def by_part(self, of: Any) -> Array:
        """A number for each element, by a function of its part."""
        numbers = np.array([of(part) for part in self.parts])
        return np.asarray(numbers[self.part])


@dataclass(frozen=True)
class Feature:
    """Something to tell elements apart: a label for each, what the labels mean, and what of a layout they are of."""

    labels: Array
    texts: tuple[str, ...]
    of: str = ""


def path_rows(
    backend: str,
    outputs: Mapping[str, Array],
    cases: Sequence[Case],
    *,
    always_constant: frozenset[str] = frozenset(),
) -> list[dict[str, Any]]:
    """A row for each operands with more than one answer. `outputs`: case id to the flat codes of all its outputs.

    `always_constant` are the operators whose parameters the backend builds in where the node has no constants.
    """
    probes = [case for case in cases if case.id.startswith(PREFIX) and case.id in outputs]
    nodes = by_node(probes, always_constant)
    found = [members for parts in nodes.values() for members in differing(parts, outputs)]
    told = agreed([tellings(members) for members in found])
    pairs = zip(found, told, strict=True)
    return [{"backend": backend} | row_of(members, texts, outputs) for members, texts in pairs]


def agreed(tellings: Sequence[Mapping[tuple[str, ...], list[str]]]) -> list[list[str]]:
    """For each operands the texts of what tells the most of a backend's answers apart; none where nothing does."""
    counts = Counter(what for texts in tellings for what in texts)
    return [texts[max(texts, key=counts.__getitem__)] if texts else [] for texts in tellings]


def causes_by_path(
    rows: Sequence[dict[str, Any]], cases: Sequence[Case], discrepancies: Sequence[dict[str, Any]]
) -> dict[Element, str]:
    """The cause of every discrepancy whose operands and answer one of the backend's rows has, in whatever case."""
    told = {
        (row["node"], operand_bits(row["operands"]), answer["bits"]): row for row in rows for answer in row["answers"]
    }
    nodes = {case.id: case.node for case in cases}
    keys: dict[tuple[str, str], str] = {}
    found = {}
    for discrepancy in discrepancies if rows else ():
        element = discrepancy["case"], discrepancy["output"], int(discrepancy["index"])
        operands = operand_bits(json.loads(discrepancy["operands"]))
        node = nodes[element[0]]
        if (node.key, element[1]) not in keys:
            keys[node.key, element[1]] = node_key(node, element[1])
        row = told.get((keys[node.key, element[1]], operands, got_bits(discrepancy)))
        if row is not None:
            found[element] = cause_text(row)
    return found


def cause_text(row: dict[str, Any]) -> str:
    """Both answers, each with where it is given."""
    answers = row["answers"][:MOST_ANSWERS]
    told = "; ".join(f"{answer['value']} {answer['paths'][0]}" for answer in answers)
    more = len(row["answers"]) - len(answers)
    return f"path-dependent: {told}" + (f"; {more} more answers" if more else "")


def operand_bits(operands: Sequence[Sequence[str]]) -> tuple[str, ...]:
    return tuple(bits for _, bits, _ in operands)


def got_bits(discrepancy: Mapping[str, Any]) -> str:
    kind = ELEMENT_TYPES[discrepancy["result_type"]]
    code = int(discrepancy["got_bits"] if isinstance(kind, FloatType) else discrepancy["got"])
    return text_of(code, kind)[0]


def node_key(node: Node, output: str) -> str:
    """What an answer may depend on besides its operands: the node without its layout."""
    spec = get_operator(node.operator)
    attributes = {
        name: value
        for name, value in node.attributes.items()
        if name not in LAYOUT_ATTRIBUTES and value != spec.attribute(name).default
    }
    types = [tensor.dtype.name for tensor in (*node.inputs, *node.outputs)]
    return json.dumps([node.operator, node.opset, attributes, types, output], sort_keys=True)


def by_node(cases: Sequence[Case], always_constant: frozenset[str]) -> dict[str, list[Part]]:
    """The outputs of the cases, those of nodes that differ in nothing but their layout together."""
    parts: dict[str, list[Part]] = {}
    for case in cases:
        start = 0
        for problem in problems_of(case):
            part = Part(case, problem, start, case.node.operator in always_constant)
            parts.setdefault(node_key(case.node, problem.output), []).append(part)
            start += part.size
    return parts


def differing(parts: Sequence[Part], outputs: Mapping[str, Array]) -> Iterator[Members]:
    """The elements of each operands that have more than one answer."""
    operands = [np.concatenate(column) for column in zip(*map(columns, parts), strict=True)]
    codes = np.concatenate([outputs[p.case.id][p.start : p.start + p.size] for p in parts])
    part = np.repeat(np.arange(len(parts)), [p.size for p in parts])
    index = np.concatenate([np.arange(p.size) for p in parts])
    group = numbered(operands)
    order = np.lexsort((codes, group))
    same = group[order][1:] == group[order][:-1]
    for number in np.unique(group[order][1:][same & (codes[order][1:] != codes[order][:-1])]):
        chosen = np.flatnonzero(group == number)
        found, answer, count = np.unique(codes[chosen], return_inverse=True, return_counts=True)
        most = np.argsort(-count, kind="stable")
        answer = np.argsort(most)[answer.reshape(-1)]
        yield Members(parts, part[chosen], index[chosen], answer, tuple(found[most].tolist()))


def columns(part: Part) -> tuple[Array, ...]:
    """A part's operands, each as one code (int64) for every element."""
    problem = part.problem
    if not isinstance(problem, Quantization):
        return tuple(operand.astype(np.int64) for operand in problem.operands)
    spread = [
        np.broadcast_to(along(p, problem.axes, problem.shape), problem.shape)
        for p in (problem.scale, problem.zero_point)
    ]
    return tuple(operand.reshape(-1).astype(np.int64) for operand in (problem.x, *spread))


def numbered(operands: Sequence[Array]) -> Array:
    """Equal numbers for equal operands."""
    number = np.zeros(operands[0].shape, np.int64)
    for operand in operands:
        _, own = np.unique(operand, return_inverse=True)
        _, number = np.unique(number * (int(own.max(initial=0)) + 1) + own.reshape(-1), return_inverse=True)
    return number.reshape(-1)


def row_of(members: Members, texts: Sequence[str], outputs: Mapping[str, Array]) -> dict[str, Any]:
    """`texts` say for each answer where it is given; empty if that takes more than a few words."""
    part = members.parts[members.part[0]]
    node = part.case.node
    operands = element_operands(part.problem, node, int(members.index[0]))
    answers = [answer_of(members, number, outputs) for number in range(len(members.codes))]
    for answer, text in zip(answers, texts, strict=False):
        answer["paths"].insert(0, text)
    return {
        "operator": node.operator,
        "input_type": node.input_type,
        "output_type": node.output_type,
        "node": node_key(node, part.problem.output),
        "output": part.problem.output,
        "operands": [[name, *text_of(code, kind)] for name, code, kind in operands],
        "answers": answers,
        "deviates": any(answer["deviates"] for answer in answers),
    }


def answer_of(members: Members, number: int, outputs: Mapping[str, Array]) -> dict[str, Any]:
    """One answer with an example, in the smallest case that has one."""
    own = np.flatnonzero(members.answer == number)
    example = own[np.argmin(members.by_part(lambda part: part.case.size)[own])]
    part, index = members.parts[members.part[example]], int(members.index[example])
    truths = TruthCache().of(part.case)
    grades = judge(outputs[part.case.id], truths.own, truths).grades
    bits, value = text_of(members.codes[number], part.problem.result)
    return {
        "bits": bits,
        "value": value,
        "elements": len(own),
        "paths": [place(members, number)],
        "case": part.case.id,
        "index": index,
        "deviates": bool(grades[part.start + index] == DEVIATES),
    }


def place(members: Members, number: int) -> str:
    """Where the answer stands in one array; in one that has another answer too, if there is such an array."""
    layouts = [layout_text(part) for part in members.parts]
    names = list(dict.fromkeys(layouts))
    label = members.by_part(lambda part: names.index(layout_text(part)))
    best: tuple[bool, int, int] | None = None
    told = ""
    for which in np.unique(label[members.answer == number]):
        here = label == which
        runs = runs_of(members.index[here & (members.answer == number)])
        part = members.parts[members.part[np.flatnonzero(here)[0]]]
        rank = (bool((members.answer[here] == number).all()), len(runs), part.size)
        if best is None or rank < best:
            best, told = rank, f"{positions_text(runs, part)} {names[which]}"
    return told


def layout_text(part: Part) -> str:
    """What an array is, for people; the same for arrays that differ in their values only."""
    shape, constants = part.case.inputs[0].shape, part.constants
    text = str(shape[0]) if len(shape) == 1 else str(list(shape)) if shape else "a scalar"
    text += {"per tensor": "", "per axis": f", per axis {axis_of(part)}"}.get(granularity(part), ", in blocks")
    if part.unasked and set(constants) == set(part.parameters):
        return text  # as in every plain node
    return text + (f", {' and '.join(constants)} constant" if constants else "")


def runs_of(index: Array) -> list[tuple[int, int]]:
    """Runs of consecutive positions, first and last of each."""
    positions = np.unique(index)
    breaks = np.flatnonzero(np.diff(positions) > 1) + 1
    return [(int(run[0]), int(run[-1])) for run in np.split(positions, breaks)]


def positions_text(runs: Sequence[tuple[int, int]], part: Part) -> str:
    """Where in an array; of an output that has another shape than the input, only that it is one's of that input."""
    shape = part.case.inputs[0].shape
    if not shape or part.problem.shape != shape:
        return "for" if shape else "in"
    if runs == [(0, part.size - 1)] and part.size > 1:
        return "at every position of"
    told = [f"{first} to {last}" if first < last else str(first) for first, last in runs[:MOST_RUNS]]
    several = len(runs) > 1 or runs[0][0] < runs[0][1]
    return f"at position{'s' if several else ''} {', '.join(told)}{', …' if len(runs) > MOST_RUNS else ''} of"


def granularity(part: Part) -> str:
    if part.case.node.attributes.get("block_size"):
        return "in blocks"
    return "per axis" if any(array.size > 1 for array in part.case.inputs[1:]) else "per tensor"


def axis_of(part: Part) -> int:
    """The axis on which the parameters may vary."""
    parameter, shape, attributes = part.case.inputs[1], part.case.inputs[0].shape, part.case.node.attributes
    if "axes" in attributes or "axis" in attributes:
        given = attributes.get("axes", (attributes.get("axis"),))
        return int(given[0])
    return len(shape) - parameter.ndim if parameter.ndim else 0


def tellings(members: Members) -> dict[tuple[str, ...], list[str]]:
    """What tells the answers apart: by what it is, a text for each answer; the simplest first.

    Before all, what only the layouts that were run make one, as one: there nothing tells which of them matters.
    """
    layouts, positions = list(layout_features(members)), list(position_features(members))
    found = {feature.texts: told_apart(members, feature) for feature in (*inseparable(layouts), *layouts)}
    found["sizes",] = by_size(members)
    found |= {feature.texts: told_apart(members, feature) for feature in positions}
    if not any(found.values()) and np.bincount(members.answer).min() >= FEW:
        pairs = combinations([*layouts, *positions], 2)
        found = {(*one.texts, *other.texts): told_by_two(members, one, other) for one, other in pairs}
    return {what: texts for what, texts in found.items() if texts}


def inseparable(features: Sequence[Feature]) -> Iterator[Feature]:
    """The features that tell the same elements apart, as one that names them all; of those of constants the last."""
    alike: dict[bytes, list[Feature]] = {}
    for feature in features:
        alike.setdefault(classes_of(feature.labels).tobytes(), []).append(feature)
    for group in alike.values():
        labels = classes_of(group[0].labels)
        if len(group) == 1 or not labels.any():
            continue
        named = {feature.of: feature for feature in group}.values()
        examples = [int(np.argmax(labels == number)) for number in range(int(labels.max()) + 1)]
        yield Feature(labels, tuple(", ".join(f.texts[int(f.labels[i])] for f in named) for i in examples))


def classes_of(labels: Array) -> Array:
    """The labels renamed in the order in which they occur first, from 0."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse.reshape(-1)], np.int64)


def layout_features(members: Members) -> Iterator[Feature]:
    """Constants, granularity and rank."""
    for name in members.parts[0].parameters:
        labels = members.by_part(lambda part, name=name: name in part.constants)
        yield Feature(labels, (f"with {name} as an input", f"with {name} as a constant"), "constants")
    some = members.by_part(lambda part: bool(part.constants))
    yield Feature(some, (BAKED[0], "with parameters as constants"), "constants")
    whole = members.by_part(lambda part: set(part.constants) == set(part.parameters))
    yield Feature(whole, ("with some parameter as an input", BAKED[2]), "constants")
    yield Feature(some.astype(np.int64) + whole, BAKED, "constants")
    labels = members.by_part(lambda part: granularity(part) != "per tensor")
    yield Feature(labels, ("per tensor", "per axis"), "granularity")
    labels = members.by_part(lambda part: part.case.inputs[0].ndim > 0)
    yield Feature(labels, ("at rank 0", "at rank 1 or more"), "rank")


def position_features(members: Members) -> Iterator[Feature]:
    """Body and tail of vector loops over the array or over each row, and sizes."""
    size, row = members.by_part(lambda part: part.size), members.by_part(row_of_part)
    for what, index, length in (("a", members.index, size), ("a row's", members.index % row, row)):
        for width in WIDTHS:
            texts = tuple(f"in the {place} of {what} vector loop of {width}" for place in ("body", "tail"))
            yield Feature(index >= length - length % width, texts)
    for limit in SIZES:
        yield Feature(size >= limit, (f"in arrays of less than {limit}", f"in arrays of {limit} or more"))


def row_of_part(part: Part) -> int:
    return int(part.problem.shape[-1]) if part.problem.shape else 1


def told_apart(members: Members, feature: Feature) -> list[str]:
    """A text for each answer if no label has two of them; empty otherwise."""
    occurs = occurring(members, feature.labels.astype(np.int64), len(feature.texts))
    if (occurs.sum(axis=1) > 1).any():
        return []
    return [" or ".join(compress(feature.texts, column)) for column in occurs.T]


def told_by_two(members: Members, one: Feature, other: Feature) -> list[str]:
    """The same for two features together; a label that has one answer whatever the other says stands alone."""
    shape = len(one.texts), len(other.texts), len(members.codes)
    occurs = occurring(members, one.labels * shape[1] + other.labels, shape[0] * shape[1]).reshape(shape)
    observed = np.asarray(occurs.any(axis=2))
    if (occurs.sum(axis=2) > 1).any():
        return []
    return [" or ".join(joined(one.texts, other.texts, occurs[..., n], observed)) for n in range(shape[2])]


def joined(rows: Sequence[str], columns: Sequence[str], own: Array, observed: Array) -> Iterator[str]:
    """Which rows, columns and cells of a table are an answer's own, of those that occur."""
    whole = [own.any(axis=axis) & (own == observed).all(axis=axis) for axis in (1, 0)]
    yield from compress(rows, whole[0])
    yield from (text for j, text in enumerate(columns) if whole[1][j] and own[~whole[0], j].any())
    for i, j in np.argwhere(own & ~whole[0][:, None] & ~whole[1][None, :]):
        yield f"{rows[i]}, {columns[j]}"


def occurring(members: Members, labels: Array, count: int) -> Array:
    """Which answers (columns) elements with each label (rows) have."""
    answers = len(members.codes)
    found = np.bincount(labels * answers + members.answer, minlength=count * answers)
    return np.asarray(found.reshape(count, answers) > 0)


def by_size(members: Members) -> list[str]:
    """A text for each answer if arrays of one answer are all smaller than those of the next; empty otherwise."""
    sizes = members.by_part(lambda part: part.size)
    ends = [(int(own.min()), int(own.max())) for n in range(len(members.codes)) for own in [sizes[members.answer == n]]]
    ordered = sorted(ends)
    if any(low <= high for (_, high), (low, _) in pairwise(ordered)):
        return []
    return [
        f"in arrays of {low} to {high} elements" if low < high else f"in arrays of {low} elements" for low, high in ends
    ]
