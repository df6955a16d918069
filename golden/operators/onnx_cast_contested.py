"""Documents about `onnx.Cast`, and the questions to which they, or runtimes' own tests, give different answers."""

from __future__ import annotations

from tiebreak.golden.operators.model import Answer, Contest

DOCUMENT = "ONNX operator schema, Cast-25"
OLDER = "ONNX operator schema, Cast-19, -21, -23 and -24"
NEWER = "ONNX operator schema, Cast-28"
BEFORE_24 = "ONNX operator schema, Cast-19, -21 and -23"
FLOAT8_PAGE = "ONNX documentation, technical/float8"
FLOAT6_PAGE = "ONNX documentation, technical/float6"
FLOAT4_PAGE = "ONNX documentation, technical/float4"
INT4_PAGE = "ONNX documentation, technical/int4"
INT2_PAGE = "ONNX documentation, technical/int2"

NAN = float("nan")

CONTESTED = (
    Contest(
        "onnx-cast-infinity-one-zero",
        "With saturate, what is an infinity in a float 8 type with one zero?",
        ("ONC-C3", "ONC-C4"),
        {"real": "float32", "quantized": "float8_e4m3fnuz", "opset": 21},
        ([float("inf"), float("-inf")],),
        (
            Answer(f"{BEFORE_24}, first table", "NaN", (NAN, NAN), judged=True),
            Answer(
                "ONNX operator schema, Cast-24 and -25, first table; onnx#7085", "the largest value", (240.0, -240.0)
            ),
            Answer("ONNX reference evaluator 1.23.2; onnx#6220", "the largest value", (240.0, -240.0)),
        ),
    ),
    Contest(
        "onnx-cast-zero-e8m0",
        "What is zero in float8_e8m0fnu, which has none?",
        ("ONC-C6",),
        {"real": "float32", "quantized": "float8_e8m0fnu"},
        ([0.0],),
        (
            Answer(f"{DOCUMENT}, third table", "0, which is the code of 2^-127", (2.0**-127,), judged=True),
            Answer("OCP Microscaling formats 1.0, E8M0", "there is no zero", "unspecified"),
        ),
    ),
    Contest(
        "onnx-cast-least-power-e8m0",
        "With round_mode up, what does 2^-127 become in float8_e8m0fnu, which holds it?",
        ("ONC-R4",),
        {"real": "float32", "quantized": "float8_e8m0fnu"},
        ([2.0**-127],),
        (
            Answer(f"{DOCUMENT}, round_mode", "2^-127: a power of two is itself", (2.0**-127,), judged=True),
            Answer("ONNX reference evaluator 1.23.2, as observed", "the next power", (2.0**-126,)),
        ),
    ),
    Contest(
        "onnx-cast-infinity-e8m0",
        "With saturate and round_mode up, what does infinity become in float8_e8m0fnu?",
        ("ONC-C6",),
        {"real": "float32", "quantized": "float8_e8m0fnu"},
        ([float("inf")],),
        (
            Answer(f"{DOCUMENT}, third table", "E8M0_MAX", (2.0**127,), judged=True),
            Answer("ONNX reference evaluator 1.23.2, as observed", "NaN", (NAN,)),
        ),
    ),
    Contest(
        "onnx-cast-beyond-largest-e8m0",
        "Without saturate and with nearest, is a number NaN that lies beyond 2^127 but rounds to it?",
        ("ONC-C7", "ONC-R6"),
        {
            "real": "float32",
            "quantized": "float8_e8m0fnu",
            "attributes": {"saturate": 0, "round_mode": "nearest"},
        },
        ([1.25 * 2.0**127],),
        (
            Answer(f"{DOCUMENT}, third table", "x > E8M0_MAX is about x, so it is NaN", (NAN,), judged=True),
            Answer("as the float 8 tables do it", "[x] is compared, the rounded number", (2.0**127,)),
        ),
    ),
    Contest(
        "onnx-cast-float-to-int4",
        "How is a float rounded to a 4-bit integer?",
        ("ONC-R3",),
        {"real": "float32", "quantized": "int4"},
        ([1.5, 2.5, -2.5, 2.7],),
        (
            Answer(f"{INT4_PAGE}, Cast", "to the nearest integer, ties to even", (2.0, 2.0, -2.0, 3.0), judged=True),
            Answer("ONNX reference evaluator", "it is truncated", (1.0, 2.0, -2.0, 2.0)),
            Answer(
                "ONNX Runtime 1.32.0, as observed", "to the nearest integer, ties away from zero", (2.0, 3.0, -3.0, 3.0)
            ),
            Answer(f"{DOCUMENT}, rules", "silent", "unspecified"),
        ),
    ),
    Contest(
        "onnx-cast-nan-float4",
        "What is NaN in float4_e2m1fn, which has none?",
        ("ONC-C5",),
        {"real": "float32", "quantized": "float4_e2m1fn"},
        ([float("nan")],),
        (
            Answer(f"{FLOAT4_PAGE}, Cast", "6", (6.0,), judged=True),
            Answer("ml_dtypes", "the negative zero", (-0.0,)),
        ),
    ),
    Contest(
        "onnx-cast-nan-sign",
        "Does NaN keep its sign in a float 8 type?",
        ("ONC-U6", "ONC-F3"),
        {"real": "float32", "quantized": "float8_e5m2", "attributes": {"saturate": 0}},
        ([float("nan")],),
        (
            Answer(f"{DOCUMENT}, second table", "-NaN becomes -NaN", "NaN of the same sign"),
            Answer(f"{DOCUMENT}, first table", "NaN becomes NaN, of -NaN it says nothing", (NAN,)),
            Answer(f"{FLOAT8_PAGE}, Cast", "the sign of NaN is not necessarily preserved", (NAN,), judged=True),
        ),
    ),
    Contest(
        "onnx-cast-integer-to-float8",
        "How is an integer rounded that a float 8 type does not hold?",
        ("ONC-U3",),
        {"real": "int32", "quantized": "float8_e4m3fn"},
        ([17, 1000],),
        (
            Answer(
                f"{DOCUMENT}", "the rules leave float 8 out, the tables are about floats", "unspecified", judged=True
            ),
            Answer("a reader who takes the integer for a float", "to nearest even, saturated", (16.0, 448.0)),
        ),
    ),
)
