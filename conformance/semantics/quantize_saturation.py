"""How a rounded quotient and a zero point become a code, by the values of the facet `saturation`."""

from __future__ import annotations

import numpy as np

from tiebreak.conformance.semantics import _steps
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.problem import Array


def saturated(quantized: IntegerType, whole: Array, zero_point: Array, saturation: str) -> tuple[Array, Array]:
    """The codes of rounded quotients, which have no meaning where the quotient is NaN or infinite; and their stages.

    The stage of model.Arithmetic.staged is a sum of terms, each of which never falls as the rounded quotient grows. One
    term is the quotient, clipped to where the code changes. The others count the bounds that it has reached, among them
    both infinities, since infinite quotients have codes of their own (QuantizeArithmetic.with_specials).
    """
    kind = _steps.SATURATIONS[saturation]
    added = np.ascontiguousarray(zero_point, np.int64).reshape(-1)
    return _steps.saturated(whole, added, quantized.lowest, quantized.highest, quantized.bits, kind)
