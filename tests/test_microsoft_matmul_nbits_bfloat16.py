"""MatMulNBits of float32 where OpenVINO's processor multiplies bfloat16: both operands are rounded to it."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from causes_of_records import causes_of

from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.registry import load_backend
from tiebreak.conformance.operators.microsoft_matmul_nbits_mistakes import MISTAKES
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden.builder import file_name
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators.microsoft_matmul_nbits import bias_of, weights_of
from tiebreak.golden.problem import Array
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

OPERATOR, KEY = "com.microsoft.MatMulNBits", "operands-in:bfloat16"
MISTAKE = next(run for cause, run in MISTAKES if cause.id == KEY)


def bfloat16(value: float) -> float:
    return float(np.float32(value).astype(ml_dtypes.bfloat16))


def in_bfloat16(node: Any, *inputs: Array) -> tuple[Array, ...]:
    """A loop over elements in Python's numbers; their products are exact."""
    a, weights, bias = inputs[0], weights_of(node, inputs), bias_of(node, inputs)
    rows, count = a.reshape(-1, a.shape[-1]).tolist(), len(weights.codes)
    y = np.zeros((len(rows), count), np.float32)
    for column in range(count):
        own = []
        for k, code in enumerate(weights.codes[column].tolist()):
            block = k // node.value("block_size")
            steps = np.float32(code) - np.float32(weights.points[column, block])
            own.append(bfloat16(steps * np.float32(weights.scales[column, block])))
        for row, numbers in enumerate(rows):
            total = np.float32(sum(bfloat16(one) * other for one, other in zip(numbers, own, strict=True)))
            y[row, column] = total if bias is None else total + np.float32(bias[column])
    return (y.reshape(*a.shape[:-1], count),)


def cases_of(*names: str) -> list[Case]:
    found = indexed_cases(VECTORS / file_name(OPERATOR, "float32", "float32"))
    return [case for case in found if any(f"/{name}" in case.id for name in names) and case.size]


def test_a_backend_that_rounds_both_operands_is_named_so() -> None:
    cases = cases_of("numbers-", "bias-4-", "weights-4")
    assert len(cases) > 4
    assert set(causes_of(in_bfloat16, cases)) == {sentence_of(KEY)}


@pytest.mark.skipif("avx512_bf16" not in instruction_sets().split(), reason="this processor has no AVX512_BF16")
def test_openvino_rounds_both_operands() -> None:
    """Where one block has a bias OpenVINO has other steps."""
    backend, cases = load_backend("openvino-as-shipped"), cases_of("numbers-", "bias-4-", "weights-")
    assert len(cases) > 8
    for case in cases:
        (found,), (given,) = backend.compile(case.node)(*case.inputs), MISTAKE(case.node, *case.inputs)
        assert found.tolist() == given.tolist(), case.id


def test_other_types_have_other_steps() -> None:
    (case, *_) = indexed_cases(VECTORS / file_name(OPERATOR, "float16", "float16"))
    with pytest.raises(ValueError, match="other"):
        MISTAKE(case.node, *case.inputs)
