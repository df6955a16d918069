"""Describes a semantics as a cause: by the facets in which it differs from the document's."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache

from tiebreak.conformance.audit.operators import AUDITED
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.conformance.semantics.facet_causes import ORDER, keys_of_values
from tiebreak.conformance.semantics.model import Arithmetic, Semantics
from tiebreak.conformance.semantics.quantize_scaling import DIVIDE
from tiebreak.golden.operators import get_operator

# The roles of an operator's clauses that a facet is about; the first that the operator has is taken, unless its record
# says the role itself.
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


def cause_of(arithmetic: Arithmetic, semantics: Semantics) -> Cause:
    """A cause that names every facet in which a semantics differs from the document's, scaling first."""
    names, node = arithmetic.candidates.names, arithmetic.node
    found = cause_of_facets(node.operator, names, arithmetic.documented, semantics)
    own_role = AUDITED[node.operator].role_of
    if own_role is None:
        return found
    unlike = {
        name for name, value, plain in zip(names, semantics, arithmetic.documented, strict=True) if value is not plain
    }
    return replace(found, role=own_role(node, first_of(unlike)))


@lru_cache(maxsize=1 << 16)
def cause_of_facets(operator: str, names: tuple[str, ...], documented: Semantics, semantics: Semantics) -> Cause:
    three = zip(names, semantics, documented, strict=True)
    unlike = {name: value for name, value, plain in three if value is not plain}
    wanted = next((value.id for name, value in zip(names, documented, strict=True) if name == "round_mode"), "")
    keys = keys_of_values(unlike, of_quantizer=DIVIDE in documented, wanted=wanted)
    return Cause(JOINT.join(keys), role_of(operator, first_of(unlike)))


def first_of(unlike: Collection[str]) -> str:
    return next(name for name in ORDER if name in unlike)


def role_of(operator: str, facet: str) -> str:
    roles = get_operator(operator).roles
    return next((role for role in ROLES.get(facet, ()) if role == "mode" or role in roles), "mode")
