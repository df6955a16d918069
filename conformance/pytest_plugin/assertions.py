"""Conformance as an assertion, for tests of your own, and the text of a failure.

from hypothesis import given
from tiebreak import assert_conforms, cases

@given(cases(operator="onnx.QuantizeLinear", real="float32"))
def test_mine(case):
    assert_conforms(backend, case.node, case)
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tiebreak.adapters.answering import Answerer, WrongOutput, run_twice
from tiebreak.adapters.outcome import Outcome
from tiebreak.adapters.protocol import Backend
from tiebreak.conformance.cases.case_ids import case_id
from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.running.assembling import assemble
from tiebreak.conformance.running.recording import BackendRecords, record, with_right_outputs
from tiebreak.golden.elements import ELEMENT_TYPES, IntegerType, decimal
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array
from tiebreak.golden.problems import problems_of
from tiebreak.golden.rounding import short_mode
from tiebreak.golden.untrusted_text import plural, printable, safe_text
from tiebreak.golden.verdicts import GRADES
from tiebreak.reports.rows import discrepancy_rows

Row = Mapping[str, Any]  # of a discrepancy, with cause and clause

MOST_CAUSES = 6  # that a text names
MOST_SAMPLES = 2  # of each
LONGEST_MESSAGE = 400


def assert_conforms(backend: Backend, node: Node, case: Case | Sequence[Array]) -> str:
    """Run a case on a backend in this process and judge every element, without any tolerance.

    `case` is a Case of the node, as the strategy `cases` draws it, or the input tensors in the document's order.
    Returns the verdict: "exact", "working-precision", "other-order" or "unspecified". Raises AssertionError with what
    deviates and why, or if the outputs have a wrong type or shape or change between two calls. Raises InvalidInput for
    inputs that do not fit the node. Exceptions of the backend, such as Unsupported, pass through.
    """
    case = as_case(node, case)
    outcome = outcome_of(backend, case)
    facts = {"name": safe_text(getattr(backend, "name", "backend"), 200), "version": "", "spec": ""}
    records = BackendRecords(facts)
    record(records, case, outcome)
    if any(map(len, records.deviating)):
        found = assemble([records], [case], {})
        raise AssertionError(failure_text(facts["name"], discrepancy_rows(found.discrepancies)))
    return records.verdicts[0]


def verdicts(backend: Backend, node: Node, case: Case | Sequence[Array]) -> tuple[Array, ...]:
    """The verdict of each element as text: for each output an array of its shape.

    Takes and raises what `assert_conforms` does, but an element that deviates gets the verdict "deviates".
    """
    case = as_case(node, case)
    outcome = outcome_of(backend, case)
    grades, start, found = judge_outputs(outcome.outputs, truths_of(case)).grades, 0, []
    for output in outcome.outputs:
        found.append(np.array(GRADES)[grades[start : start + output.size]].reshape(output.shape))
        start += output.size
    return tuple(found)


def as_case(node: Node, case: Case | Sequence[Array]) -> Case:
    """The case itself, or a case made of the input tensors. InvalidInput if it does not fit the node."""
    if isinstance(case, Case):
        if case.node.key != node.key:
            raise InvalidInput(f"{case.id} is a case of another node: {case.node.key}")
        return case
    inputs = tuple(np.asarray(array) for array in case)
    types, wanted = [array.dtype.name for array in inputs], [tensor.dtype.name for tensor in node.inputs]
    if types != wanted:
        raise InvalidInput(f"{node.operator}: inputs of types {', '.join(types)}; the node has {', '.join(wanted)}")
    made = Case(case_id(node, inputs).replace("generated", "typed", 1), node, inputs, "typed")
    problems_of(made)
    return made


def outcome_of(backend: Backend, case: Case) -> Outcome:
    """The backend's outcome; AssertionError unless types and shapes are right and a second call gives the same."""
    try:
        outcome = run_twice(Answerer(backend).compile(case.node), case.inputs)
    except WrongOutput as error:
        raise AssertionError(f"{case.node.operator}: {error}") from None
    outcome = with_right_outputs(case, outcome, problems_of(case))
    if outcome.status != "ok":
        raise AssertionError(f"{case.node.operator}: {outcome.message}")
    return outcome


