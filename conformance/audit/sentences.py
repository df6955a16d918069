"""Describes a semantics as a cause: by the facets in which it differs from the document's."""

from __future__ import annotations

from functools import lru_cache

from tiebreak.conformance.causes.explanations import mode_cause
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.model import Arithmetic, Semantics
from tiebreak.golden.operators import get_operator
from tiebreak.golden.rounding import ROUND_MODES

# The roles of an operator's clauses that a facet is about; the first that the operator has is taken.
ROLES = {
    "scaling": ("quotient", "combined"),
    "position": ("position",),
    "precision": ("quotient", "combined"),
    "zero_point": ("round-first",),
    "saturation": ("range", "add"),
    "subnormals": ("quotient",),
    "round_mode": ("mode", "nearest"),
    "result": ("product",),
    "ends": ("below", "clip"),
    "output_limits": ("quotient",),
    "range": ("quotient",),
    "formula": ("combined",),
    "offset": ("offset",),
}
PHRASES = {
    ("precision", "exact"): "with an exact quotient",
    ("scaling", "reciprocal"): "multiplies by the reciprocal",
    ("scaling", "narrow reciprocal"): "multiplies by the reciprocal rounded to the input's type",
    ("scaling", "fused"): "multiplies by the rounded reciprocal and adds the zero point, fused, before rounding",
    ("scaling", "range"): "(x - low) / (high - low) * steps, of the range's ends",
    ("scaling", "range, multiplied"): "x * factor + shift, of the range's ends",
    ("scaling", "range, fused"): "x * factor + shift, of the range's ends, fused",
    ("scaling", "factor"): "multiplies by a factor computed first",
    ("scaling", "step"): "divides by a step computed first",
    ("zero_point", "before rounding"): "adds the zero point before rounding, in the input's type",
    ("zero_point", "before rounding, in float64"): "adds the zero point before rounding, in float64",
    ("saturation", "wrap"): "no clamp: wraps around",
    ("saturation", "narrow range"): "narrow range: the lowest value is never used",
    ("saturation", "clamp before zero point"): "clamps before the zero point is added",
    ("saturation", "clamp before zero point, then wrap"): "clamps before the zero point is added, then wraps",
    ("saturation", "int32"): "casts to int32 before clamping, which overflows",
    ("saturation", "int32, then wrap"): "casts to int32 and takes its low bits",
    ("saturation", "int32, then a wider sum"): "casts to int32, which overflows, before a wider sum is clamped",
    ("saturation", "int64"): "casts to int64 before clamping, which overflows",
    ("saturation", "float32"): "sum with the zero point computed in float32",
    ("saturation", "float32, then a cast"): "sum and clamp in float32, and the cast overflows",
    ("subnormals", "inputs flushed"): "flushes subnormal inputs to zero",
    ("subnormals", "scales flushed"): "flushes subnormal scales to zero",
    ("subnormals", "inputs and scales flushed"): "flushes subnormal inputs and scales to zero",
    ("subnormals", "quotients flushed"): "flushes subnormal quotients to zero",
    ("subnormals", "all flushed"): "flushes all subnormals to zero",
    ("subnormals", "flushed"): "flushes subnormals to zero",
    ("ends", "clamped"): "x clamped to the limits goes through the arithmetic",
    ("ends", "result clamped"): "only the result is clamped",
    ("output_limits", "of 8 bits"): "output limits rebuilt from a zero point and a scale of 8 bits",
    ("output_limits", "of 4 bits"): "output limits rebuilt from a zero point and a scale of 4 bits",
    ("range", "nudged"): "shifts the limits so that 0 is a level",
    ("offset", "on the other side"): "takes the offset on the other side of rounding",
}
WITH_ZERO_POINT = ("fused", "range", "range, multiplied", "range, fused")  # these say already that it is added first
ORDER = (  # of the phrases; those on precision and rounding come last
    *("scaling", "position", "formula", "offset", "zero_point"),
    *("range", "ends", "saturation", "subnormals", "output_limits", "result"),
)


def cause_of(arithmetic: Arithmetic, semantics: Semantics) -> Cause:
    """A cause that names every facet in which a semantics differs from the document's, scaling first."""
    names = arithmetic.candidates.names
    return cause_of_facets(arithmetic.node.operator, names, arithmetic.documented, semantics)


@lru_cache(maxsize=1 << 16)
def cause_of_facets(operator: str, names: tuple[str, ...], documented: Semantics, semantics: Semantics) -> Cause:
    plain = dict(zip(names, documented, strict=True))
    own = dict(zip(plain, semantics, strict=True))
    unlike = [name for name in (*ORDER, "precision", "round_mode") if name in own and own[name] != plain[name]]
    words = {name: phrase(name, own[name], plain[name]) for name in unlike}
    if "zero_point" in words and own["scaling"] in WITH_ZERO_POINT:
        del words["zero_point"]
    if "precision" in words and "zero_point" in words:
        words["zero_point"] = words["zero_point"].removesuffix(", in the input's type")
    if unlike == ["precision"] and "zero_point" in own:
        words["precision"] = f"divides {words['precision']}"
    if own.get("scaling") == "reciprocal":
        words["scaling"] += f" {words.pop('precision')}" if "precision" in words else " rounded to the input's type"
    return Cause(", ".join(words.values()), role_of(operator, unlike[0]))


def phrase(facet: str, value: str, plain: str) -> str:
    if (facet, value) in PHRASES:
        return PHRASES[facet, value]
    if facet == "precision":
        return f"in {value}"
    if facet == "round_mode":
        return mode_cause(plain, value).text if value in ROUND_MODES and plain in ROUND_MODES else value
    return f"{facet.replace('_', ' ')} {value}"


def role_of(operator: str, facet: str) -> str:
    roles = get_operator(operator).roles
    return next((role for role in ROLES[facet] if role == "mode" or role in roles), "mode")
