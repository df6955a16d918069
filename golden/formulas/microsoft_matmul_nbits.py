"""com.microsoft.MatMulNBits: a number times a dequantized weight, beside other products whose sum is exact.

    Y = A * ((weight - zero_point) * scale) + other_products

A row of A with one number that is not zero shows the dequantized weights. Other products are a sum that is the same in
every order and precision: golden/packed_weights.py finds it. Source: onnxruntime, docs/ContribOperators.md.
"""

from __future__ import annotations

from tiebreak.golden.elements import Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, finite, to_real
from tiebreak.golden.problem import Elementwise


def one_of_a_row(
    s: Steps, p: Elementwise, a: Real, weight: Real, zero_point: Real, scale: Real, others: Real, unclear: Real
) -> Result:
    if unclear:
        raise UndefinedResult  # MNB-U1, MNB-U2, MNB-U3, MNB-U4
    number, point, factor, rest = finite(a, zero_point, scale, others)  # MNB-U4
    dequantized = s(s(weight - point) * factor)  # MNB-F1
    return to_real(s(number * dequantized) + rest, p.working)  # MNB-F2, MNB-U5


FORMULAS = {"com.microsoft.MatMulNBits": one_of_a_row}
