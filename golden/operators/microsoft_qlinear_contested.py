"""What the texts of QLinearAdd and QLinearMul leave to their readers, with witnesses that tell the answers apart."""

from __future__ import annotations

from typing import Any

from tiebreak.golden.operator_names import short_name
from tiebreak.golden.operators.model import Answer, Contest

PAGE = "onnxruntime, docs/ContribOperators.md"
HEADER = "onnxruntime, core/mlas/lib/qladd.cpp and qlmul.cpp, header"
KERNELS = "onnxruntime 1.32 on x86-64, as observed"
NODE = {"quantized": "int8"}
ONE, ZERO = 1.0, 0


def inputs(id: str, a: list[int], b: list[int], scale: float, divisor: float, zero: int) -> tuple[Any, ...]:
    """Inputs whose value is (A + B) * scale / divisor + zero, or the same with A * B."""
    second = scale if id.endswith("Add") else ONE
    return a, scale, ZERO, b, second, ZERO, divisor, zero


def contested(id: str, prefix: str) -> tuple[Contest, ...]:
    """The contests of one of the two operators."""
    name = short_name(id)
    neutral = 0 if name == "QLinearAdd" else 1
    label = name.removeprefix("QLinear").lower()
    return (
        Contest(
            f"qlinear-{label}-ties",
            "Which integer is halfway between two, where the zero point is odd?",
            (f"{prefix}-U1", f"{prefix}-F4"),
            NODE,
            inputs(id, [1, 3, -1, -3], [neutral] * 4, 0.5, ONE, 1),
            (
                Answer(f"{PAGE}, {name}", "silent: the formula has no rounding", "either neighbour", judged=True),
                Answer(HEADER, "RoundToEven(Input / Scale) + ZeroPoint: the quotient is rounded", (1, 3, 1, -1)),
                Answer(KERNELS, "the sum with the zero point is rounded, to even", (2, 2, 0, 0)),
            ),
        ),
        Contest(
            f"qlinear-{label}-range",
            "What is a value beyond the range of the type?",
            (f"{prefix}-C1",),
            NODE,
            inputs(id, [100, -100], [neutral] * 2, 2.0, ONE, 0),
            (
                Answer(f"{PAGE}, {name}, by its letter", "silent: no integer of the type is the value", "undefined"),
                Answer(HEADER, "Saturate", (127, -128), judged=True),
                Answer(KERNELS, "the nearer end of the range", (127, -128)),
            ),
        ),
    )
