"""Describes a semantics as a cause: by the facets in which it differs from the document's."""

from __future__ import annotations

from functools import lru_cache

from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.operators.quantize_pairs import mode_cause
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.conformance.semantics.model import Arithmetic, Semantics, Value
from tiebreak.conformance.semantics.precisions import EXACT
from tiebreak.conformance.semantics.quantize_facets import BEFORE
from tiebreak.conformance.semantics.quantize_scaling import RECIPROCAL
from tiebreak.conformance.semantics.round_modes import RoundMode
from tiebreak.golden.operators import get_operator

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
    unlike = [name for name in (*ORDER, "precision", "round_mode") if name in own and own[name] is not plain[name]]
    keys = {name: key_of(own[name], plain[name]) for name in unlike}
    if "zero_point" in keys and getattr(own["scaling"], "adds_zero_point", False):
        del keys["zero_point"]  # the key of the scaling says it already
    if "precision" in keys and "zero_point" in keys and own["zero_point"] is BEFORE:
        keys["zero_point"] = "zero-point-first"
    if unlike == ["precision"] and "zero_point" in own:
        keys["precision"] = "divides-exactly" if own["precision"] is EXACT else f"divides-in:{own['precision'].id}"
    if own.get("scaling") is RECIPROCAL and "precision" in keys:
        del keys["precision"]
        keys["scaling"] = "reciprocal-exactly" if own["precision"] is EXACT else f"reciprocal:{own['precision'].id}"
    return Cause(JOINT.join(keys.values()), role_of(operator, unlike[0]))


def key_of(value: Value, plain: Value) -> str:
    """The key of a facet's value that is not the document's."""
    is_mode = isinstance(value, RoundMode) and not value.sum
    return mode_cause(plain.id, value.id).id if is_mode else value.cause


def role_of(operator: str, facet: str) -> str:
    roles = get_operator(operator).roles
    return next((role for role in ROLES[facet] if role == "mode" or role in roles), "mode")
