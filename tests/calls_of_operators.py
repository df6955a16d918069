"""Calls of each operator beside those that its document excludes: allowed ones, and ones that an adapter could repair.

Each has the form of a forbidden call: what it is, the shapes of the inputs, the node, the values of the inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiebreak.conformance.operators.forbidden_call import INT8, M22, M24, V2, ForbiddenCall, S
from tiebreak.golden.onnx_types import FLOAT8
from tiebreak.golden.rounding import EVEN

V1 = (1,)
ZERO = {2: 0.0}


def allowed(
    what: str, shapes: tuple[tuple[int, ...], ...], values: Mapping[int, float] = ZERO, **node: Any
) -> ForbiddenCall:
    """An allowed call, in the form of the forbidden ones."""
    return ForbiddenCall("", what, shapes, {**INT8, **node}, values=values)


def allowed_ngraph(**mode: str) -> tuple[ForbiddenCall, ...]:
    return (
        allowed("one scale", (M22, S, S), attributes=mode),
        allowed("an axis", (M24, V2, V2), attributes={"axes": (0,), **mode}),
    )


ALLOWED_LINEAR = (
    allowed("one scale", (M22, S, S)),
    allowed("no zero point", (M22, S), quantized="uint8", zero_point=False),
    allowed("one scale and an axis", (M22, S, S), attributes={"axis": 0}),
    allowed("one scale in a list", ((3,), (1,), (1,))),
    allowed("the default axis", ((3, 2), V2, V2)),
    allowed("an axis", (M24, V2, V2), attributes={"axis": 0}),
    allowed("an axis from the back", ((3, 2), V2, V2), attributes={"axis": -1}),
    allowed("blocks", (M24, M22, M22), attributes={"block_size": 2, "axis": 1}),
    allowed("4 bits", (M22, S, S), quantized="int4"),
    allowed("float 8", (M22, S, S), quantized=FLOAT8[0]),
    allowed("another type of scale", (M22, S, S), scale="float16", opset=23, attributes={"output_dtype": "float32"}),
)
POWER = {"saturate": False, "round_mode": "nearest"}
ALLOWED_CAST = (
    allowed("to a float 8", (M22,), quantized="float8_e4m3fn"),
    allowed("without saturation", (M22,), quantized="float8_e5m2", attributes={"saturate": False}),
    allowed("to a power of two", (M22,), {0: 3.0}, quantized="float8_e8m0fnu", attributes=POWER),
    allowed("to a power of two, by default", (M22,), {0: 3.0}, quantized="float8_e8m0fnu"),
    allowed("to 4 bits", ((3,),), {0: -3.0}, quantized="int4"),
    allowed("from 4 bits", ((3,),), {0: -3.0}, real="int4", quantized="int8"),
    allowed("from 2 bits", ((5,),), {0: 2.0}, real="uint2", quantized="float16"),
    allowed("a float 4", (S,), {0: -6.0}, real="float4_e2m1fn", quantized="float32"),
    allowed("from a float 8", ((0,),), real="float8_e5m2", quantized="bfloat16"),
)
RANGE = {1: 0.0, 2: 3.0}
CONVOLVED, PADDED = {"real": "uint8", "quantized": "uint8"}, {"attributes": {"pads": (1, 2)}}
POINTS = {2: 2.0, 5: 0.0, 7: 5.0}
RCEIL = {"scaling_mode": "rceil"}
REQUANTIZED, WEIGHT = {"real": "int8", "quantized": "int8"}, "FULLY_CONNECTED"
TWICE = {"real": "uint8", "quantized": "int8", "attributes": {"rounding": "double"}}
TWO_BITS = {"attributes": {"num_bits": 2}, "quantized": ""}
SCALED_PAIR = {0: 5.0, 1: 0.5, 2: 2.0, 3: 7.0, 4: 0.25, 5: 3.0, 6: 0.75, 7: 4.0}
FOUR_BITS = {"quantized": "", "attributes": {"K": 16, "N": 3, "block_size": 16}}
REAL_POINTS = {**FOUR_BITS, "operands": ("float32",)}
PADDLE_BITS = {"quant_axis": 1, "bit_length": 4, "qmin": -8, "qmax": 7}
LEVELS = {"quant_min": -8, "quant_max": 7}
FLOAT_POINT = {"axis": 0, "zero_point_type": "float32"}
FLOAT_ZERO = {**LEVELS, "axis": 0, "zero_point_type": "float16"}
ROUNDED_ONCE = {"scale32": True, "rounding_mode": "SINGLE_ROUND", "per_channel": False}
HALF = {0: -5.0, 1: 2.0**30, 2: 31.0, 3: 0.0, 4: 0.0}
OF_GEMM: dict[str, Any] = {"real": "uint8", "operands": ("int8",)}
OF_BYTES = {0: 5.0, 1: 0.5, 2: 3.0, 3: 7.0, 5: 2.0, 6: 0.25, 7: 9.0}
UNIFORM = {"quantization_min_val": -127, "quantization_max_val": 100}
ALLOWED_UNIFORM = (
    allowed("one scale", (M22, S, S), {1: 0.5, 2: 7.0}, quantized="int8", attributes=UNIFORM),
    allowed(
        "scales along an axis", (M22, V2, V2), {2: 3.0}, quantized="int8", attributes=UNIFORM | {"quantization_axis": 1}
    ),
    allowed("32 bits", ((3,), S, S), {1: 4.0, 2: -1000.0}, quantized="int32", attributes=UNIFORM),
)
BOTH_RANGES = {f"{side}_{name}": value for side in ("input", "output") for name, value in UNIFORM.items()}
OF_BOTH = {1: 0.5, 2: 7.0, 3: 0.25, 4: -3.0}
ALLOWED: dict[str, tuple[ForbiddenCall, ...]] = {
    "ngraph.Quantize": allowed_ngraph(round_mode=EVEN),
    "ngraph.Dequantize": (*allowed_ngraph(), allowed("int32", (M22, S, S), quantized="int32")),
    "onnx.QuantizeLinear": ALLOWED_LINEAR[:-1],
    "onnx.Cast": ALLOWED_CAST,
    "onnx.DynamicQuantizeLinear": (allowed("a matrix", (M22,), {0: 2.0}, quantized="uint8"),),
    "onnx.QLinearMatMul": (
        allowed("matrices", ((2, 3), S, S, (3, 4), S, S, S, S), OF_BYTES, operands=("uint8", "int8")),
        allowed("rows", ((2, 3), V2, V2, (3, 4), S, S, S, S), OF_BYTES, operands=("int8", "int8"), opset=10),
        allowed("columns", ((2, 3), S, S, (3, 4), (4,), (4,), S, S), OF_BYTES, operands=("uint8", "uint8")),
    ),
    "onnx.MatMulInteger": (
        allowed("matrices", ((2, 3), (3, 4), S, S), {0: 5.0, 2: 3.0}, real="uint8", quantized="int32"),
        allowed("rows", ((2, 3), (3, 4), V2, S), {1: -5.0, 3: 2.0}, real="int8", quantized="int32"),
        allowed("no zero points", ((2, 3), (3,)), {0: 5.0}, real="uint8", quantized="int32", zero_point=False),
        allowed("b's alone", ((2, 3), (3, 4), S), {0: 5.0, 2: 3.0}, real="uint8", quantized="int32", form=2),
    ),
    "onnx.QLinearConv": (
        allowed("a bias", ((1, 1, 3), S, S, (1, 1, 1), S, S, S, S, V1), POINTS, **CONVOLVED),
        allowed("channels", ((1, 2, 3), S, S, (2, 2, 2), V2, V2, S, S), POINTS, **CONVOLVED, zero_point=False),
        allowed("pads", ((1, 1, 3), S, S, (1, 1, 2), S, S, S, S), POINTS, **PADDED, **CONVOLVED, zero_point=False),
    ),
    "onnx.ConvInteger": (
        allowed("zero points", ((1, 1, 3), (1, 1, 2), S, S), {2: 0.0}, real="uint8", quantized="int32", **PADDED),
        allowed("none", ((1, 2, 3), (2, 2, 2)), {}, real="int8", quantized="int32", zero_point=False),
        allowed("w's alone", ((1, 1, 3), (1, 1, 2), S), {2: 3.0}, real="uint8", quantized="int32", form=2),
    ),
    "ocp.MXQuantize": (
        allowed("a row of blocks", ((1, 64),), {0: 3.0}, quantized="float8_e4m3fn", attributes=RCEIL),
        allowed("4 bits", ((2, 32),), {0: -2.0}, quantized="float4_e2m1fn", attributes=RCEIL),
        allowed("bfloat16, by default", ((2, 32),), {0: -2.0}, real="bfloat16", quantized="float6_e2m3fn"),
    ),
    "gguf.Quantize": (
        allowed("Q8_0", ((2, 64),), {0: -3.0}, quantized="int8"),
        allowed("Q4_0", ((1, 3, 32),), {0: 5.0}, quantized="uint4"),
    ),
    "gguf.Dequantize": (
        allowed("Q8_0", ((2, 64), (2, 2)), {0: -3.0, 1: 0.5}, quantized="int8"),
        allowed("Q4_0", ((1, 3, 32), (1, 3, 1)), {0: 5.0, 1: -2.0}, quantized="uint4"),
    ),
    "tflite.Requantize": (
        allowed("by default", (M22, S, S, S, S), {0: -3.0, 1: 0.5, 2: 5.0}, **REQUANTIZED),
        allowed("of a vector, as the kernels have it", ((7,), S, S, S, S), {3: 0.25, 4: -1.0}, **TWICE),
        allowed("through MUL", (M22, S, S, S, S), {2: -2.0}, **REQUANTIZED, attributes={"through": "MUL"}),
        allowed("through ADD", ((3,), S, S, S, S), {2: 4.0}, **REQUANTIZED, attributes={"through": "ADD"}),
        allowed("through a weight", (M22, S, S, S, S), {1: 3.0}, **REQUANTIZED, attributes={"through": WEIGHT}),
    ),
    "tosa.RESCALE": (
        allowed("one multiplier", (M22, V1, V1, V1, V1), HALF, attributes=ROUNDED_ONCE, real="int8"),
        allowed(
            "channels",
            ((2, 3), (3,), (3,), V1, V1),
            HALF,
            attributes={**ROUNDED_ONCE, "per_channel": True},
            real="int16",
        ),
        allowed("an unsigned input", ((3,), V1, V1, V1, V1), {**HALF, 3: 255.0}, attributes=ROUNDED_ONCE, real="uint8"),
        allowed(
            "16 bits",
            (S, V1, V1, V1, V1),
            {**HALF, 1: 3.0, 2: 14.0},
            real="int32",
            attributes={**ROUNDED_ONCE, "scale32": False},
        ),
    ),
    "com.microsoft.QGemm": (
        allowed("a bias", ((2, 3), S, S, (3, 4), S, S, (4,), S, S), {2: 5.0, 8: 3.0}, **OF_GEMM, quantized="uint8"),
        allowed("no bias", ((2, 3), S, S, (3, 4), (4,), (4,), S, S), {7: 3.0}, **OF_GEMM, quantized="uint8", form=1),
        allowed("numbers", ((2, 3), S, S, (3, 4), S, S, (2, 1)), {6: -7.0}, **OF_GEMM, quantized="float32", form=2),
        allowed(
            "turned",
            ((3, 2), S, S, (4, 3), S, S),
            {1: 0.5},
            **OF_GEMM,
            quantized="float32",
            form=3,
            attributes={"transA": True, "transB": True, "alpha": 0.5},
        ),
    ),
    **dict.fromkeys(
        ("com.microsoft.QLinearAdd", "com.microsoft.QLinearMul"),
        (
            allowed("a matrix and a vector", (M22, S, S, V2, S, S, S, S), SCALED_PAIR),
            allowed("a scalar first", (S, S, S, (3,), S, S, S, S), SCALED_PAIR, quantized="uint8"),
            allowed("a zero point left off", (M22, S, S, M22, S, S, S), SCALED_PAIR, zero_point=False),
        ),
    ),
    "com.microsoft.MatMulNBits": (
        allowed("packed zero points", ((2, 16), (3, 1, 8), (3, 1), (3, 1)), {2: 0.5, 3: 7.0}, **FOUR_BITS),
        allowed("zero points of A's type", ((1, 2, 16), (3, 1, 8), (3, 1), (3, 1)), {3: 2.5}, **REAL_POINTS),
        allowed("no zero points", ((2, 16), (3, 1, 8), (3, 1)), {0: -2.0}, zero_point=False, **FOUR_BITS),
        allowed("a bias", ((2, 16), (3, 1, 8), (3, 1), (3, 1), (3,)), {2: 0.5, 4: -3.0}, form=1, **FOUR_BITS),
        allowed("a bias alone", ((2, 16), (3, 1, 8), (3, 1), (3,)), {2: 0.5, 3: 7.0}, form=2, **FOUR_BITS),
    ),
    "nvidia.NVFP4Quantize": (
        allowed("one level", ((2, 32),), {0: 3.0}, quantized="float4_e2m1fn", zero_point=False),
        allowed("two levels", ((2, 32), S), {0: -2.0, 1: 5.0}, quantized="float4_e2m1fn"),
        allowed("bfloat16", ((1, 64), S), {1: 3.0}, real="bfloat16", quantized="float4_e2m1fn"),
    ),
    "onnx.DequantizeLinear": (*ALLOWED_LINEAR, allowed("int32", (M22, S), quantized="int32", zero_point=False)),
    "openvino.FakeQuantize": (
        allowed("one range", (M22, S, S, S, S), {1: 0.0, 3: 0.0}, quantized="", attributes={"levels": 2}),
        allowed("ranges", (M22, V2, V2, V2, V2), {1: 0.0, 3: 0.0}, quantized="", attributes={"levels": 2}),
    ),
    "tensorflow.QuantizeV2": (allowed("one range", (M22, S, S), RANGE),),
    "tensorflow.Dequantize": (
        allowed("one range", (M22, S, S), RANGE),
        allowed("bfloat16", (M22, S, S), RANGE, real="bfloat16"),
    ),
    "tensorflow.UniformQuantize": ALLOWED_UNIFORM,
    "tensorflow.UniformDequantize": ALLOWED_UNIFORM,
    "tensorflow.UniformRequantize": (
        allowed("scalars", (M22, S, S, S, S), OF_BOTH, real="int8", quantized="int8", attributes=BOTH_RANGES),
        allowed(
            "an output with scales along an axis",
            (M22, S, S, V2, V2),
            OF_BOTH,
            real="int32",
            quantized="int8",
            attributes=BOTH_RANGES | {"output_quantization_axis": 1},
        ),
        allowed(
            "scales along an axis on both sides",
            (M22, V2, V2, V2, V2),
            OF_BOTH,
            real="int8",
            quantized="int8",
            attributes=BOTH_RANGES | {"input_quantization_axis": 0, "output_quantization_axis": 0},
        ),
    ),
    **dict.fromkeys(
        ("tensorflow.QuantizeAndDequantizeV2", "tensorflow.QuantizeAndDequantizeV4"),
        (allowed("one range", (M22, S, S), RANGE, quantized=""),),
    ),
    "tensorflow.QuantizeAndDequantizeV3": (allowed("one range", (M22, S, S, S), {**RANGE, 3: 5.0}, quantized=""),),
    "paddle.QuantizeLinear": (
        allowed("one scale", (M22, V1, V1), {1: 5.0, 2: 0.0}, quantized="", attributes={"quant_axis": -1}),
        allowed("the first axis, by default", (M24, V2, V2), {1: 3.0, 2: 0.0}, quantized=""),
        allowed("4 bits along an axis", (M22, V2, V2), quantized="", attributes=PADDLE_BITS),
        allowed("ties away", (M22, V1, V1), quantized="", attributes={"quant_axis": -1, "round_type": 1}),
    ),
    "stablehlo.uniform_quantize": (
        allowed("floats", (M22, S, S), {1: 0.5, 2: 7.0}, real="float32", quantized="int8"),
        allowed(
            "a dimension and ends",
            (M22, V2, V2),
            {1: 0.25, 2: 3.0},
            real="float32",
            quantized="uint8",
            attributes={"quantization_dimension": 1, "storage_min": 1, "storage_max": 200},
        ),
        allowed(
            "a quantized operand",
            (M22, S, S, V2, V2),
            {1: 0.5, 2: 7.0, 3: 0.75, 4: -2.0},
            real="int8",
            quantized="int16",
            attributes={"operand_quantization_dimension": 0},
        ),
    ),
    "stablehlo.uniform_dequantize": (
        allowed("one scale", (M22, S, S), {1: 0.5, 2: 7.0}, real="float32", quantized="int8"),
        allowed(
            "a dimension",
            (M22, V2, V2),
            {1: 0.25, 2: 3.0},
            real="float32",
            quantized="uint8",
            attributes={"quantization_dimension": 0},
        ),
    ),
    "tensorflow.FakeQuantWithMinMaxVars": (allowed("one range", (M22, S, S), RANGE, **TWO_BITS),),
    "tensorflow.FakeQuantWithMinMaxVarsPerChannel": (allowed("ranges", (M22, V2, V2), RANGE, **TWO_BITS),),
    "torch.quantize_per_tensor": (
        allowed("one scale", (M22, S, S), {1: 0.5, 2: 3.0}),
        allowed("qint32", ((3,), S, S), {2: -7.0}, quantized="int32"),
    ),
    "torch.quantize_per_channel": (
        allowed("the first axis", (M24, V2, V2), {1: 0.5, 2: 3.0}, attributes={"axis": 0}),
        allowed("the last axis", ((3, 2), V2, V2), quantized="uint8", attributes={"axis": 1}),
        allowed("a float zero point", (M24, V2, V2), {1: 0.5, 2: 1.25}, attributes=FLOAT_POINT),
    ),
    "torch.fake_quantize_per_tensor_affine": (
        allowed("one scale", (M22, S, S), {1: 0.5, 2: 3.0}, quantized="", attributes=LEVELS),
    ),
    "torch.fake_quantize_per_channel_affine": (
        allowed("an axis", (M24, V2, V2), {1: 0.5, 2: 3.0}, quantized="", attributes={**LEVELS, "axis": 0}),
        allowed("a float zero point", (M24, V2, V2), {2: 2.0}, quantized="", attributes=FLOAT_ZERO),
    ),
}


def wrong_ngraph(**mode: str) -> tuple[ForbiddenCall, ...]:
    def axes(scale: tuple[int, ...], zero_point: tuple[int, ...], *places: int) -> ForbiddenCall:
        node, what = {**INT8, "attributes": mode}, f"axes {places}, scale {scale}, zero point {zero_point}"
        return ForbiddenCall("", what, (M22, scale, zero_point), node, {"axes": places}, values=ZERO)

    return axes(V2, V2, -1), axes(V2, V2, 0, 0), axes(V1, V1), axes(V1, V1, 0), axes(S, S, 0), axes(V2, S, 0)


def wrong_linear(
    what: str, scale: tuple[int, ...], zero_point: tuple[int, ...], opset: int = 0, **given: Any
) -> ForbiddenCall:
    return ForbiddenCall("", what, (M22, scale, zero_point), INT8, given, opset=opset)


# Calls that an adapter could make right and nobody would see it. Some are allowed, but not to every library.
WRONG_LINEAR = (
    wrong_linear("one scale for an axis of size 2", V1, V1, axis=0),
    wrong_linear("one scale in a list, one zero point in none", V1, S),
    wrong_linear("one scale and an axis too far", S, S, axis=7),
    wrong_linear("one scale and 2 zero points without axis", S, V2),
    wrong_linear("a matrix of scales without blocks", M22, M22),
    wrong_linear("a block size below 0", V2, V2, block_size=-1),
    wrong_linear("an axis in operator set 10", V2, V2, opset=10, axis=0),
    wrong_linear("2 scales in operator set 10", V2, V2, opset=10),
    wrong_linear("operator set 9", S, S, opset=9),
    wrong_linear("saturate for an integer type", S, S, saturate=False),
    wrong_linear("an attribute that names another type", S, S, output_dtype="float16"),
)


def wrong_cast(what: str, quantized: str, opset: int = 0, **given: Any) -> ForbiddenCall:
    return ForbiddenCall("", what, (M22,), {"quantized": quantized}, given, opset=opset)


WRONG_CAST = (
    wrong_cast("an attribute that names another type", "float8_e4m3fn", to="float16"),
    wrong_cast("saturate for an integer type", "int4", saturate=False),
    wrong_cast("round_mode for a float 8 type", "float8_e4m3fn", opset=24, round_mode="down", saturate=False),
    wrong_cast("a round_mode that is none", "float8_e8m0fnu", round_mode="even", saturate=False),
    wrong_cast("round_mode before it came", "float8_e4m3fn", opset=23, round_mode="nearest", saturate=False),
    wrong_cast("operator set 9", "float8_e5m2", opset=9, saturate=False),
)
LOWS = {1: 0.0, 3: 0.0}


def wrong_limits(*limits: tuple[int, ...], **given: str) -> ForbiddenCall:
    return ForbiddenCall("", f"{limits} {given}", (M22, *limits), {"attributes": {"levels": 2}}, given, values=LOWS)


def wrong_ranges(shape: tuple[int, ...], low: tuple[int, ...], high: tuple[int, ...], bits: int = 2) -> ForbiddenCall:
    shapes, given = (shape, low, high), {"num_bits": bits}
    return ForbiddenCall("", f"{shapes} in {bits} bits", shapes, {}, given, values=RANGE)


WRONG_RANGES = (
    *(wrong_ranges(M22, *ends) for ends in ((V1, V1), (V2, V2), (S, S), (V2, S), (M22, M22))),
    wrong_ranges((1, 1, 1, 1, 2), V2, V2),
    wrong_ranges(M22, V2, V2, bits=-3),
)
WRONG_BLOCKS = (
    ForbiddenCall("", "another type than the elements'", ((1, 32),), {"quantized": "float8_e4m3fn"}, {"to": "int8"}),
    ForbiddenCall("", "a block size", ((1, 32),), {"quantized": "float8_e5m2"}, {"block_size": 16}),
)
REQUANTIZED_ONE = (M22, S, S, S, S)
WRONG_REQUANTIZATIONS = (
    ForbiddenCall("", "one rounding, which a build has or not", REQUANTIZED_ONE, REQUANTIZED, {"rounding": "single"}),
    ForbiddenCall("", "an operator of no such kind", REQUANTIZED_ONE, REQUANTIZED, {"through": "SUB"}),
    ForbiddenCall("", "an axis", REQUANTIZED_ONE, REQUANTIZED, {"axis": 0}),
    ForbiddenCall("", "a list of one scale", (M22, (1,), S, S, S), REQUANTIZED),
)
NVFP4 = {"quantized": "float4_e2m1fn", "zero_point": False}
WRONG_NVFP4 = (
    ForbiddenCall("", "a block size", ((1, 32),), NVFP4, {"block_size": 32}),
    ForbiddenCall("", "elements of 8 bits", ((1, 32),), NVFP4, output="float8_e4m3fn"),
)
WRONG_GGUF = (
    ForbiddenCall("", "a block size", ((1, 32),), {"quantized": "int8"}, {"block_size": 16}),
    ForbiddenCall("", "elements of 4 bits with a sign", ((1, 32),), {"quantized": "uint4"}, output="int4"),
)
WRONG_PADDLE = (
    ForbiddenCall("", "bits without ends", (M22, V1, V1), {}, {"quant_axis": -1, "bit_length": 4}, values=ZERO),
    ForbiddenCall("", "ends of their own", (M22, V2, V2), {}, {"qmin": -7, "qmax": 7}, values=ZERO),
    ForbiddenCall("", "a scalar scale", (M22, S, S), {}, {"quant_axis": -1}, values=ZERO),
    ForbiddenCall("", "one scale for an axis", (M22, V1, V1), {}, {"quant_axis": 1}, values=ZERO),
)
WRONG: dict[str, tuple[ForbiddenCall, ...]] = {
    "gguf.Quantize": WRONG_GGUF,
    "tflite.Requantize": WRONG_REQUANTIZATIONS,
    "nvidia.NVFP4Quantize": WRONG_NVFP4,
    "ocp.MXQuantize": WRONG_BLOCKS,
    "paddle.QuantizeLinear": WRONG_PADDLE,
    "ngraph.Quantize": wrong_ngraph(round_mode=EVEN),
    "ngraph.Dequantize": wrong_ngraph(),
    "onnx.Cast": WRONG_CAST,
    "onnx.QuantizeLinear": WRONG_LINEAR,
    "onnx.DequantizeLinear": WRONG_LINEAR,
    "openvino.FakeQuantize": (
        wrong_limits(M22, M22, M22, M22, auto_broadcast="none"),
        wrong_limits(S, S, S, S, auto_broadcast="none"),
        wrong_limits(V2, S, V2, S),
        wrong_limits(*4 * [(1, 1, 1)]),
        wrong_limits(*4 * [M22]),
    ),
    "tensorflow.FakeQuantWithMinMaxVars": WRONG_RANGES,
    "tensorflow.FakeQuantWithMinMaxVarsPerChannel": WRONG_RANGES,
}
