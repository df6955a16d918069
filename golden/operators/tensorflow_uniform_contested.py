"""What TensorFlow's documents of the uniform operators leave open, or what its kernels do otherwise, with witnesses."""

from __future__ import annotations

from typing import Any

from tiebreak.golden.operators.model import Answer, Contest

API = "TensorFlow 2.21 API documentation, raw_ops.UniformQuantize"
DEQUANTIZE_API = "TensorFlow 2.21 API documentation, raw_ops.UniformDequantize"
REQUANTIZE_API = "TensorFlow 2.21 API documentation, raw_ops.UniformRequantize"
KERNEL = "TensorFlow 2.21, CPU kernel, as observed"
XLA = "TensorFlow 2.21, jit_compile=True, as observed"
MATH = "TensorFlow at 10ae7c0, core/kernels/uniform_quant_ops/math_utils.h"
REQUANTIZE_KERNEL = f"{MATH}; {KERNEL}"


def to_int8(least: int = -128, greatest: int = 127) -> dict[str, Any]:
    attributes = {"quantization_min_val": least, "quantization_max_val": greatest}
    return {"quantized": "int8", "attributes": attributes}


OF_QUANTIZE = (
    Contest(
        "uniform-quantize-ties",
        "Where does a number go that lies halfway between two integers?",
        ("TUQ-R1",),
        to_int8(),
        ([0.5, 1.5, -0.5, -1.5], 1.0, 0),
        (
            Answer(API, "upward: floor of a half more", (1, 2, 0, -1), judged=True),
            Answer(KERNEL, "upward", (1, 2, 0, -1)),
            Answer(XLA, "to the even one", (0, 2, 0, -2)),
        ),
    ),
    Contest(
        "uniform-quantize-half-more",
        "Is the half added in float32?",
        ("TUQ-R1",),
        to_int8(),
        ([0.49999997], 1.0, 0),
        (
            Answer(f"{API}, 0.5f", "in float32 the sum is 1", (1,), judged=True),
            Answer(f"{API}, in real arithmetic", "the sum is less than 1", (0,), judged=True),
            Answer(KERNEL, "in float32", (1,)),
            Answer(XLA, "rounds to the nearest at once", (0,)),
        ),
    ),
    Contest(
        "uniform-quantize-beyond-int32",
        "What does an input give whose quotient is beyond int32?",
        ("TUQ-U5",),
        to_int8(),
        ([3e9, -3e9], 1.0, 0),
        (
            Answer(API, "silent: its formula has no clip", "unspecified", judged=True),
            Answer(REQUANTIZE_API, "that of UniformRequantize has one: the ends of the range", (127, -128)),
            Answer(f"{MATH}; {KERNEL}", "a cast to int32 first, which gives the lowest one", (-128, -128)),
            Answer(XLA, "the ends of the range", (127, -128)),
        ),
    ),
    Contest(
        "uniform-quantize-nan",
        "What do NaN and infinities give?",
        ("TUQ-U1",),
        to_int8(),
        ([float("nan"), float("inf"), float("-inf")], 1.0, 0),
        (
            Answer(API, "silent", "unspecified", judged=True),
            Answer(KERNEL, "the least integer, whatever it is", (-128, -128, -128)),
            Answer(XLA, "0 and the ends of the range", (0, 127, -128)),
        ),
    ),
    Contest(
        "uniform-quantize-range",
        "What does a range give whose ends the type does not hold?",
        ("TUQ-U4",),
        to_int8(-1000, 1000),
        ([1000.0, 2.0], 1.0, 0),
        (
            Answer(API, "silent", "unspecified", judged=True),
            Answer(KERNEL, "clips to that range, and takes the low bits", (-24, 2)),
            Answer(XLA, "the ends of the type", (127, 2)),
        ),
    ),
)


def of_int32() -> dict[str, Any]:
    attributes = {"quantization_min_val": -(1 << 31), "quantization_max_val": (1 << 31) - 1}
    return {"quantized": "int32", "attributes": attributes}


OF_DEQUANTIZE = (
    Contest(
        "uniform-dequantize-int32",
        "Are all bits of an int32 input there when the zero point is subtracted?",
        ("TUD-F1",),
        of_int32(),
        ([16777217], 1.0, 1),
        (
            Answer(DEQUANTIZE_API, "a difference of integers", (16777216.0,), judged=True),
            Answer(KERNEL, "the input is rounded to float32 first", (16777215.0,)),
            Answer(XLA, "a difference of integers", (16777216.0,)),
        ),
    ),
    Contest(
        "uniform-dequantize-wide-difference",
        "What does a difference give that int32 does not hold?",
        ("TUD-F1",),
        of_int32(),
        ([2147483647, -2147483648], 1.0, -1),
        (
            Answer(DEQUANTIZE_API, "the difference, as a number", (2147483648.0, -2147483647.0), judged=True),
            Answer(f"{MATH}; {KERNEL}; {XLA}", "of int32, which wraps around", (-2147483648.0, -2147483648.0)),
        ),
    ),
    Contest(
        "uniform-dequantize-scale",
        "What does a scale give that is not positive?",
        ("TUD-F2",),
        of_int32(),
        ([1, 2], -1.0, 0),
        (
            Answer(DEQUANTIZE_API, "excludes none", (-1.0, -2.0), judged=True),
            Answer(KERNEL, "refuses it: must be all positive", "error"),
            Answer(f"{XLA}; UniformQuantize, {KERNEL}", "takes it", (-1.0, -2.0)),
        ),
    ),
)


