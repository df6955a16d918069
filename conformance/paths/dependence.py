"""Answers that depend on the path: the same operands, bit by bit, in the same node, but another result.

Only the cases of cases/path_probes.py are compared: they give every slice the same parameters, so that no other fault
looks like this one. Nothing is tolerated but another NaN for a NaN.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from tiebreak.conformance.cases.path_probes import PREFIX
from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.causes.settling import Element
from tiebreak.conformance.judging.judge import judge
from tiebreak.conformance.judging.rows import bits_and_decimal, element_operands
from tiebreak.conformance.judging.truths import TruthCache
from tiebreak.conformance.paths.features import tellings
from tiebreak.conformance.paths.members import Members, Part, by_node, differing, granularity, node_key
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import DEVIATES
from tiebreak.reports.root_cause import BY_PATH
from tiebreak.reports.rows import DiscrepancyRow, PathAnswer, PathRow

__all__ = ["causes_by_path", "path_rows"]

STAGE = "paths"
MOST_RUNS = 4
MOST_ANSWERS = 3


def path_rows(
    backend: str,
    outputs: Mapping[str, Array],
    cases: Sequence[Case],
    *,
    always_constant: frozenset[str] = frozenset(),
    errors: ExplanationErrors | None = None,
) -> list[PathRow]:
    """A row for each operands with more than one answer. `outputs`: case id to the flat codes of all its outputs.

    `always_constant` are the operators whose parameters the backend builds in where the node has no constants.
    """
    errors = errors or ExplanationErrors()
    probes = [case for case in cases if case.id.startswith(PREFIX) and case.id in outputs]
    nodes = by_node(probes, always_constant)
    found = [members for parts in nodes.values() for members in errors.each(STAGE, backend, differing(parts, outputs))]
    told = agreed([errors.attempt(STAGE, backend, partial(tellings, members), {}) for members in found])
    pairs = zip(found, told, strict=True)
    rows = [errors.attempt(STAGE, backend, partial(row_of, members, texts, outputs), None) for members, texts in pairs]
    return [{**row, "backend": backend} for row in rows if row is not None]


def agreed(tellings: Sequence[Mapping[tuple[str, ...], list[str]]]) -> list[list[str]]:
    """For each operands the texts of what tells the most of a backend's answers apart; none where nothing does."""
    counts = Counter(what for texts in tellings for what in texts)
    return [texts[max(texts, key=counts.__getitem__)] if texts else [] for texts in tellings]


def causes_by_path(
    rows: Sequence[PathRow], cases: Sequence[Case], discrepancies: Sequence[DiscrepancyRow]
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


def cause_text(row: PathRow) -> str:
    """Both answers, each with where it is given."""
    answers = row["answers"][:MOST_ANSWERS]
    told = "; ".join(f"{answer['value']} {answer['paths'][0]}" for answer in answers)
    more = len(row["answers"]) - len(answers)
    return f"{BY_PATH}{told}" + (f"; {more} more answers" if more else "")


def operand_bits(operands: Sequence[Sequence[str]]) -> tuple[str, ...]:
    return tuple(bits for _, bits, _ in operands)


def got_bits(discrepancy: DiscrepancyRow) -> str:
    kind = ELEMENT_TYPES[discrepancy["result_type"]]
    code = int(discrepancy["got_bits"] if isinstance(kind, FloatType) else discrepancy["got"])
    return bits_and_decimal(code, kind)[0]


def row_of(members: Members, texts: Sequence[str], outputs: Mapping[str, Array]) -> PathRow:
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
        "operands": [[name, *bits_and_decimal(code, kind)] for name, code, kind in operands],
        "answers": answers,
        "deviates": any(answer["deviates"] for answer in answers),
    }


def answer_of(members: Members, number: int, outputs: Mapping[str, Array]) -> PathAnswer:
    """One answer with an example, in the smallest case that has one."""
    own = np.flatnonzero(members.answer == number)
    example = own[np.argmin(members.by_part(lambda part: part.case.size)[own])]
    part, index = members.parts[int(members.part[example])], int(members.index[example])
    truths = TruthCache().of(part.case)
    grades = judge(outputs[part.case.id], truths.judged_by, truths).grades
    bits, value = bits_and_decimal(members.codes[number], part.problem.result)
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
        part = members.parts[int(members.part[np.flatnonzero(here)[0]])]
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


def axis_of(part: Part) -> int:
    """The axis on which the parameters may vary."""
    node, shape, parameter = part.case.node, part.case.inputs[0].shape, part.case.inputs[1]
    spec = get_operator(node.operator)
    if spec.has_attribute("axis"):
        return int(node.value("axis"))
    if spec.has_attribute("axes") and node.value("axes"):
        return int(node.value("axes")[0])
    return len(shape) - parameter.ndim if parameter.ndim else 0


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
