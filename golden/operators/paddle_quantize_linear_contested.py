"""The contested questions of `paddle.QuantizeLinear`, with the documents that answer them."""

from __future__ import annotations

import math
from typing import Any

from tiebreak.golden.operators.model import Answer, Contest

DOCUMENT = "PaddlePaddle 3.3.1, OpProto of quantize_linear"
KERNEL = "PaddlePaddle 3.3.1, CPU kernel"
CLIP = "PaddlePaddle, pull request 42695, description"
QUANTER = "PaddlePaddle 3.3.1, paddle.nn.quant.format.LinearQuanter"
FRONT_END = "OpenVINO 2026.4, PaddlePaddle front end, as observed"
EVEN_TEXT = "rounding to nearest ties to even"
AWAY_TEXT = "rounding to nearest ties away from zero"
SAME_DOCUMENT = "PaddlePaddle 3.3.1, OpProto of dequantize_linear"


def node(**attributes: Any) -> dict[str, Any]:
    """A node with one scale."""
    return {"attributes": {"quant_axis": -1, **attributes}}


CONTESTED = (
    Contest(
        "PQL-RANGE",
        "Does range follow from bit_length or is it qmax?",
        ("PQL-F1",),
        node(bit_length=4),
        ([1.0, 0.5, -0.75], [1.0], [0.0]),
        (
            Answer(DOCUMENT, "from bit_length: 7; qmax keeps its default, 127", (7.0, 4.0, -5.0), judged=True),
            Answer(KERNEL, "it is qmax: bit_length is not read", (127.0, 64.0, -95.0)),
            Answer(QUANTER, "both: it sets qmax to 2^(bit_length - 1) - 1", (7.0, 4.0, -5.0)),
            Answer(FRONT_END, "from bit_length; the tie 3.5 is missed", (7.0, 3.0, -5.0)),
        ),
    ),
    Contest(
        "PQL-DIVIDE",
        "Is X times range divided by the scale or multiplied by its inverse?",
        ("PQL-F2", "PQL-F3"),
        node(),
        ([80.3984375], [81.359375], [0.0]),
        (
            Answer(DOCUMENT, "divided: a tie, 125.5", (126.0,), judged=True),
            Answer(KERNEL, "(range * the rounded inverse) * X: below 125.5", (125.0,)),
            Answer(FRONT_END, "X / (Scale * the rounded reciprocal of range): below 125.5", (125.0,)),
        ),
    ),
    Contest(
        "PQL-CLIP",
        "What does a result beyond qmin and qmax become?",
        ("PQL-U4",),
        node(),
        ([2.0, -2.0], [1.0], [0.0]),
        (
            Answer(DOCUMENT, "nothing is said", "unspecified", judged=True),
            Answer(CLIP, "clipped after rounding, of 8 bits to -128 … 127", (127.0, -128.0)),
            Answer(f"{KERNEL}, round_type 0", "clipped after rounding, to -qmax - 1 … qmax", (127.0, -128.0)),
            Answer(FRONT_END, "clipped to the range of bit_length", (127.0, -128.0)),
            Answer(f"{KERNEL}, round_type 1", "clipped before, to -Scale … Scale", (127.0, -127.0)),
        ),
    ),
    Contest(
        "PQL-ZERO-POINT",
        "What does the zero point do?",
        ("PQL-U5",),
        node(),
        ([0.5], [1.0], [3.0]),
        (
            Answer(DOCUMENT, "it is an input; no formula has it", "unspecified", judged=True),
            Answer(KERNEL, "nothing", (64.0,)),
            Answer(f"{QUANTER}, scales of two axes", "added after rounding", (67.0,)),
            Answer(FRONT_END, "subtracted from X before the division", (-128.0,)),
        ),
    ),
    Contest(
        "PQL-NAN",
        "What does NaN become?",
        ("PQL-U1",),
        node(),
        ([math.nan], [1.0], [0.0]),
        (
            Answer(DOCUMENT, "nothing is said", "unspecified", judged=True),
            Answer(KERNEL, "NaN", (math.nan,)),
            Answer(FRONT_END, "the lowest value", (-128.0,)),
        ),
    ),
)