def requantized(source: str = "int8", target: str = "int8", **axes: int) -> dict[str, Any]:
    ends = {"int8": (-128, 127), "int32": (-(1 << 31), (1 << 31) - 1)}
    ranges = {
        f"{side}_quantization_{end}_val": value
        for side, kind in (("input", source), ("output", target))
        for end, value in zip(("min", "max"), ends[kind], strict=True)
    }
    attributes = ranges | {f"{side}_quantization_axis": axis for side, axis in axes.items()}
    return {"real": source, "quantized": target, "attributes": attributes}


OF_REQUANTIZE = (
    Contest(
        "uniform-requantize-ties",
        "Where does a value go that lies halfway between two integers?",
        ("TUR-R1", "TUR-U1"),
        requantized(),
        ([1, 3, -1, -3], 0.5, 0, 1.0, 0),
        (
            Answer(REQUANTIZE_API, "its formula has no rounding: silent", "unspecified", judged=True),
            Answer(REQUANTIZE_KERNEL, "upward", (1, 2, 0, -1)),
            Answer(XLA, "to the even one", (0, 2, 0, -2)),
        ),
    ),
    Contest(
        "uniform-requantize-multiplier",
        "Is the ratio of both scales a multiplier of 31 bits?",
        ("TUR-F2", "TUR-F3"),
        requantized("int32"),
        ([1191666688, -1191666688], 9e-8, 0, 1.1, 0),
        (
            Answer(REQUANTIZE_API, "a ratio of numbers", (98, -98), judged=True),
            Answer(REQUANTIZE_KERNEL, "31 bits and a shift", (97, -97)),
            Answer(XLA, "a product and a sum in float32", (98, -98)),
        ),
    ),
    Contest(
        "uniform-requantize-int32",
        "Are all bits of an int32 input there when the zero point is subtracted?",
        ("TUR-F1",),
        requantized("int32"),
        ([16777217], 1.0, 16777216, 1.0, 0),
        (
            Answer(REQUANTIZE_API, "a difference of integers", (1,), judged=True),
            Answer(KERNEL, "the input is rounded to float32 first", (0,)),
            Answer(XLA, "the input is rounded to float32 first", (0,)),
        ),
    ),
    Contest(
        "uniform-requantize-wide-difference",
        "What does a difference give that int32 does not hold?",
        ("TUR-F1",),
        requantized("int32"),
        ([2147483647, -2147483648], 1.0, -1, 1.0, 0),
        (
            Answer(REQUANTIZE_API, "the difference, as a number", (127, -128), judged=True),
            Answer(REQUANTIZE_KERNEL, "of int32, which wraps around", (-128, -128)),
            Answer(XLA, "the difference, in float32", (127, -128)),
        ),
    ),
    Contest(
        "uniform-requantize-axis-to-tensor",
        "May an input with scales along an axis become an output with one scale?",
        ("TUR-A5",),
        requantized(input=0),
        ([[2, 4], [3, 4]], [0.5, 1.0], [0, 0], 1.0, 0),
        (
            Answer(
                f"{REQUANTIZE_API}: 'At least one among input_quantization_axis and output_quantization_axis must be "
                "-1, or two must be equal'",
                "one of both is -1",
                (1, 2, 3, 4),
                judged=True,
            ),
            Answer(f"{REQUANTIZE_API}, list of supported cases", "it is not in the list", "error"),
            Answer(KERNEL, "takes it", (1, 2, 3, 4)),
            Answer(XLA, "fails to legalize it", "error"),
        ),
    ),
    Contest(
        "uniform-requantize-scale",
        "What does a scale give that is not positive?",
        ("TUR-F2",),
        requantized(),
        ([1, 2], -1.0, 0, 1.0, 0),
        (
            Answer(REQUANTIZE_API, "excludes none", (-1, -2), judged=True),
            Answer(KERNEL, "refuses it: must be all positive", "error"),
            Answer(XLA, "takes it", (-1, -2)),
        ),
    ),
    Contest(
        "uniform-requantize-to-int32",
        "Is there an output of 32 bits?",
        ("TUR-T1",),
        requantized("int8", "int32"),
        ([2, 4], 1.0, 0, 0.5, 0),
        (
            Answer(f"{REQUANTIZE_API}, Tout", "qint8 or qint32", (4, 8), judged=True),
            Answer(KERNEL, "none registered", "error"),
            Answer(XLA, "takes it", (4, 8)),
        ),
    ),
)
