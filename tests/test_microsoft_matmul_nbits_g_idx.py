"""MatMulNBits' g_idx, which is left off: what the schema of ONNX Runtime says of it, and what its CPU kernel does."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper
from onnxruntime.capi import onnxruntime_pybind11_state as state

from tiebreak.golden.operators.microsoft_matmul_nbits import EVERY_INPUT, FORMS
from tiebreak.golden.packed_weights import packed
from tiebreak.golden.problem import Array

OTHER_BLOCKS = [0] * 8 + [1] * 16 + [0] * 8  # no block is one of B's
SCALES = np.array([[1, 2]], np.float32)


def with_g_idx(bits: int, codes: Array, g_idx: list[int]) -> Array:
    """Y of the CPU kernel for an identity matrix: the 32 dequantized weights of one column, in blocks of 16."""
    kinds: dict[str, Any] = {"A": TensorProto.FLOAT, "B": TensorProto.UINT8, "scales": TensorProto.FLOAT}
    b = followed_by_nines(packed(codes.reshape(1, 2, 16), bits))
    feeds = {"A": np.eye(32, dtype=np.float32), "B": b, "scales": SCALES, "g_idx": np.array(g_idx, np.int32)}
    given = [
        helper.make_tensor_value_info(name, kinds.get(name, TensorProto.INT32), a.shape) for name, a in feeds.items()
    ]
    node = helper.make_node("MatMulNBits", ["A", "B", "scales", "", "g_idx"], ["Y"], domain="com.microsoft", K=32, N=1,
                            bits=bits, block_size=16)  # fmt: skip
    y = helper.make_tensor_value_info("Y", TensorProto.FLOAT, (32, 1))
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(helper.make_graph([node], "graph", given, [y]), opset_imports=opsets, ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, feeds)[0]).reshape(-1)


def followed_by_nines(b: Array) -> Array:
    """The same bytes, with as many behind them whose both halves are 9, so that what is read there is our own."""
    return np.concatenate([b, np.full_like(b, 0x99)])[:1]


def test_the_schema_says_no_shape_and_no_meaning() -> None:
    (schema,) = (one for one in state.get_all_operator_schema() if one.name == "MatMulNBits")
    assert tuple(one.name for one in schema.inputs) == EVERY_INPUT
    assert schema.inputs[EVERY_INPUT.index("g_idx")].description == "group_idx. This input is deprecated"
    assert not any("g_idx" in form for form in FORMS)


def test_with_4_bits_it_names_the_block_whose_scale_a_row_has() -> None:
    found = with_g_idx(4, np.full(32, 9), OTHER_BLOCKS)
    assert found.tolist() == SCALES[0][OTHER_BLOCKS].tolist()


def test_weights_of_2_bits_are_read_as_4_and_past_their_end() -> None:
    """(3 - 2) * 1 and (3 - 2) * 2 by the document; (15 - 8) * 1 and, of the bytes behind B, (9 - 8) * 2 here."""
    found = with_g_idx(2, np.full(32, 3), [0] * 16 + [1] * 16)
    assert found.tolist() == [7] * 16 + [2] * 16
    found = with_g_idx(2, np.arange(32) % 4, [0] * 16 + [1] * 16)
    assert found[16:].tolist() == [2] * 16


def test_weights_of_8_bits_are_refused() -> None:
    with pytest.raises(state.Fail, match="2b and 4b"):
        with_g_idx(8, np.full(32, 129), OTHER_BLOCKS)
