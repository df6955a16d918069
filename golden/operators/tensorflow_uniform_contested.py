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
        ("TUQ-C1",),
        to_int8(),
        ([3e9, -3e9], 1.0, 0),
        (
            Answer(API, "the ends of the range", (127, -128), judged=True),
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
