"""Two answers of a library to the same numbers, as one element shows them: what a contradiction rests on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tiebreak.adapters.outcome import CHANGED_ELEMENT
from tiebreak.conformance.judging.rows import bits_and_decimal, code_from_bits, element_operands
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.problems import output_slices, problems_of
from tiebreak.reports.libraries import libraries_of

Row = dict[str, Any]
LISTS = ("repeated", "paths", "pairs", "relations")  # of run.json, with a row for each contradiction, and for others


@dataclass(frozen=True)
class Given:
    """The codes (flat, output by output) that a backend gave for a case, or how the call ended without any."""

    backend: str
    case: Case
    codes: Array
    ended: str = ""


def example_of(one: Given, other: Given, counted: Array | None = None) -> Row | None:
    """The first element to which two answers differ, with its operands; None where none differs.

    `counted` (bool) says which elements are compared; codes beyond it are not.
    """
    size = min(one.codes.size, other.codes.size) if counted is None else counted.size
    differ = one.codes[:size] != other.codes[:size]
    places = np.flatnonzero(differ if counted is None else differ & counted)
    if not places.size:
        return None
    return element_example(one, other, int(places[0]))


def element_example(one: Given, other: Given, at: int) -> Row:
    """The answers to an element, with its operands."""
    problems = problems_of(one.case)
    output, own = next((n, own) for n, own in enumerate(output_slices(problems)) if at < own.stop)
    index, problem = at - own.start, problems[output]
    operands = element_operands(problem, one.case.node, index)
    answers = [answer_of(given, at, index, problem.result) for given in (one, other)]
    found = [[name, *bits_and_decimal(code, element)] for name, code, element in operands]
    return {"output": problem.output, "operands": found, "answers": answers}


def answer_of(given: Given, at: int, index: int, kind: Any) -> Row:
    bits, value = (given.ended, given.ended) if given.ended else bits_and_decimal(int(given.codes[at]), kind)
    return {"backend": given.backend, "case": given.case.id, "index": index, "bits": bits, "value": value}


def example_of_ends(one: Given, other: Given) -> Row:
    """That two calls ended otherwise, one of them without codes: the first element, if there is any."""
    problems = problems_of(one.case)
    if one.case.size:
        at = next(own.start for own in output_slices(problems) if own.stop)
        return element_example(one, other, at)
    answers = [{"backend": given.backend, "case": given.case.id, "index": 0} for given in (one, other)]
    ends = (given.ended or "an empty output" for given in (one, other))
    told = [{**answer, "bits": end, "value": end} for answer, end in zip(answers, ends, strict=True)]
    return {"output": problems[0].output, "operands": [], "answers": told}


def example_of_change(case: Case, message: str) -> Row | None:
    """The element that changes between two calls, as the message of such a failure tells it; None if it tells none."""
    told = CHANGED_ELEMENT.search(message)
    problems = problems_of(case)
    if told is None or int(told[1]) >= len(problems):
        return None
    problem, index, bits = problems[int(told[1])], int(told[2]), [int(text, 16) for text in told.groups()[2:]]
    if index >= math.prod(problem.shape):
        return None
    found = [[name, *bits_and_decimal(code, kind)] for name, code, kind in element_operands(problem, case.node, index)]
    answers = [
        {"case": case.id, "index": index, "bits": shown, "value": value, "paths": [where]}
        for code, where in zip(bits, ("in one call", "in the next"), strict=True)
        for shown, value in [bits_and_decimal(code_from_bits(problem.result, code), problem.result)]
    ]
    return {"output": problem.output, "operands": found, "answers": answers}


def first_example(pairs: Iterable[tuple[Given, Given]]) -> Row | None:
    """That of the smallest case that has one."""
    ordered = sorted(pairs, key=lambda pair: (pair[0].case.size, pair[0].case.id))
    return next((found for one, other in ordered if (found := example_of(one, other))), None)


def with_example(row: Row, example: Row | None) -> Row:
    return row if example is None else {**row, "example": example}


def number_contradictions(info: Mapping[str, Any]) -> None:
    """Give each row that shows two answers of one library an id: S001 and so on."""
    for number, row in enumerate(contradicting_rows(info), start=1):
        row["id"] = f"S{number:03d}"


def contradicting_rows(info: Mapping[str, Any]) -> Iterator[Row]:
    """The rows of run.json that tell two answers to the same numbers, in the order of LISTS."""
    libraries = libraries_of(info)
    for name in LISTS:
        for row in info.get(name, []):
            same = name != "pairs" or libraries.get(row["a"]) == libraries.get(row["b"])
            if same and (name == "paths" or "example" in row):
                yield row


def two_answers(info: Mapping[str, Any], id: str) -> tuple[Row, Row, list[Row]] | None:
    """The row of an id, an example of it, and its two answers, each with the backend's name; None of an unknown id."""
    for name in LISTS:
        for row in info.get(name, []):
            if row.get("id") == id:
                example = row if name == "paths" else row["example"]
                return row, example, [{"backend": row.get("backend"), **one} for one in example["answers"][:2]]
    return None
