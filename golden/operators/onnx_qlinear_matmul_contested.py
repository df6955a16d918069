"""What is contested about `onnx.QLinearMatMul`."""

from __future__ import annotations

from tiebreak.golden.operators.model import Answer, Contest

DOCUMENT = "ONNX operator schema, QLinearMatMul-10"
LATER = "ONNX operator schema, QLinearMatMul-21"
FORMULA = f"{DOCUMENT}, the quantization formula"
NODE = {"real": "float32", "quantized": "uint8", "operands": ("uint8", "int8")}

CONTESTED = (
    Contest(
        "onnx-qlinear-matmul-one-multiplier",
        "Is x divided by y_scale, or the sum multiplied by a_scale * b_scale / y_scale, rounded first?",
        ("OQM-F1", "OQM-F2"),
        NODE,
        ([[125]], 0.3, 0, [[1]], 0.06, 0, 0.1, 0),
        (
            Answer(FORMULA, "x / y_scale, where x is the sum times both scales", (23.0,), judged=True),
            Answer("ONNX Runtime 1.32.0, as observed", "one multiplier of float32", (22.0,)),
            Answer("OpenVINO 2026.4, as observed", "dequantized matrices, then a FakeQuantize", (22.0,)),
        ),
    ),
    Contest(
        "onnx-qlinear-matmul-round-or-add-first",
        "Is the quotient rounded, or its sum with the zero point?",
        ("OQM-F3", "OQM-R1"),
        NODE,
        ([[1], [5]], 0.5, 0, [[1]], 1.0, 0, 1.0, 3),
        (
            Answer(f"{FORMULA}, and the sentence after it", "x / y_scale is rounded", (3.0, 5.0), judged=True),
            Answer("ONNX reference evaluator 1.23.2, as observed", "the sum is rounded", (4.0, 6.0)),
        ),
    ),
)
