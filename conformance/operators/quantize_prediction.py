"""What a mistake of a quantizer is: it predicts all results of a case from its operands."""

from __future__ import annotations

from collections.abc import Callable

from tiebreak.conformance.judging.operands import QuantizationOperands
from tiebreak.golden.problem import Array

Predict = Callable[[QuantizationOperands], Array | None]  # None: the mistake makes no difference to these types
