"""What is contested about `onnx.DynamicQuantizeLinear`, and what its document leaves open, with witnesses."""

from __future__ import annotations

from tiebreak.golden.operators.model import Answer, Contest

DOCUMENT = "ONNX operator schema, DynamicQuantizeLinear-11"
BODY = f"{DOCUMENT}, function body"
NODE = {"real": "float32", "quantized": "uint8"}

CONTESTED = (
    Contest(
        "onnx-dynamic-unrounded-scale",
        "Is x divided by y_scale, a float32, or by the range's real width / 255?",
        ("ODQ-F4", "ODQ-F5"),
        NODE,
        ([0.0, 0.5, 1.0],),
        (
            Answer(f"{DOCUMENT}, third formula; {BODY}", "x / y_scale", (0.0, 127.0, 255.0), judged=True),
            Answer("OpenVINO 2026.4, as observed", "the width is not divided first", (0.0, 128.0, 255.0)),
        ),
    ),
    Contest(
        "onnx-dynamic-round-or-add-first",
        "Is the quotient rounded, or its sum with the zero point?",
        ("ODQ-F4", "ODQ-R1"),
        NODE,
        ([-1.0, 1.5, 254.0],),
        (
            Answer(f"{DOCUMENT}, third formula", "round(x / y_scale) + y_zero_point", (0.0, 3.0, 255.0), judged=True),
            Answer("read without the parentheses", "round(x / y_scale + y_zero_point)", (0.0, 2.0, 255.0)),
        ),
    ),
    Contest(
        "onnx-dynamic-zeros",
        "What is y_scale for an input of zeros?",
        ("ODQ-F1", "ODQ-U1"),
        NODE,
        ([0.0, 0.0, 0.0],),
        (
            Answer(f"{DOCUMENT}, first formula", "0 / 255 is 0, and the zero point 0 / 0", "no number", judged=True),
            Answer("onnxruntime 1.32.0, as observed", "y_scale is 1", (0.0, 0.0, 0.0)),
            Answer("ONNX reference evaluator 1.23.2, as observed", "y_scale is 1 / 255", (0.0, 0.0, 0.0)),
            Answer("OpenVINO 2026.4, as observed", "y_scale is 0", (0.0, 0.0, 0.0)),
        ),
    ),
    Contest(
        "onnx-dynamic-nan",
        "Is NaN an end of the range, and what is it in y?",
        ("ODQ-U2",),
        NODE,
        ([1.0, float("nan")],),
        (
            Answer(f"{DOCUMENT}, first formula", "silent: maximum and minimum name no NaN", "unspecified", judged=True),
            Answer(
                "onnxruntime 1.32.0, tract 0.23.9 and emx-onnx-cgen 1.4.0, as observed",
                "it is no end: y_scale is 1 / 255, the zero point 0",
                (255.0, 0.0),
            ),
            Answer(
                "tinygrad 0.14.0, as observed",
                "not here: y_scale is 1 / 255; but NaN if NaN is the first element",
                (255.0, 0.0),
            ),
            Answer("ONNX reference evaluator 1.23.2, as observed", "y_scale is NaN, the zero point 255", (0.0, 0.0)),
            Answer(
                "OpenVINO 2026.4, as observed",
                "here: y_scale is NaN, the zero point 0; but 1 / 255 if NaN is the first element",
                (0.0, 0.0),
            ),
            Answer(
                "Apache TVM 0.27.0.post1, as observed",
                "here: y_scale is NaN, the zero point 255; but 1 / 255 and 0 if NaN is the first element",
                (255.0, 255.0),
            ),
            Answer("IREE 3.13.0, as observed", "y_scale is 0, and y as if it were 1 / 255", (255.0, 0.0)),
        ),
    ),
    Contest(
        "onnx-dynamic-infinity",
        "What are y and its zero point where min(x) is -infinity?",
        ("ODQ-U2",),
        NODE,
        ([-1.0, float("-inf")],),
        (
            Answer(
                f"{DOCUMENT}, second and third formula",
                "silent: y_scale is infinity, and infinity / infinity no number",
                "unspecified",
                judged=True,
            ),
            Answer(
                "onnxruntime 1.32.0 and ONNX reference evaluator 1.23.2, as observed",
                "the zero point is 255",
                (255.0, 0.0),
            ),
            Answer(
                "OpenVINO 2026.4, tract 0.23.9, IREE 3.13.0, tinygrad 0.14.0 and emx-onnx-cgen 1.4.0, as observed",
                "the zero point is 0",
                (0.0, 0.0),
            ),
            Answer("Apache TVM 0.27.0.post1, as observed", "the zero point is 255", (255.0, 255.0)),
        ),
    ),
    Contest(
        "onnx-dynamic-no-scale",
        "What are y and its zero point where the range is so narrow that y_scale rounds to 0?",
        ("ODQ-U3",),
        NODE,
        ([-1e-44, 1e-44],),
        (
            Answer(f"{DOCUMENT}, second and third formula", "silent: both divide by 0", "unspecified", judged=True),
            Answer(
                "onnxruntime 1.32.0, ONNX reference evaluator 1.23.2, OpenVINO 2026.4, Apache TVM 0.27.0.post1 and "
                "emx-onnx-cgen 1.4.0, as observed",
                "the zero point is 255",
                (0.0, 255.0),
            ),
            Answer("tract 0.23.9, as observed", "the zero point is 255", (0.0, 0.0)),
            Answer("tinygrad 0.14.0, as observed", "the zero point is 128", (0.0, 255.0)),
            Answer("IREE 3.13.0, as observed", "the zero point is 0: what is subnormal is flushed", (0.0, 0.0)),
        ),
    ),
)
