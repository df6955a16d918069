"""What earlier versions called causes, so that waivers written for those still match."""

from __future__ import annotations

from tiebreak.conformance.semantics.causes import without_forms

# Sentences of older versions, which waivers may still have, with the ids of the same causes.
FORMER = {
    "multiplies by the rounded reciprocal and adds the zero point, fused, before rounding": (
        "reciprocal-plus-zero-point-fused"
    ),
    "multiplies by the rounded reciprocal and adds the zero point before rounding": "reciprocal-plus-zero-point",
    "scale and shift computed beforehand, output limits rebuilt from a zero point and a scale, in float32, last step "
    "unfused": "folded-rebuilt-unfused",
    "x and zero point converted before they are subtracted": "converts-before-subtracting",
    "x and zero point truncated to the output's type": "truncates-before-subtracting",
    "the difference wraps around in x's type": "difference-wraps",
    "the difference saturates in x's type": "difference-saturates",
    "x * x_scale - x_zero_point * x_scale": "distributes-scale",
    "divides by scale": "divides-by-scale",
    "divides by x_scale": "divides-by-scale",
    "multiplies by the reciprocal of y_scale": "reciprocal-of-scale",
    "multiplies by the rounded reciprocal of scale": "reciprocal-of-scale",
    "does not clip": "does-not-clamp",
    "wraps around instead of saturating": "wraps",
    "quotient cast to int32 before it is clamped": "casts-to-int32",
    "floor(q + 0.5)": "floor-of-half-more",
    "trunc(q + 0.5 sign(q))": "half-added-to-magnitude",
    "floor(q + 0.5) computed in the type": "floor-of-half-more",
    "floor(q + 0.5) with the sum rounded": "floor-of-half-more",
    "truncates": "truncates",
    "truncates instead of rounding the quantized value": "truncates",
    "the highest values overflow in a cast": "highest-overflows",
    "one range for all slices": "one-for-all:range",
    "always a narrow range": "narrow-range",
    "subtracts no offset for int8": "no-offset",
    "adds no offset for int8": "no-offset",
    "flushes subnormals to zero, with a range ratio rounded first": "range-ratio-first + flushes",
    "floor(q - zero point + 0.5) in float32, subnormals flushed to zero": "kernel-sums + flushes",
    "n / (max - min) as a factor in float32, subnormals flushed to zero": "kernel-factor-sums + flushes",
}
# What an earlier version named by another id: two arithmetics had one name.
FORMER_IDS = {
    f"range-ratio-first + adds-half-and-truncates{further}": f"range-ratio-first{further}"
    for further in ("", " + flushes", " + widens-by-magnitude")
} | {
    **{
        f"range-ratio-first + {rounding}": f"factor-first + {rounding}"
        for rounding in (
            "half-added-to-magnitude",
            "ties-away",
            "ties-even-always",
            "ties-toward-zero",
            "ties-upward-always",
            "truncates",
        )
    },
    "one-division": "one-division:in float64",
    "one-division + rounds-once-to-even": "rounds-once-to-even",
    "widest-range-for-all": "one-for-all:range",
}


def ids_so_far(id: str) -> tuple[str, ...]:
    """The id, what an earlier version named so, and the id without the form of the formula, which ids now say."""
    return tuple(dict.fromkeys((id, FORMER_IDS.get(id, id), without_forms(id), FORMER_IDS.get(without_forms(id), id))))
