"""Path probes: what the cases cover, and that backends wrong on one path only are found out with both answers."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sample_path_backends
from rich.console import Console

from tiebreak.conformance.cases.path_probes import LARGE, Arrangement, all_probes, arrangements, path_cases, probe_case
from tiebreak.conformance.cases.path_probes import tested_axis as axis_of  # pytest would collect its own name
from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.judging.deviating import DTYPES, DeviatingElements
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.model import OperatorUnderTest
from tiebreak.conformance.operators.path_probe import PathProbe
from tiebreak.conformance.paths.dependence import causes_by_path, path_rows
from tiebreak.conformance.paths.same_operands import node_key
from tiebreak.conformance.running.backends import run_cases
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.problem import Array, codes_of
from tiebreak.golden.rounding import ROUND_MODES, is_nearest
from tiebreak.reports.html import render
from tiebreak.reports.records import RunRecords, as_run
from tiebreak.reports.rows import discrepancy_rows, result_rows
from tiebreak.reports.story import story
from tiebreak.reports.summary import chapter_table, json_summary, path_table

LINEAR = "onnx.QuantizeLinear"
SCANNED = [(record, probe) for record, probe in all_probes() if probe.scanned]
OTHERS = [(record, probe) for record, probe in all_probes() if not probe.scanned and not probe.constants_only]
LAID_OUT = [(record, probe) for record, probe in all_probes() if probe.layout]
BACKENDS = Path(__file__).parent / "sample_path_backends.py"
TIE, MOVED = "1.6015625", "-4.8046875"  # 2.5 and -7.5 times 41/64


def text_codes(array: Array) -> list[int]:
    return [int(code) for code in codes_of(array).reshape(-1)]


@pytest.mark.slow
def test_cases_are_the_same_at_every_call_and_each_has_its_id() -> None:
    first, second = (path_cases(tuple(OPERATORS), "quick") for _ in range(2))
    assert {case.node.operator for case in first} == set(OPERATORS)
    assert [case.id for case in first] == [case.id for case in second]
    assert len({case.id for case in first}) == len(first)
    for one, other in zip(first, second, strict=True):
        assert one.node.key == other.node.key
        assert all(np.array_equal(codes_of(a), codes_of(b)) for a, b in zip(one.inputs, other.inputs, strict=True))
        assert one.id.startswith(f"path/{one.node.operator}/")
        assert one.clauses


@pytest.mark.parametrize(("level", "parts"), [("brief", None), ("quick", (2, 4)), ("full", (2, 4))])
def test_a_probe_of_a_scale_class_asks_each_constant_and_no_more(level: str, parts: tuple[int, int] | None) -> None:
    """None, each and all of the parameters as constants, then two arrangements per axis; at level brief one."""
    for record, probe in all_probes():
        if probe.constants_only:
            least, most = (len(probe.parameters) + part for part in parts) if parts else (1, 1)
            assert least <= len(list(arrangements(record, probe, level))) <= most, (record.id, probe.label)


@pytest.mark.parametrize(("level", "scanned", "others"), [("brief", 30, 8), ("quick", 60, 8), ("full", 320, 40)])
def test_cases_of_a_probe_are_not_too_many(level: str, scanned: int, others: int) -> None:
    for record, probe in all_probes():
        if probe.constants_only:
            continue
        most = scanned if probe.scanned else others
        least = 1 if axis_of(record).whole_blocks else most / 2  # whole blocks have few lengths
        assert least < len(list(arrangements(record, probe, level))) <= most, (record.id, probe.label)


@pytest.mark.few(10)
@pytest.mark.parametrize(("record", "probe"), SCANNED, ids=[record.id for record, _ in SCANNED])
def test_at_full_the_scanned_values_stand_at_every_position(record: OperatorUnderTest, probe: PathProbe) -> None:
    found = positions(record, probe, "full")
    lengths = (32, 64, 96) if axis_of(record).whole_blocks else range(1, 71)
    wanted = {(length, i) for length in lengths for i in range(length)}
    whole = [code for code, places in found.items() if wanted <= places]
    assert len(whole) == probe.scanned


@pytest.mark.parametrize("level", ["brief", "quick", "full"])
@pytest.mark.parametrize("operator", ["gguf.Quantize", "gguf.Dequantize"])
def test_no_part_of_a_block_where_a_document_allows_none(operator: str, level: str) -> None:
    cases = path_cases((operator,), level)
    assert cases and not {case.inputs[0].shape[-1] % 32 for case in cases} - {0}
    assert len({case.id for case in cases}) == len(cases)


def test_at_quick_every_value_stands_at_every_position_of_some_lengths_and_in_every_tail() -> None:
    record, probe = all_probes()[0]
    found = positions(record, probe, "quick")
    wanted = {(length, i) for length in (17, 70) for i in range(length)}
    assert len(found) == len(probe.values)
    assert all(wanted <= places for places in found.values())
    assert {length for places in found.values() for length, _ in places} >= set(range(1, 18))


def positions(record: OperatorUnderTest, probe: PathProbe, level: str) -> dict[int, set[tuple[int, int]]]:
    """For each first operand the (length, position) at which it stands in 1-D arrays whose node is the plainest.

    A layout may give such an array further axes of one element.
    """
    found: dict[int, set[tuple[int, int]]] = {}
    for arrangement, case in arranged_cases(record, probe, level):
        if len(arrangement.shape) == 1 and not case.node.baked:
            operand = case.inputs[probe.into]
            assert max(operand.shape) == operand.size == case.size
            for i, code in enumerate(text_codes(operand)):
                found.setdefault(code, set()).add((case.size, i))
    return found


def arranged_cases(record: OperatorUnderTest, probe: PathProbe, level: str) -> Iterator[tuple[Arrangement, Case]]:
    for arrangement in arrangements(record, probe, level):
        yield arrangement, probe_case(record, probe, arrangement)


def operand_shape(probe: PathProbe, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape in which the probe's values stand for an arrangement of this shape."""
    return probe.layout.shapes(shape)[probe.into] if probe.layout else shape


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_arrangement_is_there(operator: str) -> None:
    axis, probes = axis_of(TESTED[operator]), [probe for record, probe in all_probes() if record.id == operator]
    arranged = [(probe, *one) for probe in probes for one in arranged_cases(TESTED[operator], probe, "quick")]
    cases = [case for _, _, case in arranged]
    assert [case.id for case in cases] == [case.id for case in path_cases((operator,), "quick")]
    ranks = {len(arrangement.shape) for _, arrangement, _ in arranged}
    assert ranks >= ({0, 1, 2, 4} if axis.takes_scalars else {1, 2, 4})
    assert max(case.size for case in cases) >= LARGE
    constants = {tuple(case.node.constants) for case in cases}
    names = [tensor.name for number, tensor in enumerate(cases[0].node.inputs) if number != probes[0].into]
    assert constants >= {(), tuple(names), *((name,) for name in names)}
    if axis.attribute or axis.broadcast:
        per_axis = [case for case in cases if case.inputs[1].size > 1 and not case.node.attributes.get("block_size")]
        assert len({case.inputs[0].shape.index(case.inputs[1].shape[0]) for case in per_axis}) > 1
    for probe, arrangement, case in arranged:
        assert case.inputs[probe.into].shape == operand_shape(probe, arrangement.shape)
        parameters = [parameter for number, parameter in enumerate(case.inputs) if number != probe.into]
        assert all(len(set(text_codes(parameter))) == 1 for parameter in parameters)


