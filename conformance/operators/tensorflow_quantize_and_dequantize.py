"""Testing `tensorflow.QuantizeAndDequantizeV4`."""

from __future__ import annotations

from tiebreak.conformance.operators.tensorflow_quantize_and_dequantize_drawn import tested

TESTED = tested("tensorflow.QuantizeAndDequantizeV4", "TQD")
