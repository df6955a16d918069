"""Causes of real results: what runtimes were seen to do is named, and by one name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from audited_boxes import fake_of_a_compiler

from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.by_semantics import Engine
from tiebreak.conformance.naming import with_causes
from tiebreak.conformance.run import BackendRecords, evidence_of, record
from tiebreak.conformance.suite.tensorflow_fake_quant import cast_first
from tiebreak.conformance.truths import TruthCache
from tiebreak.golden.builder import file_name
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.vectorfile import VECTORS, read_cases

REBUILT = "scale and shift computed beforehand, output limits rebuilt"
Box = Callable[[Case], Array]


def compiled(case: Case) -> Array:
    x, *limits = case.inputs
    return np.asarray(fake_of_a_compiler(x, *(np.broadcast_to(limit, x.shape) for limit in limits)))


def cast(case: Case) -> Array:
    (result,) = cast_first(case.node, *case.inputs)
    return np.asarray(result)


@pytest.mark.parametrize(
    ("operator", "box", "attributes", "cause"),
    [
        ("openvino.FakeQuantize", compiled, {"levels": 256}, REBUILT),
        ("tensorflow.FakeQuantWithMinMaxVarsPerChannel", cast, {}, "casts to int64 before clamping, which overflows"),
    ],
)  # fmt: skip
def test_most_of_what_differs_has_its_name(operator: str, box: Box, attributes: dict[str, Any], cause: str) -> None:
    counts = named(operator, box, attributes)
    assert sum(count for text, count in counts.items() if text.startswith(cause)) >= 0.8 * counts.total() > 0, counts


def named(operator: str, box: Box, attributes: dict[str, Any]) -> Counter[str]:
    records = BackendRecords({"name": "it", "version": "1", "spec": "it", "operators": [operator]})
    truths, cases = TruthCache(), {}
    for case in read_cases(VECTORS / file_name(operator, "float32", "float32"), trusted=True):
        if all(case.node.attributes.get(name) == value for name, value in attributes.items()):
            with np.errstate(all="ignore"):
                result = box(case).reshape(case.inputs[0].shape)
            record(records, case, Outcome("ok", (result.astype(np.float32),)), truths)
            cases[case.id] = case
    engine = Engine(cases, records.outputs)
    return Counter(row["cause"] for row in with_causes(evidence_of(records), rename=engine.rename))
