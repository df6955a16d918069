"""What documents say of round(x / scale) + zero_point. Each sentence is ours; each fact is in the text at `url`."""

from __future__ import annotations

from dataclasses import replace

from tiebreak.conformance.semantics.documents import OWN, STEPS, Allowed, Authority, SpecialRule
from tiebreak.conformance.semantics.precisions import EXACT
from tiebreak.conformance.semantics.quantize_facets import AFTER, BEFORE
from tiebreak.conformance.semantics.quantize_saturation import SATURATE
from tiebreak.conformance.semantics.quantize_scaling import DIVIDE, RANGE, RECIPROCAL
from tiebreak.conformance.semantics.round_modes import FLOOR, MODES
from tiebreak.conformance.semantics.subnormals import KEPT
from tiebreak.golden.rounding import EVEN, NEAREST, ROUND_MODES

TO_EVEN, AWAY, UP = (MODES[name] for name in (EVEN, "ROUND_NEAREST_TOWARD_INFINITY", "ROUND_NEAREST_UPWARD"))
DOWN, TO_ZERO = MODES["ROUND_NEAREST_DOWNWARD"], MODES["ROUND_NEAREST_TOWARD_ZERO"]
DIVIDED: Allowed = {"precision": STEPS, "scaling": (DIVIDE,), "subnormals": (KEPT,)}
SATURATED: Allowed = {"saturation": (SATURATE,)}
ROUNDED_FIRST: Allowed = {**DIVIDED, **SATURATED, "zero_point": (AFTER,), "round_mode": (TO_EVEN,)}
ADDED_FIRST: Allowed = {**ROUNDED_FIRST, "zero_point": (BEFORE,)}
NO_PRECISION = "the precision of the division"

