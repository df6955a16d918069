"""A library that leaves memory as it was where sums have no products: that hides none of its other causes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from causes_of_records import causes_of

from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.operators.onnx_qlinear_matmul_mistakes import MISTAKES
from tiebreak.conformance.running.backends import running_backends
from tiebreak.conformance.running.recording import BackendRecords, record
from tiebreak.conformance.running.repeating import asked_again, repeated_rows
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden.builder import file_name
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.problem import Array
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

OPERATOR, CAUSE = "onnx.QLinearMatMul", "ignores:y_scale"
UNSCALED = next(run for cause, run in MISTAKES if cause.id == CAUSE)
NODE = make_node(OPERATOR, quantized="int8", operands=("int8", "int8"))
ROWS = 40


def without_products(columns: int) -> Case:
    """Matrices of 40 x 0 and 0 x columns."""
    a, b = np.zeros((ROWS, 0), np.int8), np.zeros((0, columns), np.int8)
    zero, one = np.zeros((), np.int8), np.array(1, np.float32)
    return Case(f"none-{columns}", NODE, (a, one, zero, b, one, zero, one, zero), "typed")


def unwritten(node: Node, *inputs: Array) -> tuple[Array, ...]:
    """Leaves y_scale out; without products what somebody else has left."""
    if inputs[0].shape[-1]:
        return UNSCALED(node, *inputs)
    left = np.random.default_rng(inputs[3].shape[1]).integers(-128, 128, (ROWS, inputs[3].shape[1]))
    return (left.astype(np.int8),)


def test_memory_that_is_not_written_hides_no_cause() -> None:
    path: Any = VECTORS / file_name(OPERATOR, "float32", "int8")
    near = [case for case in indexed_cases(path) if "near-rational" in case.id and case.id.endswith("int8-int8")]
    alone, beside = causes_of(unwritten, near), causes_of(unwritten, [*near, without_products(9), without_products(5)])
    named = sentence_of(CAUSE)
    assert set(alone) == {named} and alone[named] > 50
    assert set(beside) == {named, "unexplained"} and beside[named] == alone[named]
    assert beside["unexplained"] > 500


def records_of(run: Callable[..., Any], cases: list[Case]) -> BackendRecords:
    records = BackendRecords({"name": "it", "version": "1", "spec": "it"})
    for case in cases:
        record(records, case, Outcome("ok", run(case.node, *case.inputs)))
    return records


def two_answers(node: Node, *inputs: Array) -> tuple[Array, ...]:
    """As a vector loop and its tail may differ."""
    return (np.resize(np.array([5, 5, 5, 6], np.int8), (ROWS, inputs[3].shape[1])),)


def test_cases_with_answers_at_random_are_asked_again() -> None:
    cases = [without_products(columns) for columns in (3, 9, 5)]
    assert [case.id for case in asked_again(records_of(unwritten, cases))] == ["none-3", "none-9", "none-5"]
    assert [case.id for case in asked_again(records_of(two_answers, cases))] == ["none-3"], "the first of its types"


BOX = """
import os
import numpy as np

class Box:
    name, version, operators = "box", "1", {"onnx.QLinearMatMul"}

    def compile(self, node):
        return self.run

    def run(self, a, a_scale, a_zero_point, b, *others):
        shape = (a.shape[0], b.shape[1])
        left = np.random.default_rng(SEED).integers(-128, 128, shape).astype(np.int8)
        return (left if b.shape[1] > 4 else np.zeros(shape, np.int8),)
"""


@pytest.mark.parametrize(("seed", "differ"), [("os.getpid()", 2), ("7", 0)])
def test_memory_that_nobody_wrote_is_another_in_another_process(tmp_path: Path, seed: str, differ: int) -> None:
    """The first case, the one of its types, has the right answer: without random ones nothing would differ."""
    path = tmp_path / "boxes.py"
    path.write_text(BOX.replace("SEED", seed), encoding="utf-8")
    cases = [without_products(columns) for columns in (3, 9, 5)]
    with running_backends([f"{path}:Box"], time_limit=30, memory_limit=512, in_process=False) as (backend,):
        records = BackendRecords({"name": backend.name, "version": "1"})
        for case, outcome in zip(cases, backend.run_batch(cases, lambda case, outcome: None), strict=True):
            record(records, case, outcome)
        (row,) = repeated_rows(backend, records)
    assert (row["cases"], row["differ"], row["first"]) == (3, differ, "none-9" if differ else "")
