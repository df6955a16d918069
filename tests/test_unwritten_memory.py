"""Memory that nobody wrote is one cause: asked after calls with other results, twice."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from boxed_backend import Backend

from tiebreak.adapters.outcome import NOT_DETERMINISTIC, Outcome
from tiebreak.conformance.running.assembling import explained_records, unexplained_records
from tiebreak.conformance.running.backends import running_backends
from tiebreak.conformance.running.recording import BackendRecords, record
from tiebreak.conformance.running.repeating import asked_again
from tiebreak.conformance.running.unwritten import unwritten_elements
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.reports.records import as_run
from tiebreak.reports.root_cause import UNWRITTEN
from tiebreak.reports.rows import discrepancy_rows
from tiebreak.reports.story import story

OPERATORS = ("onnx.MatMulInteger", "onnx.QLinearMatMul")
Box = Callable[..., tuple[Array, ...]]


def case_of(operator: str, inner: int) -> Case:
    """A product of 2 x inner and inner x 3."""
    a, b = np.full((2, inner), 7, np.uint8), np.full((inner, 3), 9, np.uint8)
    zero, one = np.zeros((), np.uint8), np.ones((), np.float32)
    linear = operator == OPERATORS[1]
    node = make_node(operator, quantized="uint8" if linear else "int32", operands=("uint8", "uint8")[: 1 + linear])
    inputs = (a, one, zero, b, one, zero, one, zero) if linear else (a, b, zero, zero)
    return Case(f"{operator}-{inner}", node, inputs, "typed")


def product(inputs: Sequence[Array]) -> Array:
    sums = inputs[0].astype(np.int32) @ inputs[3 if len(inputs) > 4 else 1].astype(np.int32)
    return np.clip(sums, 0, 255).astype(np.uint8) if len(inputs) > 4 else sums


def leaving() -> Box:
    """Writes nothing where there is nothing to add up."""
    left: dict[bool, Array] = {}

    def box(*inputs: Array) -> tuple[Array, ...]:
        linear = len(inputs) > 4
        if inputs[0].size:
            left[linear] = product(inputs)
        return (left[linear].copy(),)

    return box


def always_seven(*inputs: Array) -> tuple[Array, ...]:
    """Wrong, but by no call before."""
    return ((product(inputs) + (7 if not inputs[0].size else 0)).astype(product(inputs).dtype)[None][0],)


def by_chance() -> Box:
    """Another answer at each call, and none of them the call's before."""
    draw = np.random.default_rng(0)
    return lambda *inputs: ((product(inputs) + draw.integers(1, 9)).astype(product(inputs).dtype),)


def run_of(box: Box) -> BackendRecords:
    records = BackendRecords({"name": "box", "version": "1", "spec": "box"})
    for operator in OPERATORS:
        for inner in (4, 0):
            case = case_of(operator, inner)
            record(records, case, Outcome("ok", box(*case.inputs)))
    records.unwritten = unwritten_elements(Backend(box), records)  # type: ignore[arg-type]
    return records


def test_it_is_one_finding_with_its_cause_and_is_not_asked_for_in_another_process() -> None:
    records = run_of(leaving())
    assert set(records.unwritten) == {f"{operator}-0" for operator in OPERATORS}
    assert not {case.id for case in asked_again(records)} & set(records.unwritten)
    made = unexplained_records([records], records.cases, {"level": "brief", "seed": 0, "command": "tiebreak run"})
    explained = explained_records(made, [records], records.cases)
    assert {row["cause_id"] for row in discrepancy_rows(explained.discrepancies)} == {UNWRITTEN}
    itself, own, *_ = story(as_run(explained))
    (finding,) = itself.findings
    assert set(finding.operators) == set(OPERATORS) and "memory that nobody wrote" in finding.what
    assert not own.findings


def test_a_wrong_constant_and_chance_are_no_memory() -> None:
    for box in (always_seven, by_chance()):
        assert not run_of(box).unwritten


LIBRARY = """
import ctypes
import os

import numpy as np

allocator = ctypes.CDLL(None)
allocator.malloc.restype = ctypes.c_void_p


class Box:
    name, version, operators = "box", "1", {"onnx.DynamicQuantizeLinear"}

    def compile(self, node):
        return self.run

    def run(self, x):
        return np.zeros(x.shape, np.uint8), np.float32(0), np.uint8(ZERO_POINT)


def new_memory():
    return (ctypes.c_uint8 * 1).from_address(allocator.malloc(3000))[0]
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators fill nothing")
@pytest.mark.parametrize(("zero_point", "known"), [("new_memory()", True), ("os.getpid() % 251", False), ("0", False)])
def test_outputs_that_change_are_memory_that_nobody_wrote(tmp_path: Path, zero_point: str, known: bool) -> None:
    """The memory is the call's own, so other calls leave nothing there: it is filled before."""
    path = tmp_path / "boxes.py"
    path.write_text(LIBRARY.replace("ZERO_POINT", zero_point), encoding="utf-8")
    case = Case("empty", make_node("onnx.DynamicQuantizeLinear"), (np.zeros(0, np.float32),), "typed")
    change = Outcome("error", message="outputs change: output 2: 0xca, then 0xe7", fault=NOT_DETERMINISTIC)
    with running_backends([f"{path}:Box"], time_limit=30, memory_limit=512, in_process=False) as (backend,):
        records = BackendRecords({"name": backend.name, "version": "1", "spec": backend.spec})
        record(records, case, change)
        records.unwritten = unwritten_elements(backend, records)
    assert ("empty" in records.unwritten) == known
    made = unexplained_records([records], [case], {"level": "brief", "seed": 0, "command": "tiebreak run"})
    (finding,) = story(as_run(explained_records(made, [records], [case])))[0].findings
    assert ("memory that nobody wrote" in finding.what) == known
