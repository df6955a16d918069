"""What documents say of integers times a factor. Each sentence is ours; each fact is in the text at `url`."""

from __future__ import annotations

from dataclasses import replace

from tiebreak.conformance.semantics.documents import ASKED, Allowed, Authority
from tiebreak.conformance.semantics.integer_scaling_ends import SATURATE
from tiebreak.conformance.semantics.integer_scaling_facets import (
    AFTER,
    AT_31,
    AWAY_SECOND,
    NO_SECOND,
    ONCE,
    OWN_SIGNS,
    UPWARD,
)
from tiebreak.conformance.semantics.requantize import OF_31_BITS
from tiebreak.conformance.semantics.rescale import AS_GIVEN
from tiebreak.conformance.semantics.round_modes import MODES

FACETS = ("reading", "factor", "position", "round_mode", "second_rounding", "zero_point", "saturation")
PLAIN: Allowed = {"reading": (OWN_SIGNS,), "zero_point": (AFTER,), "saturation": (SATURATE,)}
ONE_SHIFT: Allowed = {"position": (ONCE,), "round_mode": (MODES[UPWARD],), "second_rounding": (NO_SECOND,)}
TWO_SHIFTS: Allowed = {"position": (AT_31,), "round_mode": (MODES[UPWARD],), "second_rounding": (AWAY_SECOND,)}

TOSA = Authority(
    id="tosa",
    title="TOSA, RESCALE",
    version="1.0",
    url="https://www.mlplatform.org/tosa/tosa_spec_1_0_1.html",
    says="The difference times the multiplier is shifted once, ties upward. With DOUBLE_ROUND 2^30 more is added, or "
    "subtracted below zero, if the shift is above 31. The output zero point is added, then the sum is clamped.",
    open="What a negative multiplier, a shift outside 2 to 62 or a result beyond int32 gives.",
    allows=(dict.fromkeys(FACETS, (ASKED,)),),
    asked=({"rounding_mode": "SINGLE_ROUND"}, {"rounding_mode": "DOUBLE_ROUND"}),
)
LITERT_ONCE = Authority(
    id="litert-single-rounding",
    title="LiteRT, MultiplyByQuantizedMultiplier with TFLITE_SINGLE_ROUNDING",
    version="commit 14906c9",
    url="https://github.com/google-ai-edge/LiteRT/blob/14906c9/tflite/kernels/internal/common.cc",
    says="The product with a multiplier of 31 bits is shifted once, ties upward.",
    open="Sums beyond int32.",
    allows=({**PLAIN, **ONE_SHIFT, "factor": (OF_31_BITS,)},),
)
LITERT_TWICE = replace(
    LITERT_ONCE,
    id="litert",
    title="LiteRT, MultiplyByQuantizedMultiplier",
    says="The product with a multiplier of 31 bits loses 31 bits, ties upward; a negative shift rounds again, ties "
    "away from zero.",
    allows=({**PLAIN, **TWO_SHIFTS, "factor": (OF_31_BITS,)},),
)
GEMMLOWP = Authority(
    id="gemmlowp",
    title="gemmlowp, SaturatingRoundingDoublingHighMul and RoundingDivideByPOT",
    version="commit 988d35e",
    url="https://github.com/google/gemmlowp/blob/988d35e/fixedpoint/fixedpoint.h",
    says="The product loses 31 bits, ties upward; the rest of the shift rounds again, ties away from zero.",
    open="How the input and the zero points are read, and what is out of range.",
    allows=({**TWO_SHIFTS, "factor": (AS_GIVEN,)},),
)
OF_RESCALE = (TOSA, GEMMLOWP)
OF_REQUANTIZE = (LITERT_ONCE, LITERT_TWICE)
