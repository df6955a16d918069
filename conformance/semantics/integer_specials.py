"""What NaN and infinities give as integers: an end of the type, 0, or what the largest finite number gives."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from tiebreak.conformance.semantics.model import Facet
from tiebreak.conformance.semantics.special_calls import NON_FINITE
from tiebreak.conformance.semantics.special_results import AS_LARGE, SpecialResult, SpecialResults
from tiebreak.golden.elements import IntegerType

ZERO = SpecialResult("zero", "0", lambda quantized: 0)
ENDS = (
    SpecialResult("lowest", "the type's lowest value", lambda quantized: quantized.lowest),
    SpecialResult("highest", "the type's highest value", lambda quantized: quantized.highest),
    ZERO,
    AS_LARGE,
)


@lru_cache(maxsize=16)
def special_facets(quantized: IntegerType) -> tuple[Facet, ...]:
    """Where the type's range begins with 0, "zero" and "lowest" coincide: only "lowest" is kept."""
    values = tuple(end for end in ENDS if quantized.lowest or end is not ZERO)
    return tuple(Facet(name, values) for name in NON_FINITE)


class IntegerSpecials(SpecialResults):
    """A table of a node with an integer output."""

    @property
    def specials(self) -> tuple[Facet, ...]:
        return special_facets(self.node.quantized)

    def ends(self, others: Sequence[Any]) -> Sequence[Any]:
        return (self.node.quantized,)
