"""Questions about onnx.QuantizeLinear to which documents, ONNX's own tests and readers give different answers."""

from __future__ import annotations

from tiebreak.golden.operators.model import Answer, Contest
from tiebreak.golden.operators.onnx_rank_one_contested import QUANTIZE, rank_one

DOCUMENT = "ONNX operator schema, QuantizeLinear-21"
NEWER = "ONNX operator schema, QuantizeLinear-23"
NEWEST = "ONNX operator schema, QuantizeLinear-24 and -25"
CAST = "ONNX operator schema, Cast-19, tables of float 8 conversion, to which QuantizeLinear's saturate refers"
FLOAT4_PAGE = "ONNX documentation, technical/float4, Cast"
FLOAT6_PAGE = "ONNX documentation, technical/float6, Cast"

CONTESTED = (
    Contest(
        "onnx-round-or-add-first",
        "Is the quotient rounded, or its sum with the zero point?",
        ("ONQ-F2", "ONQ-R1"),
        {"real": "float32", "quantized": "uint8"},
        ([2.5], 1.0, 1),
        (
            Answer(f"{DOCUMENT}, description", "(x / y_scale) rounds to the nearest even", (3.0,), judged=True),
            Answer(f"{DOCUMENT}, formula", "saturate((x / y_scale) + y_zero_point) shows no rounding inside", (4.0,)),
        ),
    ),
    *rank_one(QUANTIZE),
    Contest(
        "onnx-early-ties",
        "Which way do ties go?",
        ("ONQ-R1",),
        {"real": "float32", "quantized": "uint8"},
        ([2.0, 6.0, 10.0], 4.0, 0),
        (
            Answer(f"{DOCUMENT}, description", "to the nearest even", (0.0, 2.0, 2.0), judged=True),
            Answer("an early ONNX node test (2 by scale 4 gives 1)", "away from zero", (1.0, 2.0, 3.0)),
        ),
    ),
    Contest(
        "onnx-zero-point-shape",
        "May the zero point have shape [1] beside a scalar scale?",
        ("ONQ-G3",),
        {"real": "float32", "quantized": "float8_e4m3fn"},
        ([0.0, 1.0, 2.0], 2.0, [0.0]),
        (
            Answer(f"{DOCUMENT}, granularities", "y_zero_point must have the shape of y_scale", "an error"),
            Answer("ONNX node tests, test_quantizelinear_e4m3fn", "it has shape [1]", (0.0, 0.5, 1.0), judged=True),
        ),
    ),
    Contest(
        "onnx-float8-beyond-largest",
        "Without saturate: what of quotients beyond the largest float 8 value that still round to it?",
        ("ONQ-E3",),
        {"real": "float32", "quantized": "float8_e4m3fn", "attributes": {"saturate": 0}},
        ([460.0, 470.0], 1.0, 0.0),
        (
            Answer(CAST, "[x], the value rounded, is compared with the largest", (448.0, float("nan")), judged=True),
            Answer(
                f"{DOCUMENT}, saturate",
                "it is the input value that is out of range",
                (float("nan"), float("nan")),
            ),
        ),
    ),
    Contest(
        "onnx-float4-nan",
        "What is NaN in float4_e2m1fn, which has none?",
        ("ONQ-U7", "ONQ-E6"),
        {"real": "float32", "quantized": "float4_e2m1fn"},
        ([float("nan")], 1.0, 0.0),
        (
            Answer(DOCUMENT, "nothing is said", "unspecified", judged=True),
            Answer(FLOAT4_PAGE, "NaN is cast to the largest value", (6.0,)),
        ),
    ),
    Contest(
        "onnx-integer-division",
        "Is x / y_scale of two int32 a division of integers?",
        ("ONQ-U5", "ONQ-I1"),
        {"real": "int32", "quantized": "uint8", "scale": "int32", "opset": 21},
        ([7 << 23, -(7 << 23), (5 << 23) + 1], 1 << 24, 10),
        (
            Answer(f"{DOCUMENT}, formula and types", "it is of numbers: 3.5, -3.5", (14.0, 6.0, 13.0), judged=True),
            Answer("a reader who wants a floating-point type", "it is of float32s", (14.0, 6.0, 12.0)),
            Answer(f"{NEWER}, description", "int32, y_scale's type, is the precision: as in C", (13.0, 7.0, 12.0)),
            Answer(f"{NEWER}, description", "the same, as Python divides integers", (13.0, 6.0, 12.0)),
        ),
    ),
    Contest(
        "onnx-power-of-two-division",
        "In which type is x divided by a float8_e8m0fnu y_scale?",
        ("ONQ-U5", "ONQ-X1"),
        {"real": "float16", "quantized": "uint8", "scale": "float8_e8m0fnu"},
        ([60000.0, 44992.0], 65536.0, 0),
        (
            Answer(f"{NEWEST}, formula and types", "it is of numbers; float32 does", (1.0, 1.0), judged=True),
            Answer("a reader who keeps x's type", "in float16, where 65536 is infinite", (0.0, 0.0)),
            Answer(f"{NEWEST}, description", "in y_scale's type: powers of two, no sign, no zero", "no result"),
        ),
    ),
    Contest(
        "onnx-float8-zero-point",
        "What does a zero point other than 0 do to a float 8 output?",
        ("ONQ-U4",),
        {"real": "float32", "quantized": "float8_e4m3fn"},
        ([17.0], 1.0, 1.0),
        (
            Answer(f"{DOCUMENT}, description", "usually none, but the formula stays", "unspecified", judged=True),
            Answer("rounded, then added, then rounded again", "16 + 1 = 17 is a tie again", (16.0,)),
            Answer("added, then rounded", "17 + 1", (18.0,)),
        ),
    ),
)
