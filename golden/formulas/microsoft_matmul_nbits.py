"""com.microsoft.MatMulNBits: a number times a dequantized weight, beside other products whose sum is exact, and a bias.

    Y = A * ((weight - zero_point) * scale) + other_products + bias

A row of A with one number that is not zero shows the dequantized weights. Other products are a sum that is the same in
every order and precision, with the bias: golden/packed_weights.py finds it. Source: onnxruntime,
docs/ContribOperators.md.
"""

from __future__ import annotations

from tiebreak.golden.elements import Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, finite, to_real
from tiebreak.golden.problem import Elementwise


def one_of_a_row(
    s: Steps, p: Elementwise, a: Real, weight: Real, zero_point: Real, scale: Real, others: Real, *last: Real
) -> Result:
    *bias, unclear = last
    if unclear:
        raise UndefinedResult  # MNB-U1, MNB-U2, MNB-U3, MNB-U4
    number, point, factor, rest, *added = finite(a, zero_point, scale, others, *bias)  # MNB-U4
    dequantized = s(s(weight - point) * factor)  # MNB-F1
    product = s(s(number * dequantized) + rest)  # MNB-F2
    return to_real(product + sum(added), p.working)  # MNB-F3, MNB-U5


FORMULAS = {"com.microsoft.MatMulNBits": one_of_a_row}
