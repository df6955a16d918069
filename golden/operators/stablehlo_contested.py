"""Where StableHLO's own pages contradict each other, or a compiler does otherwise, with witnesses."""

from __future__ import annotations

from tiebreak.golden.operators.model import Answer, Contest

SPEC = "StableHLO specification, quantize, since pull request 2234 (2024)"
EARLIER = "StableHLO specification, quantize, pull request 1496 (2023)"
TYPES = "StableHLO specification, quantized element types"
GUIDE = "StableHLO at ee5d49d, docs/quantization.md"
IREE = "IREE 3.13, llvm-cpu, as observed"


OF_QUANTIZE = (
    Contest(
        "stablehlo-quantize-zero-point",
        "Is the zero point added before or after rounding?",
        ("SUQ-F2",),
        {"real": "float32", "quantized": "int8"},
        ([0.5, 1.5, -0.5, -1.5], 1.0, 1),
        (
            Answer(SPEC, "before: the sum is rounded", (2, 2, 0, 0), judged=True),
            Answer(EARLIER, "after: the quotient is rounded", (1, 3, 1, -1)),
            Answer(IREE, "before", (2, 2, 0, 0)),
        ),
    ),
    Contest(
        "stablehlo-quantize-unsigned",
        "Up to which number does an unsigned storage type go?",
        ("SUQ-C1",),
        {"real": "float32", "quantized": "uint8"},
        ([200.0] * 9, 1.0, 0),
        (
            Answer(TYPES, "to storage_max", (200,) * 9, judged=True),
            Answer(f"{IREE}, 9 elements", "to 127, as a signed one", (127,) * 9),
            Answer(f"{IREE}, 4 elements", "to storage_max", "200, each"),
        ),
    ),
    Contest(
        "stablehlo-quantize-int32",
        "What does a value give that is clamped to the end of int32?",
        ("SUQ-C1", "SUQ-U2"),
        {"real": "float32", "quantized": "int32"},
        ([3e9, -3e9], 1.0, 0),
        (
            Answer(f"{SPEC}, in real numbers", "storage_max", (2147483647, -2147483648), judged=True),
            Answer(f"{SPEC}, in float32", "the end becomes 2147483648, which int32 lacks", "unspecified", judged=True),
            Answer(IREE, "the lowest number", (-2147483648, -2147483648)),
        ),
    ),
)
OF_DEQUANTIZE = (
    Contest(
        "stablehlo-dequantize-zero-point",
        "Is the zero point subtracted?",
        ("SUD-F1",),
        {"real": "float32", "quantized": "int8"},
        ([0, 1], 0.5, 3),
        (
            Answer(TYPES, "f = (i - zero_point) * scale", (-1.5, -1.0), judged=True),
            Answer(GUIDE, "real_value = scale * (quantized_value + zero_point)", (1.5, 2.0)),
            Answer(IREE, "it is subtracted", (-1.5, -1.0)),
        ),
    ),
    Contest(
        "stablehlo-dequantize-unsigned",
        "Which numbers does an unsigned storage type hold?",
        ("SUD-F1",),
        {"real": "float32", "quantized": "uint8"},
        ([0, 127, 128, 255], 0.5, 128),
        (
            Answer(TYPES, "0 to 255", (-64.0, -0.5, 0.0, 63.5), judged=True),
            Answer(IREE, "reads it as signed", (-64.0, -0.5, -128.0, -64.5)),
        ),
    ),
    Contest(
        "stablehlo-dequantize-wide-difference",
        "What does a difference give that the storage type does not hold?",
        ("SUD-F1",),
        {"real": "float32", "quantized": "int32"},
        ([-2147483648, 0], 1.0, 2147483647),
        (
            Answer(TYPES, "the difference, as a number", (-4294967296.0, -2147483648.0), judged=True),
            Answer(
                f"{SPEC}, dequantize",
                "x_storage - zero_points is a subtraction of the storage type; where it overflows, the result is "
                "implementation-defined",
                "wrapped or saturated",
            ),
            Answer(IREE, "of int32, which wraps around", (1.0, -2147483648.0)),
        ),
    ),
)
