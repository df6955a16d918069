"""What a mistake of a quantizer is: it predicts all results of a case from its operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tiebreak.conformance.judging.operands import QuantizationOperands
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.problem import Array

Predict = Callable[[QuantizationOperands], Array | None]  # None: the mistake makes no difference to these types


def predicted(predict: Predict, o: QuantizationOperands, dtype: np.dtype[Any]) -> Array:
    """What a mistake predicts, flat, in the output's integer type.

    NotImplementedError if it makes no difference. OverflowError if a code leaves the type: the cast would make of it a
    code that nothing predicts.
    """
    codes = predict(o)
    if codes is None:
        raise NotImplementedError
    kind = INTEGER_TYPES[dtype.name]
    if not ((codes >= kind.lowest) & (codes <= kind.highest)).all():
        raise OverflowError(f"a prediction leaves {kind.name}")
    return codes.astype(dtype)
