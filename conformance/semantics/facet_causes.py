"""The id of the cause that a semantics is: a key for each facet in which it differs from the document's."""

from __future__ import annotations

from collections.abc import Mapping

from tiebreak.conformance.semantics.causes import Cause
from tiebreak.conformance.semantics.model import Value
from tiebreak.conformance.semantics.precisions import EXACT
from tiebreak.conformance.semantics.quantize_facets import BEFORE
from tiebreak.conformance.semantics.quantize_scaling import RECIPROCAL
from tiebreak.conformance.semantics.round_modes import RoundMode
from tiebreak.golden.rounding import is_nearest, short_mode

ORDER = (  # of the keys; those on precision and rounding come last
    *(
        "scaling",
        "factor",
        "side",
        "lowest",
        "clamp",
        "forth",
        "back",
        "operand",
        "position",
        "weight",
        "formula",
        "offset",
        "minimum",
        "range_of_type",
        "narrow_range",
        "scale",
        "zero_point",
        "reading",
        "exponent",
        "sum",
        "least",
    ),
    *("range", "ends", "saturation", "subnormals", "output_limits", "result"),
    *("input_subnormals", "output_subnormals", "zero", "negative"),
    *("precision", "round_mode", "second_rounding"),
)


def mode_cause(wanted: str, other: str) -> Cause:
    """The cause "rounds by another mode": `other`, where the document asks for `wanted`."""
    alike = is_nearest(wanted) == is_nearest(other)
    fault = "ties" if alike and is_nearest(wanted) else "rounds"
    return Cause(f"{fault}:{short_mode(other)}", "mode", rank=0 if alike else 1, mode=other)


def keys_of_values(own: Mapping[str, Value], *, of_quantizer: bool, wanted: str = "") -> list[str]:
    """The keys for values, by facet, each of which is not the document's; `wanted` is the mode that it asks for."""
    keys = {name: key_of(own[name], wanted) for name in ORDER if name in own}
    scaling, precision = own.get("scaling"), own.get("precision")
    if "zero_point" in keys and getattr(scaling, "adds_zero_point", False):
        del keys["zero_point"]  # the key of the scaling says it already
    if precision and own.get("zero_point") is BEFORE and "zero_point" in keys:
        keys["zero_point"] = "zero-point-first"
    if precision and [*own] == ["precision"] and of_quantizer:
        keys["precision"] = "divides-exactly" if precision is EXACT else f"divides-in:{precision.id}"
    if precision and scaling is RECIPROCAL:
        del keys["precision"]
        keys["scaling"] = "reciprocal-exactly" if precision is EXACT else f"reciprocal:{precision.id}"
    return list(keys.values())


def key_of(value: Value, wanted: str) -> str:
    """The key of one value that is not the document's."""
    is_mode = isinstance(value, RoundMode) and not value.sum
    return mode_cause(wanted, value.id).id if is_mode else value.cause
