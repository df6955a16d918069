"""Path dependence: the same node and the same operands, bit by bit, but another result.

Only the cases of cases/path_probes.py are compared. They give every slice the same parameters, so that no other fault
looks like path dependence. The only tolerance: any NaN equals any other NaN.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

import numpy as np

from tiebreak.conformance.cases.path_probes import PREFIX
from tiebreak.conformance.causes.evidence import Element
from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.judging.deviating import DeviatingElements
from tiebreak.conformance.judging.judge import judge
from tiebreak.conformance.judging.rows import bits_and_decimal, element_operands
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.paths.deciding import deciding_numbers
from tiebreak.conformance.paths.features import distinguishing_features
from tiebreak.conformance.paths.same_operands import (
    Part,
    SameOperands,
    by_node,
    granularity,
    node_key,
    with_several_answers,
)
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array
from tiebreak.golden.problems import problems_of
from tiebreak.golden.verdicts import DEVIATES
from tiebreak.reports.root_cause import BY_PATH
from tiebreak.reports.rows import PathAnswer, PathRow

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
    """A row for each set of operands to which there is more than one answer.

    `outputs` maps a case's id to the codes of all its outputs, one after the other (one-dimensional). `always_constant`
    are the operators whose parameters the backend makes constants even if the node has none.
    """
    errors = errors or ExplanationErrors()
    probes = [case for case in cases if case.id.startswith(PREFIX) and case.id in outputs]
    nodes = by_node(probes, always_constant)
    groups = [
        elements
        for parts in nodes.values()
        for elements in errors.each(STAGE, backend, with_several_answers(parts, outputs))
    ]
    features = [errors.attempt(STAGE, backend, partial(distinguishing_features, elements), {}) for elements in groups]
    pairs = zip(groups, most_common_texts(features), strict=True)
    grades = cache(partial(grades_of, {case.id: case for case in probes}, outputs))
    rows = [
        errors.attempt(STAGE, backend, partial(path_row, elements, texts, grades), None) for elements, texts in pairs
    ]
    return [{**row, "backend": backend} for row in rows if row is not None]


def most_common_texts(features: Sequence[Mapping[tuple[str, ...], list[str]]]) -> list[list[str]]:
    """For each set of operands the texts of the feature that separates answers most often; empty if none does."""
    counts = Counter(feature for texts in features for feature in texts)
    return [texts[max(texts, key=counts.__getitem__)] if texts else [] for texts in features]


def causes_by_path(rows: Sequence[PathRow], cases: Sequence[Case], deviating: DeviatingElements) -> dict[Element, str]:
    """The cause of each deviating element whose node, operands and answer are in one of the backend's rows.

    `cases` are the backend's, as the numbers of the deviating elements count them.
    """
    by_id = {case.id: case for case in cases}
    decided = cache(lambda case, output: decided_by(by_id[case], output))
    by_answer = {
        (row["node"], operand_bits(row["operands"]), answer["bits"], decided_at(decided, row, answer)): row
        for row in rows
        for answer in row["answers"]
    }
    nodes = {row["node"] for row in rows}
    keys: dict[tuple[str, str], str] = {}
    found = {}
    for place, number in enumerate(deviating.case.tolist() if rows else ()):
        case, output, index = cases[number], deviating.output[place], int(deviating.index[place])
        if (case.node.key, output) not in keys:
            keys[case.node.key, output] = node_key(case.node, output)
        key = keys[case.node.key, output]
        if key in nodes:
            operands = operand_bits(json.loads(deviating.operands[place]))
            others = int(decided(case.id, output)[index])
            row = by_answer.get((key, operands, got_bits(deviating, place), others))
            if row is not None:
                found[case.id, output, index] = cause_text(row)
    return found


def decided_by(case: Case, output: str) -> Array:
    """The `deciding_numbers` of one output."""
    return next(deciding_numbers(case, problem) for problem in problems_of(case) if problem.output == output)


def decided_at(decided: Callable[[str, str], Array], row: PathRow, answer: PathAnswer) -> int:
    return int(decided(answer["case"], row["output"])[answer["index"]])


def cause_text(row: PathRow) -> str:
    """The answers, each with the place where it is given."""
    answers = row["answers"][:MOST_ANSWERS]
    told = "; ".join(f"{answer['value']} {answer['paths'][0]}" for answer in answers)
    more = len(row["answers"]) - len(answers)
    return f"{BY_PATH}{told}" + (f"; {more} more answers" if more else "")


def operand_bits(operands: Sequence[Sequence[str]]) -> tuple[str, ...]:
    return tuple(bits for _, bits, _ in operands)


def got_bits(deviating: DeviatingElements, place: int) -> str:
    element = ELEMENT_TYPES[deviating.result_type[place]]
    got = deviating.got_bits if isinstance(element, FloatType) else deviating.got
    return bits_and_decimal(int(got[place]), element)[0]


def grades_of(cases: Mapping[str, Case], outputs: Mapping[str, Array], case: str) -> Array:
    """The grades of the outputs of a case, by its id."""
    truths = truths_of(cases[case])
    return judge(outputs[case], truths.judged_by, truths).grades


def path_row(elements: SameOperands, texts: Sequence[str], grades: Callable[[str], Array]) -> PathRow:
    """The row of one set of operands. `texts` say where each answer is given; empty if no feature separates them."""
    part = elements.parts[elements.part[0]]
    node = part.case.node
    operands = element_operands(part.problem, node, int(elements.index[0]))
    answers = [path_answer(elements, number, grades) for number in range(len(elements.codes))]
    for answer, text in zip(answers, texts, strict=False):
        answer["paths"].insert(0, text)
    return {
        "operator": node.operator,
        "input_type": node.input_type,
        "output_type": node.output_type,
        "node": node_key(node, part.problem.output),
        "output": part.problem.output,
        "operands": [[name, *bits_and_decimal(code, element)] for name, code, element in operands],
        "answers": answers,
        "deviates": any(answer["deviates"] for answer in answers),
    }


def path_answer(elements: SameOperands, number: int, grades: Callable[[str], Array]) -> PathAnswer:
    """One answer with an example from the smallest case that has it."""
    own = np.flatnonzero(elements.answer == number)
    example = own[np.argmin(elements.by_part(lambda part: part.case.size)[own])]
    part, index = elements.parts[int(elements.part[example])], int(elements.index[example])
    bits, value = bits_and_decimal(elements.codes[number], part.problem.result)
    return {
        "bits": bits,
        "value": value,
        "elements": len(own),
        "paths": [place_text(elements, number)],
        "case": part.case.id,
        "index": index,
        "deviates": bool(grades(part.case.id)[part.start + index] == DEVIATES),
    }


def place_text(elements: SameOperands, number: int) -> str:
    """Where an answer stands in one array: preferably one that has another answer too, and in the fewest runs."""
    layouts = [layout_text(part) for part in elements.parts]
    names = list(dict.fromkeys(layouts))
    label = elements.by_part(lambda part: names.index(layout_text(part)))
    best: tuple[bool, int, int] | None = None
    told = ""
    for which in np.unique(label[elements.answer == number]):
        here = label == which
        runs = runs_of(elements.index[here & (elements.answer == number)])
        part = elements.parts[int(elements.part[np.flatnonzero(here)[0]])]
        rank = (bool((elements.answer[here] == number).all()), len(runs), part.size)
        if best is None or rank < best:
            best, told = rank, f"{positions_text(runs, part)} {names[which]}"
    return told


def layout_text(part: Part) -> str:
    """The shape and the layout of an array in words; the same for arrays that differ in their values only."""
    shape, constants = part.case.shape, part.constants
    text = str(shape[0]) if len(shape) == 1 else str(list(shape)) if shape else "a scalar"
    how = granularity(part)
    text += f", per axis {parameter_axis(part)}" if how == "per axis" else ", in blocks" if how == "in blocks" else ""
    if part.unasked and set(constants) == set(part.parameters):
        return text  # every plain node of this backend has constants
    return text + (f", {' and '.join(constants)} constant" if constants else "")


def parameter_axis(part: Part) -> int:
    """The axis along which the parameters may vary."""
    node, shape, parameter = part.case.node, part.case.shape, part.case.inputs[1]
    spec = get_operator(node.operator)
    if spec.has_attribute("axis"):
        return int(node.value("axis"))
    if spec.has_attribute("axes") and node.value("axes"):
        return int(node.value("axes")[0])
    return len(shape) - parameter.ndim if parameter.ndim else 0


def runs_of(index: Array) -> list[tuple[int, int]]:
    """The first and the last of each run of consecutive positions."""
    positions = np.unique(index)
    breaks = np.flatnonzero(np.diff(positions) > 1) + 1
    return [(int(run[0]), int(run[-1])) for run in np.split(positions, breaks)]


def positions_text(runs: Sequence[tuple[int, int]], part: Part) -> str:
    """The positions in words; only "for" if the output has another shape than the input that is named."""
    shape = part.case.shape
    if not shape or part.problem.shape != shape:
        return "for" if shape else "in"
    if runs == [(0, part.size - 1)] and part.size > 1:
        return "at every position of"
    told = [f"{first} to {last}" if first < last else str(first) for first, last in runs[:MOST_RUNS]]
    several = len(runs) > 1 or runs[0][0] < runs[0][1]
    return f"at position{'s' if several else ''} {', '.join(told)}{', …' if len(runs) > MOST_RUNS else ''} of"
