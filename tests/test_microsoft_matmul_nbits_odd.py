"""MatMulNBits in bfloat16 that rounds odd numbers alone: the cause of such boxes, of no others, and OpenVINO's bits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from causes_of_records import causes_of

from tiebreak.conformance.operators.microsoft_matmul_nbits_odd import HalfForOdd
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden.builder import file_name
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators.microsoft_matmul_nbits import bias_of, weights_of
from tiebreak.golden.problem import Array
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

OPERATOR = "com.microsoft.MatMulNBits"
ODD = sentence_of("half-for-odd-bfloat16")
FLUSHES = sentence_of("half-for-odd-bfloat16 + flushes-scales")


def half_of_odd(bits: int) -> int:
    return (bits + 0x8000 * (bits >> 16 & 1)) >> 16


def cut_off(bits: int) -> int:
    return bits >> 16


def number(value: np.float32, narrow: Callable[[int], int]) -> np.float32:
    """A float32 that a conversion of bits made bfloat16, as float32."""
    bits = narrow(int(np.asarray(value, np.float32).view(np.uint32)))
    return np.float32(np.asarray(bits << 16, np.uint32).view(np.float32))


def narrowing(narrow: Callable[[int], int], node: Any, *inputs: Array) -> tuple[Array, ...]:
    """A loop over elements; each has one product that is not zero. With a bias and one block the scale comes last."""
    a, weights, bias = inputs[0].astype(np.float32), weights_of(node, inputs), bias_of(node, inputs)
    rows = a.reshape(-1, a.shape[-1])
    y = np.zeros((len(rows), len(weights.codes)), ml_dtypes.bfloat16)
    last = bias is not None and weights.scales.shape[1] == 1
    for row, column in product(range(y.shape[0]), range(y.shape[1])):
        total = np.float32(0)
        for k in np.flatnonzero(rows[row]).tolist():
            block = k // node.value("block_size")
            steps = np.float32(weights.codes[column, k]) - np.float32(weights.points[column, block])
            scale = np.float32(weights.scales[column, block])
            weight = steps if last else number(steps * scale, narrow)
            total += rows[row, k] * weight * (scale if last else np.float32(1))
        shift = np.float32(0) if bias is None else np.float32(bias[column])
        y[row, column] = number(total + shift, narrow)
    return (y.reshape(*inputs[0].shape[:-1], y.shape[1]),)


def vectors(kind: str) -> list[Case]:
    """Vectors of single products of ordinary numbers."""
    return [
        case
        for case in indexed_cases(VECTORS / file_name(OPERATOR, kind, kind))
        if case.size and ordinary(case.inputs[0]) and ordinary(case.inputs[2]) and single(case.inputs[0])
    ]


def ordinary(array: Array) -> bool:
    sizes = np.abs(array.astype(np.float64))
    return bool(np.all((sizes == 0) | ((sizes > 1e-6) & (sizes < 1e6))))


def single(a: Array) -> bool:
    return bool(((a != 0).sum(axis=-1) < 2).all())


def test_half_a_unit_for_odd_numbers_gets_its_cause_and_no_other() -> None:
    found = causes_of(partial(narrowing, half_of_odd), vectors("bfloat16"))
    assert set(found) == {ODD} and found.total() > 100


def test_numbers_that_are_cut_off_do_not_get_it() -> None:
    found = causes_of(partial(narrowing, cut_off), vectors("bfloat16"))
    assert found.total() > 100 and not set(found) & {ODD, FLUSHES}


def test_other_types_have_nothing_to_mistake() -> None:
    for kind in ("float16", "float32"):
        case = vectors(kind)[0]
        with pytest.raises(ValueError, match="nothing to mistake"):
            HalfForOdd()(case.node, *case.inputs)


def test_weights_that_overflow_are_predicted_by_nothing() -> None:
    cases = indexed_cases(VECTORS / file_name(OPERATOR, "bfloat16", "bfloat16"))
    (case,) = (case for case in cases if case.id.endswith("/largest-scale"))
    with pytest.raises(ValueError, match="overflow"):
        HalfForOdd()(case.node, *case.inputs)


def test_openvino_gives_these_bits_on_a_processor_without_bfloat16() -> None:
    openvino = pytest.importorskip("tiebreak.adapters.openvino")
    backend, compared = openvino.OpenVino(), 0
    if "bf16" in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
        pytest.skip("this processor has bfloat16")
    for case in vectors("bfloat16"):
        if any(mark in case.id for mark in ("/bias-columns", "/bias-4-real", "/weights-4-16-uint8")):
            (found,) = backend.compile(case.node)(*case.inputs)
            (given,) = HalfForOdd(flushes=True)(case.node, *case.inputs)
            assert found.view(np.uint16).tolist() == given.view(np.uint16).tolist(), case.id
            compared += 1
    assert compared == 3
