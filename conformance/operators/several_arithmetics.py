"""Why a dequantizer has no table of facets: what is known of its arithmetics is in its causes."""

from __future__ import annotations

from tiebreak.conformance.operators.model import Absent
from tiebreak.conformance.semantics.causes import sentence_of


def several_arithmetics(of: str, causes: tuple[str, ...]) -> Absent:
    """The reason, for inputs `of` some types. It has the sentences of those `causes` that are other arithmetics."""
    told = "; ".join(map(sentence_of, causes))
    return Absent(f"no table of facets has {of} that become reals. Runs name other arithmetics as causes: {told}")