@pytest.mark.parametrize(
    ("record", "probe"), LAID_OUT, ids=[f"{record.id} {probe.label}" for record, probe in LAID_OUT]
)
def test_a_layout_keeps_the_axes_of_an_arrangement(record: OperatorUnderTest, probe: PathProbe) -> None:
    """Besides, it may add axes of one element only. A flat one makes one axis of all."""
    for arrangement, case in arranged_cases(record, probe, "quick"):
        kept = (math.prod(arrangement.shape),) if getattr(probe.layout, "flat", False) else arrangement.shape
        found = case.inputs[probe.into].shape
        assert [size for size in found if size > 1] == [size for size in kept if size > 1]


def test_the_values_tell_tie_rules_and_the_reciprocal() -> None:
    nearest = [mode for mode in ROUND_MODES if is_nearest(mode)]
    probes = [case for case in probes_of_bytes() if case.id.endswith("/67/0")]
    assert len(probes) == 1
    for case in probes:
        by_mode = truths_of(case, nearest).by_mode
        assert len({tuple(by_mode[mode].exact[[0, 1, 5]].tolist()) for mode in nearest}) == 5
        x, scale = case.inputs[0][1], case.inputs[1]
        assert np.rint(x / scale) != np.rint(x * (np.float32(1) / scale))