def failure_text(backend: str, rows: Sequence[Row], replay: Callable[[Row], str] = lambda row: "") -> str:
    """The text of a failure: elements by cause, the commonest first, with a few of each in bits and decimals.

    `rows` are those of one operator; `replay` gives the command that runs a row's case again.
    """
    first, by_cause = rows[0], defaultdict(list)
    for row in rows:
        by_cause[row["cause"], row["clause"]].append(row)
    causes = sorted(by_cause.items(), key=lambda item: -len(item[1]))
    lines = [f"{printable_message(backend)} deviates from {first['operator']}{kind_text(rows)} in {amount(rows)}"]
    for (cause, clause), members in causes[:MOST_CAUSES]:
        says = get_operator(first["operator"]).clause(clause).text
        lines += ["", f"{cause}: {amount(members)}", f"  breaks {clause}: {says}"]
        lines += [line for row in rows_to_show(members) for line in sample_lines(row, replay(row))]
    if len(causes) > MOST_CAUSES:
        lines += ["", f"and {sum(len(rest) for _, rest in causes[MOST_CAUSES:])} elements of other causes"]
    return "\n".join(lines)


def kind_text(rows: Sequence[Row]) -> str:
    """The types and the rounding mode that all rows share; empty if they differ."""
    kinds = {(row["input_type"], row["output_type"], row["round_mode"]) for row in rows}
    if len(kinds) > 1:
        return ""
    ((one, other, mode),) = kinds
    return f" ({one} to {other}{', ' + short_mode(mode) if mode else ''})"


def amount(rows: Sequence[Row]) -> str:
    cases = len({row["case"] for row in rows})
    return f"{plural(len(rows), 'element')} of {plural(cases, 'case')}"


def rows_to_show(rows: Sequence[Row]) -> list[Row]:
    """A few rows to show: stored vectors first, then nearest to a decision boundary, if possible of different cases."""
    ordered = sorted(rows, key=lambda row: (not is_stored(row), boundary_nearness(row), row["index"]))
    firsts = {row["case"]: place for place, row in reversed(list(enumerate(ordered)))}
    places = sorted(range(len(ordered)), key=lambda place: firsts[ordered[place]["case"]] != place)
    return [ordered[place] for place in places[:MOST_SAMPLES]]


def is_stored(row: Row) -> bool:
    """Whether the case is a golden vector, which its id identifies everywhere."""
    return str(row["case"]).startswith(f"{row['operator']}/")


def boundary_nearness(row: Row) -> float:
    return math.inf if math.isnan(row["boundary_ulp"]) else float(row["boundary_ulp"])


def sample_lines(row: Row, replay: str) -> list[str]:
    """One element: its operands, both conforming results, the backend's result, and the command that replays it."""
    shown = [(name, bits, "" if text == bits else text) for name, bits, text in json.loads(row["operands"])]
    exact, working = result_texts(row, "expected"), result_texts(row, "expected_working")
    shown += [("expected", *exact)] if exact == working else [("exact", *exact), ("working", *working)]
    shown.append(("got", *result_texts(row, "got")))
    width = max(len(name) for name, _, _ in shown)
    digits = max(len(bits) for _, bits, _ in shown)
    lines = [f"  {row['case']}: {row['output']}[{row['index']}]"]
    lines += [f"    {name:{width}}  {bits:{digits}}  {text}".rstrip() for name, bits, text in shown]
    lines.append(f"    {'off by':{width}}  {off_by_text(row)}")
    return [*lines, f"    {'replay':{width}}  {replay}"] if replay else lines


BITS = {"expected": "expected_bits", "expected_working": "working_bits", "got": "got_bits"}


def result_texts(row: Row, which: str) -> tuple[str, str]:
    """Bits and decimal of a result."""
    kind, bits = ELEMENT_TYPES[row["result_type"]], int(row[BITS[which]])
    text = str(int(row[which])) if isinstance(kind, IntegerType) else decimal(bits, kind)
    return f"0x{bits:0{max(2, kind.bits // 4)}x}", text


def off_by_text(row: Row) -> str:
    unit = "" if isinstance(ELEMENT_TYPES[row["result_type"]], IntegerType) else " ulp"
    near = boundary_nearness(row)
    where = f", {near:g} ulp from a decision boundary" if math.isfinite(near) else ""
    return f"{row['distance']:+d}{unit}{', on a decision boundary' if near == 0 else where}"


def printable_message(text: str) -> str:
    """A backend's text, shortened and without control characters."""
    return printable(text, LONGEST_MESSAGE)
