"""Writes a standalone script for two recorded answers of a library to the same numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tiebreak.adapters.contradiction_reproducer import AnswerSide, ShownCall, contradiction_script
from tiebreak.adapters.filled_memory import BYTES, filling
from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.judging.both_answers import contradicting_rows, two_answers
from tiebreak.conformance.running.unwritten import calls_before
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Case
from tiebreak.golden.operator_names import short_name
from tiebreak.golden.problems import problems_of
from tiebreak.reports.records import Run
from tiebreak.reports.story import where_given, with_bits

Started = Callable[[str], IsolatedBackend]  # by a backend's name in the run


def contradiction_script_of(run: Run, name: str, folder: Path, started: Started) -> str:
    """The script of a contradiction's id. InvalidInput of an unknown one; Unsupported of a backend without scripts."""
    found = two_answers(run.info, name)
    if found is None:
        known = ", ".join([str(row["id"]) for row in contradicting_rows(run.info) if "id" in row][:40])
        raise InvalidInput(f"{folder}: no contradiction {name!r}; it has {known or 'none'}")
    row, example, answers = found
    cases = cases_of([str(one["case"]) for one in answers], operators_of(row), folder)
    one, other = (
        side_of(started(str(answer["backend"])), cases[str(answer["case"])], example, answer) for answer in answers
    )
    who = " and ".join(dict.fromkeys(str(answer["backend"]) for answer in answers))
    title = f"{who}, {', '.join(map(short_name, operators_of(row)))}: two answers to the same numbers ({name})"
    return contradiction_script(title, example["operands"], (one, other))


def operators_of(row: dict[str, Any]) -> list[str]:
    return [str(row["operator"])] if "operator" in row else [str(name) for name in row["operators"]]


def cases_of(names: list[str], operators: list[str], folder: Path) -> dict[str, Case]:
    selection = Selection(operators=tuple(operators), case_ids=tuple(dict.fromkeys(names)), earlier_run=folder)
    return {case.id: case for case in plan(selection)}


def side_of(backend: IsolatedBackend, case: Case, example: dict[str, Any], answer: dict[str, Any]) -> AnswerSide:
    call = ShownCall(case.node, case.inputs, backend.reproducer(case.node.key, case.inputs))
    output = next(n for n, problem in enumerate(problems_of(case)) if problem.output == example["output"])
    value = with_bits(answer["value"], answer["bits"])
    return AnswerSide([call], output, int(answer["index"]), where_given(answer), value)


def unwritten_script(title: str, case: Case, row: dict[str, Any], backend: IsolatedBackend) -> str:
    """The script of memory that nobody wrote: the same call after others, in memory filled with another byte."""
    output = next(n for n, problem in enumerate(problems_of(case)) if problem.output == row["output"])
    before = calls_before(case)
    own = ShownCall(case.node, case.inputs, backend.reproducer(case.node.key, case.inputs))
    others = [ShownCall(one.node, one.inputs, backend.reproducer(one.node.key, one.inputs)) for one in before]
    one, other = (
        AnswerSide(
            [call, own],
            output,
            int(row["index"]),
            f"the call after {which}",
            f"{row['got']:g} in the run",
            filling(byte, {}),
        )
        for call, which, byte in zip((others[0], others[-1]), ("one", "another"), BYTES, strict=True)
    )
    return contradiction_script(title, json.loads(row["operands"]), (one, other))