ONNX = Authority(
    id="onnx",
    title="ONNX, QuantizeLinear",
    version="operator sets 10 to 28",
    url="https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html",
    says="x / y_scale goes to the nearest integer, ties to even; y_zero_point is added; the sum saturates.",
    open="Before operator set 23 the type of the division: x's or a wider one is accepted.",
    allows=(ROUNDED_FIRST,),
)
NGRAPH = Authority(
    id="ngraph",
    title="nGraph, Quantize",
    version="0.26, form with zero_point",
    url="https://github.com/NervanaSystems/ngraph/blob/v0.26.0/doc/sphinx/source/ops/quantize.rst",
    says="input / scale is rounded in one of nine modes, which an attribute names; zero_point is added.",
    open="What a result out of range becomes, and the precision of the division.",
    allows=({**DIVIDED, "zero_point": (AFTER,)},),
    modes=tuple(ROUND_MODES),
)
NGRAPH_OFFSET = replace(
    NGRAPH,
    id="ngraph-offset",
    version="older form with offset",
    url="https://github.com/NervanaSystems/ngraph/blob/cecf750a997b408e9113222988132cfa76faf033/doc/sphinx/source/ops/"
    "quantize.rst",
    says="The same with a third input called offset, which is added to the rounded quotient.",
)
STABLEHLO = Authority(
    id="stablehlo",
    title="StableHLO, uniform_quantize",
    version="since 2024 (pull request 2234)",
    url="https://openxla.org/stablehlo/spec#uniform_quantize",
    says="In the expressed type, x / scale plus the zero point is clamped, then rounded to nearest, ties to even.",
    open="Numerical accuracy: the document guarantees none, so an exact sum is accepted, too.",
    allows=(ADDED_FIRST,),
)
STABLEHLO_2023 = Authority(
    id="stablehlo-2023",
    title="StableHLO, uniform_quantize",
    version="2023 (pull request 1496)",
    url="https://github.com/openxla/stablehlo/pull/1496",
    says="operand / scale is rounded to nearest, ties to even; then the zero point is added and the sum clamped.",
    open="Numerical accuracy, and the types of the steps, so what a sum out of range gives (issue 1627).",
    allows=({**DIVIDED, "zero_point": (AFTER,), "round_mode": (TO_EVEN,)},),
)
TFLITE = Authority(
    id="tflite",
    title="TensorFlow Lite, 8-bit quantization specification",
    version="int8",
    url="https://www.tensorflow.org/lite/performance/quantization_spec",
    says="real_value = (int8_value - zero_point) * scale.",
    open="How a real value is rounded, when the zero point is added, what is out of range: either neighbour will do.",
    allows=({**DIVIDED, "zero_point": (AFTER, BEFORE), "round_mode": tuple(MODES.values())},),
    output_types=("int8",),
    relation=True,
)
TORCH_FAKE = Authority(
    id="torch-function",
    title="PyTorch, torch.fake_quantize_per_tensor_affine",
    version="docstring of 2.13",
    url="https://docs.pytorch.org/docs/stable/generated/torch.fake_quantize_per_tensor_affine.html",
    says="std::nearby_int(input / scale) + zero_point, clamped to quant_min and quant_max.",
    open=f"{NO_PRECISION[0].upper()}{NO_PRECISION[1:]}.",
    allows=(ROUNDED_FIRST,),
    input_types=("float32",),
)
TORCH_MODULE = Authority(
    id="torch-module",
    title="PyTorch, torch.ao.quantization.FakeQuantize",
    version="docstring of 2.13",
    url="https://docs.pytorch.org/docs/stable/generated/torch.ao.quantization.fake_quantize.FakeQuantize.html",
    says="clamp(round(x / scale + zero_point), quant_min, quant_max).",
    open=f"Which way round takes ties, and {NO_PRECISION}.",
    allows=({**ADDED_FIRST, "round_mode": tuple(MODES[name] for name in NEAREST)},),
)
TORCH_QUANTIZE = Authority(
    id="torch-quantize",
    title="PyTorch, torch.quantize_per_tensor",
    version="docstring of 2.13",
    url="https://docs.pytorch.org/docs/stable/generated/torch.quantize_per_tensor.html",
    says="It names a scale and the integer that stands for 0, with one example, but has no formula.",
    open="Everything else.",
)
OPENVINO = Authority(
    id="openvino-as-quantize",
    title="OpenVINO, FakeQuantize",
    version="FakeQuantize-1, with the limits that scale and zero point stand for",
    url="https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/quantization/"
    "fake-quantize-1.html",
    says="round((x - input_low) / (input_high - input_low) * (levels - 1)); x beyond the limits gives an end.",
    open=f"Which way round takes ties, and {NO_PRECISION}.",
    allows=(
        {**ADDED_FIRST, "precision": (EXACT,), "round_mode": (TO_EVEN, UP, DOWN)},  # the level is never negative
        {**ADDED_FIRST, "precision": (OWN,), "scaling": (RANGE,), "round_mode": (TO_EVEN, AWAY, TO_ZERO, FLOOR)},
    ),
    specials=(SpecialRule({"positive_infinity": ("highest",), "negative_infinity": ("lowest",)}),),
)
WEBNN = Authority(
    id="webnn",
    title="WebNN, quantizeLinear",
    version="draft of 2025",
    url="https://www.w3.org/TR/webnn/#api-mlgraphbuilder-quantizelinear",
    says="clamp(roundToNearestEvens(input / scale) + zeroPoint, 0, 255).",
    open=f"The range of types other than uint8, taken to be their own; {NO_PRECISION}.",
    allows=(ROUNDED_FIRST,),
)
PADDLE_EVEN = Authority(
    id="paddle-round-type-0",
    title="PaddlePaddle, quantize_linear, round_type 0",
    version="PaddleSlim's introduction to quantization, 2023",
    url="https://github.com/PaddlePaddle/PaddleSlim/blob/3f687a23c1385f88a14b71bb3c8249453964e66d/docs/zh_cn/tutorials/quant/"
    "Quantization_intro.md",
    says="s * x with s = (2^(b - 1) - 1) / range is rounded to nearest, ties to even, and clipped to b bits.",
    open="What a zero point other than 0 does; whether s, which is 1 / our scale, is rounded before the product.",
    allows=({**ROUNDED_FIRST, "scaling": (DIVIDE, RECIPROCAL)},),
    output_types=("int4", "int8", "int16"),
    symmetric=True,
)
PADDLE_AWAY = replace(
    PADDLE_EVEN,
    id="paddle-round-type-1",
    title="PaddlePaddle, quantize_linear, round_type 1",
    says="The same with ties away from zero.",
    allows=({**ROUNDED_FIRST, "scaling": (DIVIDE, RECIPROCAL), "round_mode": (AWAY,)},),
)
TF_UNIFORM = Authority(
    id="tf-uniform-quantize",
    title="TensorFlow, tf.raw_ops.UniformQuantize",
    version="docstring of 2.21",
    url="https://www.tensorflow.org/api_docs/python/tf/raw_ops/UniformQuantize",
    says="floor(input_data * (1.0f / scale) + 0.5f) + zero_point.",
    open="Its minimum and maximum are arguments, taken to be the type's. Exact arithmetic is accepted, too.",
    allows=(
        {**ROUNDED_FIRST, "precision": (OWN,), "scaling": (RECIPROCAL,), "round_mode": (FLOOR,)},
        {**ROUNDED_FIRST, "precision": (EXACT,), "round_mode": (UP,)},
    ),
    input_types=("float32",),
    output_types=("int8", "int32"),
)
OF_QUANTIZE = (
    *(ONNX, NGRAPH, NGRAPH_OFFSET, STABLEHLO, STABLEHLO_2023, TFLITE, TORCH_FAKE, TORCH_MODULE, TORCH_QUANTIZE),
    *(OPENVINO, WEBNN, PADDLE_EVEN, PADDLE_AWAY, TF_UNIFORM),
)