def test_planned_with_generated_cases_only_and_filtered_like_them() -> None:
    chosen = plan(Selection(operators=(LINEAR,), output_type="int8", level="quick"))
    probes = [case for case in chosen if case.id.startswith("path/")]
    assert probes
    assert {case.node.output_type for case in probes} == {"int8"}
    assert not any(case.id.startswith("path/") for case in plan(Selection(operators=(LINEAR,), level="")))


WRONG = {
    "body of 8": (MOVED, {"94": "in the body of a vector loop of 8", "93": "in the tail of a vector loop of 8"}),
    "body of 16": (MOVED, {"94": "in the body of a vector loop of 16", "93": "in the tail of a vector loop of 16"}),
    "body of 32": (MOVED, {"94": "in the body of a vector loop of 32", "93": "in the tail of a vector loop of 32"}),
    "body of 8 per tensor": (
        MOVED,
        {"94": "per tensor, in the body of a vector loop of 8", "93": "per axis or in the tail of a vector loop of 8"},
    ),
    "short arrays": (TIE, {"104": "in arrays of 1 to 3 elements", "103": "in arrays of 4 to 210 elements"}),
    "constant scales": (MOVED, {"94": "with y_scale as a constant", "93": "with y_scale as an input"}),
    "per axis": (TIE, {"104": "per axis", "103": "per tensor"}),
    "scalars": (TIE, {"104": "at rank 0", "103": "at rank 1 or more"}),
}
OPEN = {
    "NaN in the tail": ("nan", {"0": "in the body of a vector loop of 4", "255": "in the tail of a vector loop of 4"})
}
RIGHT = ("right", "always away", "always multiplied", "untold")


@pytest.fixture(scope="module")
def records() -> RunRecords:
    """Every sample backend in a worker, on the probes of one node but its large array, which takes its time."""
    names = [name for name, value in vars(sample_path_backends).items() if hasattr(value, "round_quotient")]
    names.remove("large_arrays")
    return run_probes(names, [case for case in probes_of_bytes() if case.size < LARGE])


def run_probes(names: Sequence[str], cases: Sequence[Case]) -> RunRecords:
    specs = [f"{BACKENDS}:{name}" for name in names]
    return run_cases(specs, cases, time_limit=30.0, facts={"level": "quick", "seed": 0, "command": "tiebreak run"})


def probes_of_bytes() -> list[Case]:
    return [case for case in path_cases((LINEAR,), "quick") if "float32-uint8" in case.id]


@pytest.mark.parametrize("name", WRONG | OPEN)
def test_both_answers_and_both_paths_are_told(records: RunRecords, name: str) -> None:
    (row,) = (row for row in records.info["paths"] if row["backend"] == name)
    operand, answers = (WRONG | OPEN)[name]
    assert row["operands"][0][2] == operand
    assert {answer["value"]: answer["paths"][0] for answer in row["answers"]} == answers
    assert row["deviates"] is (name in WRONG)
    assert [answer["deviates"] for answer in row["answers"]].count(True) == (name in WRONG)
    assert all(answer["case"].startswith("path/") and answer["elements"] > 0 for answer in row["answers"])


