"""Asks a few cases again in another process: a library that answers otherwise there contradicts itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.judging.both_answers import Given, example_of_ends, first_example, with_example
from tiebreak.conformance.judging.judge import codes_of_outputs, output_problem
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.running.recording import BackendRecords
from tiebreak.golden.messages import gist
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.untrusted_text import one_line
from tiebreak.golden.verdicts import FAILED

Again = tuple[Case, Outcome]
MOST_AT_RANDOM = 16  # cases of a backend


def repeated_rows(backend: object, records: BackendRecords) -> list[dict[str, Any]]:
    """A row for each operator: on how many of the cases asked again another process gives another answer.

    Empty for a backend that has no process of its own. A case that failed is not asked again.
    """
    if not isinstance(backend, IsolatedBackend):
        return []
    cases = asked_again(records)
    with backend.in_another_process() as other:
        outcomes = other.run_batch(cases)
    return list(rows_by_operator(records, list(zip(cases, outcomes, strict=True))))


def asked_again(records: BackendRecords) -> list[Case]:
    """One case for each operator and types; then those in which the same operands have several answers.

    Such answers may come from memory that nobody wrote. The other process has then computed something else before.
    Where that is known, the case has its cause and is not asked.
    """
    random = [records.cases[number] for number in records.at_random[:MOST_AT_RANDOM]]
    every = {case.id: case for case in (*one_case_for_each_type(records), *random)}
    return [case for name, case in every.items() if name not in records.unwritten]


def one_case_for_each_type(records: BackendRecords) -> list[Case]:
    """The first case of each operator and combination of element types that did not fail."""
    found: dict[tuple[str, ...], Case] = {}
    for case, verdict in zip(records.cases, records.verdicts, strict=True):
        if verdict not in FAILED:
            types = (tensor.element for tensor in (*case.node.inputs, *case.node.outputs))
            found.setdefault((case.node.operator, *types), case)
    return list(found.values())


def rows_by_operator(records: BackendRecords, asked: Sequence[Again]) -> Iterator[dict[str, Any]]:
    for operator in dict.fromkeys(case.node.operator for case, _ in asked):
        own = [one for one in asked if one[0].node.operator == operator]
        other = [one for one in own if answers_differ(records, *one)]
        first = other[0][0].id if other else ""
        row = {"backend": records.name, "operator": operator, "cases": len(own), "differ": len(other), "first": first}
        yield with_example(row, first_example(both_answers(records, other)) or other_end(records, other))


def both_answers(records: BackendRecords, asked: Sequence[Again]) -> Iterator[tuple[Given, Given]]:
    """The recorded codes and those of the other process, where both are there."""
    for case, outcome in asked:
        codes = codes_again(case, outcome)
        if case.id in records.outputs and codes is not None:
            yield Given(records.name, case, records.outputs[case.id]), Given(records.name, case, codes)


def other_end(records: BackendRecords, asked: Sequence[Again]) -> dict[str, Any] | None:
    """An example of the smallest case that has elements, where one of the two calls has no codes; None of no cases."""
    if not asked:
        return None
    case, outcome = min(asked, key=lambda one: (not one[0].size, one[0].size, one[0].id))
    recorded = records.outcomes[records.cases.index(case)]
    one, other = (
        Given(records.name, case, np.empty(0), how_it_ended(ended))
        if codes is None
        else Given(records.name, case, codes)
        for codes, ended in ((records.outputs.get(case.id), recorded), (codes_again(case, outcome), outcome))
    )
    return example_of_ends(one, other)


def how_it_ended(outcome: Outcome) -> str:
    """The status of a call without usable outputs, and what the backend said."""
    status = "outputs of another form" if outcome.status == "ok" else outcome.status
    return one_line(f"{status}: {gist(outcome.message)}" if outcome.message else status, 200)


def answers_differ(records: BackendRecords, case: Case, outcome: Outcome) -> bool:
    """Whether the outcome is another than the recorded one: a result instead of none, or other codes."""
    ran = case.id in records.outputs
    if not ran or outcome.status != "ok":
        return ran != (outcome.status == "ok")
    codes = codes_again(case, outcome)
    return codes is None or not np.array_equal(codes, records.outputs[case.id])


def codes_again(case: Case, outcome: Outcome) -> Array | None:
    """The codes of an outcome; None where it has no outputs of the right form."""
    truths = truths_of(case)
    if outcome.status != "ok" or output_problem(case, outcome.outputs, truths.problems):
        return None
    return codes_of_outputs(truths.problems, outcome.outputs, truths.judged_by)
