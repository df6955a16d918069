"""What the text of QGemm leaves to its readers, with witnesses that tell the answers apart."""

from __future__ import annotations

from tiebreak.golden.operators.model import Answer, Contest

PAGE = "onnxruntime 1.32, docs/ContribOperators.md"
DOCUMENT = f"{PAGE}, QGemm"
QUANTIZE = f"{PAGE}, com.microsoft.QuantizeLinear"
KERNELS = "ONNX Runtime 1.32.0, as observed"
NODE = {"real": "uint8", "quantized": "uint8", "operands": ("int8",), "form": 1}

CONTESTED = (
    Contest(
        "qgemm-one-multiplier",
        "Is the number divided by y_scale, or the sum multiplied by alpha * a_scale * b_scale / y_scale, one factor?",
        ("MQG-F3", "MQG-F4"),
        NODE,
        ([[125]], 0.3, 0, [[1]], 0.06, 0, 0.1, 0),
        (
            Answer(QUANTIZE, "x / y_scale, where x is the sum times both scales", (23.0,), judged=True),
            Answer(KERNELS, "one multiplier of float32", (22.0,)),
        ),
    ),
    Contest(
        "qgemm-columns-of-transposed-b",
        "Which columns have a scale each where transB is set: those of B as it is given, or those of the product?",
        ("MQG-P3",),
        {**NODE, "attributes": {"transB": True}},
        ([[1, 1]], 1.0, 0, [[1, 2], [3, 4]], [1.0, 10.0], [0, 0], 1.0, 0),
        (
            Answer(f"{DOCUMENT}, b_scale, by its letter", "the columns of input B", (21.0, 43.0)),
            Answer(f"{DOCUMENT}, B: [N, K] if transB is set", "N of the product", (3.0, 70.0), judged=True),
            Answer(KERNELS, "the columns of the product", (3.0, 70.0)),
        ),
    ),
)
