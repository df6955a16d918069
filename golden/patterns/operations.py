"""The operations that a pattern may hold beside Q and DQ: their operands, widths and attributes.

Each is ONNX's operator of the same name at operator set 21. A width is the number of values that a row of a tensor has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SAME = 0  # a width: as many as the operand has


@dataclass(frozen=True)
class Operation:
    """`takes` is the width that each operand needs, `gives` the output's width: SAME, or a number.

    `numbers` are the names of numbers that follow the operands, `choices` the values that an attribute may have, the
    default first. `is_product` is a product of matrices, whose width is its attribute k.
    """

    operands: int
    takes: int = SAME
    gives: int = SAME
    numbers: tuple[str, ...] = ()
    choices: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    is_product: bool = False


PRODUCT = Operation(2, gives=1, choices={"k": (1, 2)}, is_product=True)
OPERATIONS = {
    "Relu": Operation(1),
    "Clip": Operation(1, numbers=("min", "max")),
    "Add": Operation(2),
    "Sub": Operation(2),
    "Mul": Operation(2),
    "MaxPool": Operation(1, takes=2, gives=1),
    "AveragePool": Operation(1, takes=2, gives=1),
    "GlobalAveragePool": Operation(1, takes=2, gives=1),
    "Concat": Operation(2, takes=1, gives=2),
    "Resize": Operation(1, takes=2, gives=4, choices={"mode": ("nearest", "linear")}),
    "Sigmoid": Operation(1),
    "Tanh": Operation(1),
    "Softmax": Operation(1, takes=2, gives=2),
    "MatMul": PRODUCT,
    "Gemm": PRODUCT,
    "Conv": PRODUCT,
}
