"""Writes a standalone script for two recorded answers of a library to the same numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tiebreak.adapters.contradiction_reproducer import AnswerSide, ShownCall, contradiction_script
from tiebreak.adapters.filled_memory import BYTES, filling
from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.judging.both_answers import LISTS, contradicting_rows, two_answers
from tiebreak.conformance.running.replaying import TIMES, NoScript, Seen, in_any_folder, replay_words
from tiebreak.conformance.running.unwritten import calls_before
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.nodes import Case
from tiebreak.golden.operator_names import short_name
from tiebreak.golden.problems import problems_of
from tiebreak.reports.records import Run
from tiebreak.reports.story import where_given, with_bits

Started = Callable[[str], IsolatedBackend]  # by a backend's name in the run


def contradiction_script_of(run: Run, name: str, folder: Path, started: Started) -> str:
    """The script of a contradiction's id. InvalidInput of an unknown one; NoScript of a backend without scripts."""
    found = two_answers(run.info, name)
    if found is None:
        known = ", ".join([str(row["id"]) for row in contradicting_rows(run.info) if "id" in row][:40])
        raise InvalidInput(f"{folder}: no contradiction {name!r}; it has {known or 'none'}")
    row, example, answers = found
    cases = cases_of([str(one["case"]) for one in answers], operators_of(row), folder)
    backends = [started(str(answer["backend"])) for answer in answers]
    who = " and ".join(dict.fromkeys(str(answer["backend"]) for answer in answers))
    title = f"{who}, {', '.join(map(short_name, operators_of(row)))}: two answers to the same numbers ({name})"
    try:
        one, other = (
            side_of(backend, cases[str(answer["case"])], example, answer)
            for backend, answer in zip(backends, answers, strict=True)
        )
    except Unsupported as reason:
        kind, specs = kind_of(run.info, row), list(dict.fromkeys(backend.spec for backend in backends))
        raise no_script(f"{who}: {reason}", kind, specs, list(cases.values()), folder) from None
    return contradiction_script(title, example["operands"], (one, other))


def kind_of(info: Mapping[str, Any], row: dict[str, Any]) -> str:
    """The list of run.json in which a contradiction stands."""
    return next(name for name in LISTS if any(row is one for one in info.get(name, [])))


def no_script(reason: str, kind: str, specs: list[str], cases: list[Case], folder: Path) -> NoScript:
    """What asks Tiebreak for both answers again.

    A run of single cases asks no other process, so that is asked in a brief run of the case's types, and again: chance
    may tell which process answers how.
    """
    seen = Seen(f'any("id" in row for row in info.get({kind!r}, []))')
    if kind == "repeated":
        node = cases[0].node
        types = ["--input-type", node.input_type, "--type", node.output_type]
        words = ["run", "-b", in_any_folder(specs[0]), "--operator", node.operator, *types, "--level", "brief"]
        return NoScript(f"{reason}; to ask another process again", words, seen, times=TIMES)
    words = replay_words(specs, [case.id for case in cases], folder)
    return NoScript(f"{reason}; to ask for both answers again", words, seen)


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
