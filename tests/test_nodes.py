"""Nodes are what was asked for or refused in one line; nothing that is asked for is dropped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node, node_from_key
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import OPERATORS

UP = {"round_mode": "ROUND_UP"}


@pytest.mark.parametrize(
    ("operator", "asked", "message"),
    [
        ("ngraph.Quantize", {"attributes": UP | {"type": "int8"}, "quantized": "int4"}, "type is int8"),
        ("ngraph.Dequantize", {"attributes": {"type": "float16"}, "real": "float64"}, "type is float16"),
        ("tensorflow.QuantizeV2", {"attributes": {"T": "int8"}, "quantized": "uint8"}, "T is int8"),
        ("tensorflow.Dequantize", {"attributes": {"dtype": "float32"}, "real": "bfloat16"}, "dtype is float32"),
        ("ngraph.Quantize", {"attributes": UP, "zero_point": False}, "can't be left off"),
        ("ngraph.Quantize", {"attributes": UP, "form": 2}, "form 2 is not one of 0 to 1"),
        ("ngraph.Quantize", {"attributes": UP, "form": -1}, "form -1"),
        ("ngraph.Quantize", {"attributes": UP, "form": "offset"}, "form 'offset'"),
        ("ngraph.Quantize", {"attributes": UP, "opset": 13}, "only ONNX operators have one"),
        ("openvino.FakeQuantize", {"attributes": {"levels": 4}, "scale": "float32"}, "no type of its own"),
        ("onnx.QuantizeLinear", {"opset": 9}, "not one of 10 to 28"),
        ("onnx.QuantizeLinear", {"attributes": {"block_size": 10**30}}, "not a block size"),
        ("ngraph.Quantize", {"attributes": UP | {"axes": None}}, "not a list of axis positions"),
        ("ngraph.Quantize", {"attributes": UP | {"axes": "01"}}, "not a list of axis positions"),
    ],
)
def test_what_contradicts_itself_or_is_not_there_is_refused(operator: str, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        make_node(operator, **asked)
    assert "\n" not in str(caught.value)


def test_the_attribute_that_names_the_outputs_type_decides_it() -> None:
    assert make_node("ngraph.Quantize", attributes=UP | {"type": "int8"}).output_type == "int8"
    assert make_node("ngraph.Dequantize", attributes={"type": "float16"}).output_type == "float16"
    assert make_node("tensorflow.QuantizeV2", attributes={"T": "int16"}).output_type == "int16"
    assert make_node("onnx.QuantizeLinear", attributes={"output_dtype": "int8"}).output_type == "int8"


def test_numpy_integers_are_integers_and_types_not_supplied_are_left_off() -> None:
    assert make_node("ngraph.Quantize", attributes=UP | {"axes": np.array([1, 0])}).attributes["axes"] == (0, 1)
    assert make_node("onnx.QuantizeLinear", attributes={"axis": np.int64(0)}).attributes["axis"] == 0
    assert dict(make_node("onnx.QuantizeLinear", attributes={"output_dtype": 0, "precision": 0}).attributes) == {}


def test_an_operator_set_means_the_last_version_up_to_it() -> None:
    assert make_node("onnx.QuantizeLinear", opset=17).opset == 13
    assert make_node("onnx.DequantizeLinear", opset=22).opset == 21


@pytest.mark.parametrize("operator", list(OPERATORS))
def test_a_key_gives_the_node_back(operator: str) -> None:
    required: dict[str, dict[str, Any]] = {"ngraph.Quantize": UP, "openvino.FakeQuantize": {"levels": 16}}
    required["tosa.RESCALE"] = {"scale32": True, "rounding_mode": "DOUBLE_ROUND", "per_channel": False}
    bounds = {"quantization_min_val": -100, "quantization_max_val": 100}
    required |= {"tensorflow.UniformQuantize": bounds, "tensorflow.UniformDequantize": bounds}
    both = {f"{side}_{name}": value for side in ("input", "output") for name, value in bounds.items()}
    required["tensorflow.UniformRequantize"] = both
    required["com.microsoft.MatMulNBits"] = {"K": 16, "N": 1, "block_size": 16}
    required["torch.quantize_per_channel"] = {"axis": 1}
    required["torch.fake_quantize_per_tensor_affine"] = {"quant_min": -8, "quant_max": 7}
    required["torch.fake_quantize_per_channel_affine"] = {"quant_min": -8, "quant_max": 7, "axis": 1}
    node = make_node(operator, attributes=required.get(operator, {}))
    again = node_from_key(node.key)
    assert again == node
    assert again.key == node.key


def judged(operator: str, node: dict[str, Any], inputs: tuple[Any, ...], got: float) -> str:
    made = make_node(operator, **node)
    arrays = tuple(np.array(v).astype(t.dtype) for v, t in zip(inputs, made.inputs, strict=True))
    case = Case("c", made, arrays)
    return judge_outputs((np.array(got).astype(made.outputs[0].dtype),), truths_of(case)).verdict


@pytest.mark.parametrize(
    ("got", "verdict"), [(50000.0, "exact"), (np.inf, "working-precision"), (1.0, "deviates"), (-np.inf, "deviates")]
)
def test_a_step_that_overflows_is_no_licence(got: float, verdict: str) -> None:
    """100000 is infinite in float16; the exact product is not."""
    node = {"real": "float16", "quantized": "int32"}
    assert judged("ngraph.Dequantize", node, (100000, 0.5, 0), got) == verdict


@pytest.mark.parametrize(("got", "verdict"), [(0.25, "exact"), (np.nan, "working-precision"), (1.0, "deviates")])
def test_levels_beyond_the_type_are_no_licence(got: float, verdict: str) -> None:
    node = {"real": "float16", "attributes": {"levels": 65536}}
    assert judged("openvino.FakeQuantize", node, (0.25, 0, 1, 0, 1), got) == verdict
