"""What documents, kernels and a delegate say differently of requantization, with witnesses."""

from __future__ import annotations

from typing import Any

from tiebreak.golden.operators.model import Answer, Contest

SPEC = "LiteRT 8-bit quantization specification"
PAPER = "Jacob et al., arXiv 1712.05877"
KERNEL = "LiteRT at 2455558, tflite/kernels/quantize.cc, and internal/reference/requantize.h"
UTIL = "TensorFlow at 02145c2, lite/kernels/internal/quantization_util.cc, QuantizeMultiplier"
COMMON = "LiteRT at 14906c9, tflite/kernels/internal/common.cc, MultiplyByQuantizedMultiplier"
GEMMLOWP = "gemmlowp at 988d35e, fixedpoint/fixedpoint.h"
DELEGATE = "LiteRT 2.3.0 with XNNPACK, as observed"
OPTIMIZED = "LiteRT 2.3.0 without XNNPACK on x86-64, as observed"
REFERENCE = "tflite-micro of October 2026, as observed"

LITTLE = "LiteRT 2.3.0, MUL and FULLY_CONNECTED with XNNPACK, as observed"
SUM = "LiteRT 2.3.0, ADD without XNNPACK; tflite-micro, ADD; as observed"


def node(**attributes: str) -> dict[str, Any]:
    return {"real": "int8", "quantized": "int8", "attributes": attributes}


CONTESTED = (
    Contest(
        "requantize-twice",
        "Is a result rounded once, or twice?",
        ("TLR-R1", "TLR-R2", "TLR-R3", "TLR-R4"),
        node(),
        ([1, 2, 4, -1, -2, -4], 0.1, 0, 0.3, 0),
        (
            Answer(SPEC, "the nearest integer to the number: 1 / 3 goes to 0", (0, 1, 1, 0, -1, -1), judged=True),
            Answer(
                f"{PAPER}, 2.2",
                "twice: a fixed-point multiplication and a shift, each to the nearest",
                (1, 1, 2, -1, -1, -2),
            ),
            Answer(f"{COMMON}, TFLITE_SINGLE_ROUNDING", "once", (0, 1, 1, 0, -1, -1)),
            Answer(
                f"{COMMON}, the default; {REFERENCE}",
                "twice: 2 / 3 goes to 1, and half of that to 1; a third of all results is one off",
                (1, 1, 2, -1, -1, -2),
            ),
            Answer(
                OPTIMIZED,
                "twice, ties upward in vectors of 16, and in the rest of the array away from zero",
                (1, 1, 2, -1, -1, -2),
            ),
            Answer(DELEGATE, "once, with 85 / 256 for a third", (0, 1, 1, 0, -1, -1)),
        ),
    ),
    Contest(
        "requantize-bits",
        "How many bits of the ratio of the scales count?",
        ("TLR-F1", "TLR-F2"),
        node(),
        ([16, 115, 127], 0.05, 0, 1.7, 0),
        (
            Answer(SPEC, "all: 16 is 0.47, 115 is 3.38", (0, 3, 4), judged=True),
            Answer(UTIL, "31; but the shift by 5 rounds a second time", (0, 3, 4)),
            Answer(DELEGATE, "8 behind the point: the ratio is 8 / 256, and 16 is 0.5", (1, 4, 4)),
        ),
    ),
    Contest(
        "requantize-ties",
        "Where does a number go that lies halfway between two integers?",
        ("TLR-U1", "TLR-R2", "TLR-R3", "TLR-R4", "TLR-F5"),
        node(),
        ([1, -1, 3, -3], 0.02, 0, 0.04, 0),
        (
            Answer(SPEC, "silent", "unspecified", judged=True),
            Answer(f"{COMMON}; {DELEGATE}, QUANTIZE and ADD", "upward", (1, 0, 2, -1)),
            Answer(LITTLE, "to the even one", (0, 0, 2, -2)),
            Answer(SUM, "away from zero", (1, -1, 2, -2)),
        ),
    ),
    Contest(
        "requantize-far",
        "What does a ratio of the scales give that is beyond 2^31?",
        ("TLR-C1", "TLR-U4"),
        node(),
        ([1, -1], 2.0**64, 0, 1.0, 0),
        (
            Answer(SPEC, "the ends of the range", (127, -128), judged=True),
            Answer(f"{COMMON}, the default", "1 << shift overflows int32", "undefined in C++"),
            Answer(f"{OPTIMIZED}; {REFERENCE}", "the shift wraps around: 2 * 1 / 2", (1, -1)),
        ),
    ),
)
