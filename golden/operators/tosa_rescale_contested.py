"""What TOSA's text says in two ways of RESCALE, or says by its letter alone, with witnesses."""

from __future__ import annotations

from typing import Any

from tiebreak.golden.operators.model import Answer, Contest

PAGE = "TOSA 1.0, RESCALE"
PSEUDOCODE = "TOSA 1.0, RESCALE, pseudocode"
HELPERS = "TOSA 1.0, scaling helpers"
REQUIRED = "TOSA 1.0, pseudocode helpers"
EARLIER = "TOSA specification before 1.0 (commit a7ac313a), RESCALE, pseudocode"
MODEL = "tosa-tools 2026.8.0, reference model, as observed"


def node(source: str, target: str, mode: str = "SINGLE_ROUND") -> dict[str, Any]:
    attributes = {"scale32": True, "rounding_mode": mode, "per_channel": False}
    return {"real": source, "quantized": target, "attributes": attributes}


HALF = ([1 << 30], [31], [0], [0])  # multiplier, shift and zero points: half the input
ONE = ([1 << 30], [30], [0], [0])

CONTESTED = (
    Contest(
        "rescale-negative-to-unsigned",
        "What becomes of a negative sum where the output is unsigned?",
        ("TRS-U7",),
        node("int8", "uint8"),
        ([-1, -128, 1], *ONE),
        (
            Answer(f"{EARLIER}: apply_clip", "0: the clamp compares as signed", (0, 0, 1)),
            Answer(MODEL, "0", (0, 0, 1), judged=True),
            Answer(
                f"{PSEUDOCODE}: apply_clip_u, by its letter",
                "255: the 32 bits are zero-extended before they are compared",
                (255, 255, 1),
            ),
        ),
    ),
    Contest(
        "rescale-inexact-bound",
        "How far from the quotient may INEXACT_ROUND be?",
        ("TRS-R3",),
        node("int8", "int8", "INEXACT_ROUND"),
        ([1, 3, -1], *HALF),
        (
            Answer(
                "TOSA 1.0 (1.0.0 to 1.0.2) and 1.1, RESCALE",
                "1/2, 3 * 2^-24 of the quotient's magnitude and 2^-24 of the sum's: of a tie either neighbour",
                (1, 2, 0),
                judged=True,
            ),
            Answer(MODEL, "it computes in floating point, ties to even", (0, 2, 0)),
        ),
    ),
    Contest(
        "rescale-inexact-unsigned",
        "What ends the range of INEXACT_ROUND where the output is unsigned?",
        ("TRS-R3", "TRS-C1"),
        node("int16", "uint8", "INEXACT_ROUND"),
        ([200], *ONE),
        (
            Answer(f"{PAGE}, precision requirements, by the letter", "minimum_s and maximum_s: 127 at most", (127,)),
            Answer(MODEL, "the ends of the unsigned type", (200,), judged=True),
        ),
    ),
)
