"""Integer convolutions that are wrong on purpose, each in one way, and right ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from wrong_onnx_qlinear_conv import RIGHT_SUMS, SUMS, Summing, is_plain, one_weight_at_once, wraps

from wrong_model import Array, WrongBackend

OPERATOR = "onnx.ConvInteger"
EVERY = (("uint8", "int32"), ("int8", "int32"))


def convolver(own: Summing) -> Any:
    """Backends with these steps; a zero point that is left off is 0."""

    def run(node: Any, x: Array, w: Array, *points: Array) -> tuple[Array, ...]:
        given = points or (np.zeros((), x.dtype), np.zeros((), w.dtype))
        plain = own == RIGHT_SUMS and is_plain(x, w) and not node.attributes
        sums = (one_weight_at_once if plain else own.sums)(node, x, w, *given)
        return (sums.astype(np.int32),)

    return run


def saturating(node: Any, *inputs: Array) -> tuple[Array, ...]:
    (found,) = convolver(RIGHT_SUMS)(node, *inputs)
    return (np.clip(found, -(1 << 15), (1 << 15) - 1),)


def with_points_of_128(node: Any, x: Array, w: Array, *points: Array) -> tuple[Array, ...]:
    """A zero point that is left off is the middle of an unsigned type."""
    given = points or tuple(np.full((), 128 if a.dtype == np.uint8 else 0, a.dtype) for a in (x, w))
    found: tuple[Array, ...] = convolver(RIGHT_SUMS)(node, x, w, *given)
    return found


WRONG = [
    *(
        WrongBackend(f"integer conv: {name}", OPERATOR, convolver(Summing(**parts)), flag, EVERY[:1])
        for name, flag, parts in SUMS
    ),
    WrongBackend("integer conv: result in 16 bits", OPERATOR, saturating, "LongSum", EVERY),
    WrongBackend("integer conv: zero points of 128", OPERATOR, with_points_of_128, "NoZeroPoint", EVERY[:1]),
    WrongBackend("integer conv: products wrap", OPERATOR, convolver(
        Summing(total=lambda terms: sum(wraps("int16", term) for term in terms))), "ZeroPointEdge", EVERY[:1]),
]  # fmt: skip
RIGHT = [WrongBackend("integer conv, right: in Python's integers", OPERATOR, convolver(RIGHT_SUMS), "", EVERY)]
