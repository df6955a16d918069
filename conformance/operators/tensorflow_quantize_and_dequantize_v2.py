"""Testing `tensorflow.QuantizeAndDequantizeV2`: as V4, whose values are the same."""

from __future__ import annotations

from tiebreak.conformance.operators.tensorflow_quantize_and_dequantize_drawn import tested

TESTED = tested("tensorflow.QuantizeAndDequantizeV2", "TQB")
