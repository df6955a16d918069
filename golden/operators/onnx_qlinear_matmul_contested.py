"""What is contested about `onnx.QLinearMatMul`."""

from __future__ import annotations

from tiebreak.golden.operators.model import Contest

DOCUMENT = "ONNX operator schema, QLinearMatMul-10"
LATER = "ONNX operator schema, QLinearMatMul-21"
CONTESTED: tuple[Contest, ...] = ()
