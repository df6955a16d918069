"""onnx.DequantizeLinear to bfloat16 as OpenVINO does it: one cause for all that it gets wrong."""

from __future__ import annotations

import struct
from collections import Counter
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from causes_of_records import causes_of

from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.registry import load_backend
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden.builder import file_name
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.problem import Array
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

HALF_FOR_ODD = sentence_of("result-half-for-odd-bfloat16")


def to_bfloat16(value: float) -> int:
    """The upper half of a float32, after half a unit was added if its last bit is 1."""
    (word,) = struct.unpack("<I", struct.pack("<f", value))
    return int(word + ((word >> 16 & 1) << 15)) >> 16 & 0xFFFF


def half_for_odd(node: Node, x: Array, scale: Array, *zero: Array) -> tuple[Array, ...]:
    single = np.float32
    less = x.astype(single) - (zero[0].astype(single) if zero else single(0))
    with np.errstate(over="ignore"):
        product = less * scale.astype(single)
    words = [to_bfloat16(value) for value in product.reshape(-1).tolist()]
    return (np.array(words, np.uint16).view(ml_dtypes.bfloat16).reshape(x.shape),)


def cases_of(kind: str) -> list[Case]:
    """Those of one scale that has a value."""
    found = indexed_cases(VECTORS / file_name("onnx.DequantizeLinear", kind, "bfloat16"))
    return [case for case in found if case.inputs[1].ndim == 0 and np.all(finite(case.inputs[1]))]


def finite(scale: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.isfinite(scale.astype(float))


def share_of_the_cause(run: Any, kind: str) -> tuple[int, int]:
    counts: Counter[str] = causes_of(run, cases_of(kind))
    return counts[HALF_FOR_ODD], counts.total()


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize("kind", ["int8", "uint4", "float8_e4m3fn"])
def test_adding_half_to_odd_results_is_one_cause(kind: str) -> None:
    named, wrong = share_of_the_cause(half_for_odd, kind)
    assert named == wrong > 5


def by_instruction(node: Node, x: Array, scale: Array, *zero: Array) -> tuple[Array, ...]:
    """The scale rounded to bfloat16, the product rounded right; without subnormals, as AVX512_BF16 does it."""
    single = np.float32
    less = x.astype(single) - (zero[0].astype(single) if zero else single(0))
    with np.errstate(over="ignore", under="ignore"):
        product = less * scale.astype(ml_dtypes.bfloat16).astype(single)
    result = product.astype(ml_dtypes.bfloat16)
    flushed = np.where(np.abs(product) < single(2.0**-126), np.copysign(single(0), product), result.astype(single))
    return (flushed.astype(ml_dtypes.bfloat16),)


def test_it_is_openvinos() -> None:
    """Each of its results in bfloat16 from int8 is the wrong box's above, or the instruction's if there is one."""
    has_instruction = "avx512_bf16" in instruction_sets().split()
    model = by_instruction if has_instruction else half_for_odd
    backend, wrong = load_backend("openvino"), 0
    for case in cases_of("int8"):
        (found,), (meant,) = backend.compile(case.node)(*case.inputs), model(case.node, *case.inputs)
        assert found.view(np.uint16).tolist() == meant.view(np.uint16).tolist(), case.id
        wrong += int((found != right(case)).sum())
    assert wrong > (30 if has_instruction else 100)


def right(case: Case) -> Array:
    x, scale, *zero = (array.astype(float) for array in case.inputs)
    with np.errstate(over="ignore"):
        return np.asarray(((x - sum(zero)) * scale).astype(ml_dtypes.bfloat16))
