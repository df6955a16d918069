"""Describes a semantics as a cause: by the facets in which it differs from the document's."""

from __future__ import annotations

from functools import lru_cache

from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.operators.quantize_pairs import mode_cause
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.conformance.semantics.model import Arithmetic, Semantics
from tiebreak.conformance.semantics.places import AWAY, FLOOR, TRUNCATE
from tiebreak.conformance.semantics.quantize_facets import BEFORE
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
KEYS = {
    ("scaling", "narrow reciprocal"): "own-reciprocal",
    ("scaling", "fused"): "reciprocal-plus-zero-point-fused",
    ("scaling", "range"): "range-formula",
    ("scaling", "range, multiplied"): "factor-and-shift",
    ("scaling", "range, fused"): "factor-and-shift-fused",
    ("scaling", "factor"): "factor-first",
    ("scaling", "step"): "step-first",
    ("zero_point", "before rounding"): "zero-point-first-in-own-type",
    ("zero_point", "before rounding, in float64"): "zero-point-first-in:float64",
    ("round_mode", FLOOR): "floor-of-half-more",
    ("round_mode", TRUNCATE): "adds-half-and-truncates",
    ("round_mode", AWAY): "half-added-to-magnitude",
    ("saturation", "wrap"): "wraps",
    ("saturation", "narrow range"): "narrow-range",
    ("saturation", "clamp before zero point"): "clamps-before-zero-point",
    ("saturation", "clamp before zero point, then wrap"): "clamps-before-zero-point-and-wraps",
    ("saturation", "int32"): "casts-to-int32",
    ("saturation", "int32, then wrap"): "casts-to-int32-and-wraps",
    ("saturation", "int32, then a wider sum"): "casts-to-int32-then-wider-sum",
    ("saturation", "int64"): "casts-to-int64",
    ("saturation", "int64, then a wider sum"): "casts-to-int64-then-wider-sum",
    ("saturation", "float32"): "sum-in:float32",
    ("saturation", "float32, then a cast"): "sum-and-clamp-in-float32",
    ("subnormals", "inputs flushed"): "flushes-inputs",
    ("subnormals", "scales flushed"): "flushes-scales",
    ("subnormals", "inputs and scales flushed"): "flushes-inputs-and-scales",
    ("subnormals", "quotients flushed"): "flushes-quotients",
    ("subnormals", "all flushed"): "flushes-all",
    ("subnormals", "flushed"): "flushes",
    ("ends", "clamped"): "clamped-goes-through",
    ("ends", "result clamped"): "only-result-clamped",
    ("output_limits", "of 8 bits"): "rebuilds-limits:8 bits",
    ("output_limits", "of 4 bits"): "rebuilds-limits:4 bits",
    ("range", "nudged"): "nudges-range",
    ("offset", "on the other side"): "offset-on-other-side",
    ("formula", "SCALED by magnitude"): "one-scale-for-both-sides",
}
EXACT = "exact"
WITH_ZERO_POINT = ("fused", "range", "range, multiplied", "range, fused")  # these say already that it is added first
ORDER = (  # of the keys; those on precision and rounding come last
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
    keys = {name: key_of(name, own[name], plain[name]) for name in unlike}
    if "zero_point" in keys and own["scaling"] in WITH_ZERO_POINT:
        del keys["zero_point"]
    if "precision" in keys and "zero_point" in keys and own["zero_point"] == BEFORE:
        keys["zero_point"] = "zero-point-first"
    if "precision" in keys and unlike == ["precision"] and "zero_point" in own:
        keys["precision"] = "divides-exactly" if own["precision"] == EXACT else f"divides-in:{own['precision']}"
    if own.get("scaling") == "reciprocal":
        keys["scaling"] = reciprocal_in(own["precision"] if keys.pop("precision", "") else "")
    return Cause(JOINT.join(keys.values()), role_of(operator, unlike[0]))


def reciprocal_in(precision: str) -> str:
    """The key of a reciprocal; no precision: it has the input's type."""
    if not precision:
        return "own-reciprocal"
    return "reciprocal-exactly" if precision == EXACT else f"reciprocal:{precision}"


def key_of(facet: str, value: str, plain: str) -> str:
    """The key of a facet's value that differs from the document's."""
    if facet == "precision":
        return "exactly" if value == EXACT else f"in:{value}"
    if facet == "round_mode" and value in ROUND_MODES and plain in ROUND_MODES:
        return mode_cause(plain, value).id
    return KEYS.get((facet, value), f"{facet}:{value}")


def role_of(operator: str, facet: str) -> str:
    roles = get_operator(operator).roles
    return next((role for role in ROLES[facet] if role == "mode" or role in roles), "mode")
