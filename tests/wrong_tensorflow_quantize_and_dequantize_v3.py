"""Wrong and right backends for tensorflow.QuantizeAndDequantizeV3: those of V4, told the number of bits by an input."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from wrong_tensorflow_fake import Run, named
from wrong_tensorflow_quantize_and_dequantize import F32, F64, HALVES, RIGHT_ONES, WRONG_BY_TYPES, Scaled, scaled

from wrong_model import Array

V3 = "tensorflow.QuantizeAndDequantizeV3"
OF_TIES_UPWARD = ("ties to even always",)  # which is right here


def of_width(run: Run) -> Run:
    def with_bits(node: Any, x: Array, low: Array, high: Array, num_bits: Array) -> tuple[Array, ...]:
        bits = int(num_bits)
        given = node.attributes.get("range_given", True)
        if not 1 <= bits <= 62:
            return (np.full_like(x, np.nan),)
        said = {**node.attributes, "num_bits": bits, "range_given": given}
        return run(SimpleNamespace(attributes=said, outputs=node.outputs), x, low, high)

    return with_bits


def ignoring_the_input(node: Any, x: Array, low: Array, high: Array, num_bits: Array) -> tuple[Array, ...]:
    return of_width(scaled(Scaled()))(node, x, low, high, np.asarray(8))


def of_v3(entries: Any) -> Any:
    return [(name, of_width(run), flag) for name, run, flag in entries if name not in OF_TIES_UPWARD]


WRONG = (
    *(
        wrong
        for entries, types in WRONG_BY_TYPES
        for wrong in named("quantize and dequantize V3", V3, of_v3(entries), types)
    ),
    *named("quantize and dequantize V3", V3, [("ignores num_bits", ignoring_the_input, "Tie")], (*F32, *HALVES, *F64)),
)
RIGHT = named("quantize and dequantize V3", V3, of_v3(RIGHT_ONES), (*F32, *HALVES, *F64))