# Where one arithmetic alone gives the answers of the body, the cause names it.
NAMED = [name for name in WRONG if name.startswith("body")]


@pytest.mark.parametrize("name", NAMED)
def test_the_cause_names_the_arithmetic_of_a_path(records: RunRecords, name: str) -> None:
    (cause,) = {row["cause"] for row in discrepancy_rows(records.discrepancies) if row["backend"] == name}
    assert cause == f"multiplies by the reciprocal rounded to the input's type, {WRONG[name][1]['94']}"


@pytest.mark.parametrize("name", [name for name in WRONG if name not in NAMED])
def test_the_cause_names_both_answers_and_both_paths(records: RunRecords, name: str) -> None:
    found = {row["cause"] for row in discrepancy_rows(records.discrepancies) if row["backend"] == name}
    assert len(found) == 1
    cause = found.pop()
    assert cause.startswith("path-dependent: ")
    for value, place in WRONG[name][1].items():
        assert f"{value} {place}" in cause


@pytest.mark.parametrize("name", RIGHT)
def test_one_answer_everywhere_gives_no_row_right_or_wrong(records: RunRecords, name: str) -> None:
    assert [row for row in result_rows(records.results) if row["backend"] == name]
    assert not [row for row in records.info["paths"] if row["backend"] == name]
    causes = {row["cause"] for row in discrepancy_rows(records.discrepancies) if row["backend"] == name}
    assert not [cause for cause in causes if "path" in cause]
    assert bool(causes) is name.startswith("always")


@pytest.mark.slow
def test_another_kernel_for_large_arrays() -> None:
    records = run_probes(
        ["large_arrays"], [case for case in probes_of_bytes() if case.inputs[0].shape in ((3,), (67,), (70,), (LARGE,))]
    )
    (row,) = records.info["paths"]
    places = {answer["value"]: answer["paths"][0] for answer in row["answers"]}
    assert places == {"104": f"in arrays of {LARGE} elements", "103": "in arrays of 3 to 70 elements"}
    (cause,) = {row["cause"] for row in discrepancy_rows(records.discrepancies)}
    assert cause == "wrong tie rule: NEAREST_TOWARD_INFINITY"  # what is done there; the row has the rest


def outputs_of(backend: Any, cases: list[Case]) -> dict[str, Array]:
    return {case.id: np.asarray(backend.compile(case.node)(*case.inputs)[0], np.int64).reshape(-1) for case in cases}


def rows_of(backend: Any, cases: list[Case], *always_constant: str) -> list[dict[str, Any]]:
    cases = [case for case in cases if case.size < LARGE and "block_size" not in case.node.attributes]
    return path_rows("it", outputs_of(backend, cases), cases, always_constant=frozenset(always_constant))


def test_no_text_claims_inputs_for_a_backend_that_builds_them_in() -> None:
    """Its nodes without constants are as those with all of them."""
    partly = sample_path_backends.Quantizer("partly", sample_path_backends.one_constant)
    (built_in,) = rows_of(partly, probes_of_bytes(), LINEAR)
    told = {answer["value"]: answer["paths"][0] for answer in built_in["answers"]}
    some = "with some parameters as constants and some as inputs"
    assert told == {"93": "with every parameter as a constant", "94": some}
    whole = [case for case in probes_of_bytes() if len(case.node.baked) in (0, 2)]
    for name in ("per_axis", "short_arrays", "body_8"):
        (row,) = rows_of(getattr(sample_path_backends, name), whole, LINEAR)
        told = str([answer["paths"] for answer in row["answers"]])
        assert "constant" not in told
        assert "input" not in told


