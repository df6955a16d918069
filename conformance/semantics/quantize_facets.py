"""The facets of round(x / scale) + zero_point as black boxes compute it."""

from __future__ import annotations

from tiebreak.conformance.semantics.model import Facet
from tiebreak.conformance.semantics.places import AWAY, FLOOR, TRUNCATE, WORDS
from tiebreak.golden.rounding import ROUND_MODES

BEFORE, AFTER, WIDER = "before rounding", "after rounding", "before rounding, in float64"
CAST, NARROW = "float32, then a cast", "narrow reciprocal"
FACETS = (
    Facet(
        "precision",
        {
            "exact": "the quotient is not rounded before it becomes an integer",
            "float64": "every step is rounded to float64",
            "float32": "every step is rounded to float32",
            "float16": "every step is rounded to float16",
            "bfloat16": "every step is rounded to bfloat16",
        },
    ),
    Facet(
        "scaling",
        {
            "divide": "x / scale",
            "reciprocal": "x times 1 / scale, which is rounded to the working precision",
            NARROW: "x times 1 / scale, which is rounded to x's type, narrower than the working precision",
            "fused": "x times the rounded 1 / scale plus the zero point, rounded once (fma)",
            "range": "(x - low) / (high - low) times the number of steps, low and high being what the type's ends "
            "stand for: a FakeQuantize",
            "range, multiplied": "x * f - low * f, f being the number of steps / (high - low)",
            "range, fused": "the same, the product and the sum rounded once (fma)",
        },
    ),
    Facet(
        "subnormals",
        {
            "kept": "subnormal numbers are numbers",
            "inputs flushed": "a subnormal x counts as 0",
            "scales flushed": "a subnormal scale counts as 0",
            "inputs and scales flushed": "a subnormal x or scale counts as 0",
            "quotients flushed": "a subnormal quotient becomes 0",
            "all flushed": "subnormal operands and quotients count as 0",
        },
    ),
    Facet(
        "zero_point",
        {
            AFTER: "added to the rounded quotient, as an integer",
            BEFORE: "added to the quotient in the working precision, then rounded",
            WIDER: "added in float64 to the quotient of the working precision, then rounded",
        },
    ),
    Facet("round_mode", {mode: WORDS[mode] for mode in (*ROUND_MODES, FLOOR, TRUNCATE, AWAY)}),
    Facet(
        "saturation",
        {
            "saturate": "the sum is clamped to the type's range",
            "wrap": "the low bits of the sum",
            "narrow range": "clamped to the range without its lowest value",
            "clamp before zero point": "the rounded quotient is clamped, then the sum is",
            "clamp before zero point, then wrap": "the rounded quotient is clamped; the low bits of the sum",
            "int32": "the rounded quotient passes through int32, whose lowest value stands for all that it can't hold; "
            "then the sum is clamped",
            "int32, then wrap": "as int32, but then the low bits of the sum",
            "int32, then a wider sum": "as int32, but the sum has room and is clamped",
            "int64": "the rounded quotient and the sum pass through int64 in the same way; then the sum is clamped",
            "int64, then a wider sum": "as int64, but the sum has room and is clamped",
            "float32": "the sum is computed in float32, then clamped",
            CAST: "the sum is computed in float32 and clamped there, to 2^31 or 2^32 since float32 has no number just "
            "below; the cast to the type makes its lowest value of that",
        },
    ),
)
ENDS = {
    "lowest": "the type's lowest value",
    "lowest but one": "the lowest value of a narrow range",
    "highest": "the type's highest value",
    "zero": "0, or the end of the range that is next to it",
    "zero point": "the zero point, as if 0 were quantized",
    "zero point but the lowest": "the zero point, as if 0 were quantized to a narrow range",
    "int32": "the lowest int32 (or int64) plus the zero point, which overflows if that is negative, clamped",
    "highest before zero point": "the type's highest value plus the zero point, clamped",
    "lowest before zero point": "the type's lowest value plus the zero point, clamped",
    "highest before zero point, then wrap": "the low bits of the type's highest value plus the zero point",
    "lowest before zero point, then wrap": "the low bits of the type's lowest value plus the zero point",
}
OF_RANGES = ("saturate", "narrow range")  # x is clamped to a range, so that no result leaves it
OF_ZERO = {  # where the lowest value is 0, each coincides with another value
    "int32",
    "highest before zero point",
    "lowest before zero point",
    "lowest before zero point, then wrap",
}
