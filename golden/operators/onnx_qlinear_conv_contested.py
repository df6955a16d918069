"""What QLinearConv's schema leaves to its neighbours, and what runtimes answer instead, with witnesses."""

from __future__ import annotations

from typing import Any

from tiebreak.golden.operators.model import Answer, Contest

DOCUMENT = "ONNX operator schema, QLinearConv-10"
MATMUL = "ONNX operator schema, QLinearMatMul-10"
QUANTIZE = "ONNX operator schema, QuantizeLinear-10"
PADDED = "ONNX 1.23.2, node test convinteger_with_padding"
REFERENCE = "ONNX reference evaluator 1.23.2, as observed"
RUNTIME = "onnxruntime 1.32.0, as observed"
NODE: dict[str, Any] = {"real": "uint8", "quantized": "uint8", "zero_point": False}


def one(x: list[Any], w: int, scales: tuple[float, float, float], points: tuple[int, int]) -> tuple[Any, ...]:
    """The inputs of a convolution of one weight; `points` are the zero points of x and of y."""
    x_scale, w_scale, y_scale = scales
    return [[x]], x_scale, points[0], [[[w]]], w_scale, 0, y_scale, points[1]


CONTESTED = (
    Contest(
        "qlinear-conv-round-or-add-first",
        "Is the quotient rounded, or its sum with the zero point?",
        ("OQC-F5", "OQC-R1"),
        NODE,
        one([1, 2, 3], 1, (0.5, 1.0, 1.0), (0, 1)),
        (
            Answer(f"{MATMUL}: for (x / y_scale) it is rounding", "the quotient", (1, 2, 3), judged=True),
            Answer(RUNTIME, "the quotient", (1, 2, 3)),
            Answer(REFERENCE, "the sum", (2, 2, 2)),
        ),
    ),
    Contest(
        "qlinear-conv-factor",
        "Is the sum multiplied by one factor x_scale * w_scale / y_scale, which float32 rounds?",
        ("OQC-F4", "OQC-F5"),
        NODE,
        one([81, 80], 100, (0.02, 0.03, 0.04), (0, 0)),
        (
            Answer("the real scales", "no: their ratio is a little less than 0.015", (121, 120), judged=True),
            Answer(RUNTIME, "yes: 8100 times the factor is 121.5", (122, 120)),
        ),
    ),
    Contest(
        "qlinear-conv-pads",
        "Which number do pads add?",
        ("OQC-G1",),
        NODE | {"attributes": {"pads": [1, 1]}},
        one([10, 20], 1, (1.0, 1.0, 1.0), (8, 100)),
        (
            Answer(PADDED, "x's zero point, which stands for 0", (100, 102, 112, 100), judged=True),
            Answer("by the letter: pixels added", "0, which stands for -x_zero_point", (92, 102, 112, 92)),
        ),
    ),
)