def test_what_the_arrangements_do_not_separate_is_named_together() -> None:
    wanted = {1: 2, 0: 0}  # how many constants: both of them per tensor, none per axis
    cases = [
        case
        for case in probes_of_bytes()
        if case.size > 60 and len(case.node.baked) == wanted[case.inputs[1].size == 1]
    ]
    (row,) = rows_of(sample_path_backends.per_axis, cases)
    assert {answer["value"]: answer["paths"][0] for answer in row["answers"]} == {
        "104": "with every parameter as an input, per axis",
        "103": "with every parameter as a constant, per tensor",
    }


@pytest.mark.parametrize(("record", "probe"), OTHERS, ids=[f"{record.id} {probe.label}" for record, probe in OTHERS])
def test_at_quick_a_few_separate_constants_from_granularity(record: OperatorUnderTest, probe: PathProbe) -> None:
    """Every value stands per tensor and with inputs in an array of the size of the one arrangement per axis."""
    cases = [probe_case(record, probe, each) for each in arrangements(record, probe, "quick")]
    axis = axis_of(record)
    laid_out = (3, 96) if axis.whole_blocks else (3, 67)
    shape = operand_shape(probe, laid_out)
    plain = [case for case in cases if case.inputs[probe.into].shape == shape and not case.node.baked]
    assert len(plain) == (2 if axis.attribute or axis.broadcast or axis.channels else 1)
    assert all(len(set(text_codes(case.inputs[probe.into]))) == len(set(probe.values)) for case in plain)


def test_other_deviating_elements_with_these_operands_get_the_cause_too() -> None:
    cases = [case for case in probes_of_bytes() if case.size < LARGE]
    outputs = outputs_of(
        sample_path_backends.body_8, [case for case in cases if "block_size" not in case.node.attributes]
    )
    rows = path_rows("it", outputs, cases)
    elsewhere = replace(cases[0], id="generated/elsewhere")
    assert node_key(elsewhere.node, "y") == rows[0]["node"]
    text = json.dumps(rows[0]["operands"])
    both = {"case": len(cases), "output": "y", "result_type": "uint8", "operands": text}
    wrong = deviating(both | {"index": 5, "got": 94.0, "got_bits": 94}, both | {"index": 6, "got": 9.0, "got_bits": 9})
    found = causes_by_path(rows, [*cases, elsewhere], wrong)
    assert set(found) == {("generated/elsewhere", "y", 5)}


def deviating(*rows: dict[str, Any]) -> DeviatingElements:
    """Deviating elements with these values in the columns that are given."""
    return DeviatingElements(**{name: np.array([row.get(name, 0) for row in rows], DTYPES[name]) for name in DTYPES})


@pytest.mark.slow
def test_reports_list_both_answers(records: RunRecords) -> None:
    run = as_run(records)
    page = render(run, "folder")
    assert "another answer by path" in page
    assert "in the tail of a vector loop of 16" in page
    assert "<dt>contested</dt><dd>" in page  # the tie rule is
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(path_table(run))
    assert "93 with y_scale as an input" in console.export_text()
    assert len(json_summary(run, "folder")["path_dependent"]) == len(WRONG | OPEN)
    itself, own, *_ = story(run)
    console.print(chapter_table(itself))
    assert console.export_text().count("another answer by path") == len(itself.findings) >= len(WRONG | OPEN)
    assert len([one for one in own.findings if "path-dependent" in one.what]) == len(WRONG) - len(NAMED)
    plain = replace(records, info=records.info | {"paths": []})
    assert "another answer by path" not in render(as_run(plain), "folder")


def test_an_operator_of_one_input_has_layouts_without_parameters() -> None:
    cases = [case for case in path_cases(["onnx.Cast"], "full") if case.node.output_type == "int4" and case.size < 80]
    outputs = {case.id: truths_of(case).judged_by.exact.astype(np.int64) for case in cases}
    for case in cases:
        if case.inputs[0].ndim == 1:
            outputs[case.id] = np.where(case.inputs[0] == np.float32(1.5), 1, outputs[case.id])
    (row,) = path_rows("it", outputs, cases)
    told = {answer["value"]: answer["paths"][0] for answer in row["answers"]}
    assert set(told) == {"1", "2"} and "per axis" not in str(told)
