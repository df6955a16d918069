"""What NaN and infinities give as integers: an end of the type, 0, or what the largest finite number gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import cast

from tiebreak.conformance.semantics.finite_only import FiniteOnly
from tiebreak.conformance.semantics.model import ANYTHING, Facet, Probe, Value, sign_and_others
from tiebreak.conformance.semantics.special_calls import NON_FINITE, non_finite
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.nodes import Node


@dataclass(frozen=True, eq=False)
class SpecialCode:
    """What NaN or an infinity gives: a `value`, or what the largest finite number of that sign gives."""

    id: str
    sentence: str
    value: Callable[[IntegerType], int] | None = None
    cause: str = ""


ZERO = SpecialCode("zero", "0", lambda quantized: 0)
ENDS = (
    SpecialCode("lowest", "the type's lowest value", lambda quantized: quantized.lowest),
    SpecialCode("highest", "the type's highest value", lambda quantized: quantized.highest),
    ZERO,
    SpecialCode("as-large-numbers", "what the largest finite number of that sign gives"),
)


@lru_cache(maxsize=16)
def special_facets(quantized: IntegerType) -> tuple[Facet, ...]:
    """Where the type's range begins with 0, "zero" and "lowest" coincide: only "lowest" is kept."""
    values = tuple(end for end in ENDS if quantized.lowest or end is not ZERO)
    return tuple(Facet(name, values) for name in NON_FINITE)


@dataclass
class IntegerSpecials(FiniteOnly):
    """A table of a node with an integer output, whose special probes have large finite numbers beside the others."""

    node: Node
    seen: dict[str, list[SpecialCode]] = field(default_factory=dict, kw_only=True)
    large: dict[tuple[bytes, ...], int] = field(default_factory=dict, kw_only=True)  # by sign and other operands

    @property
    def specials(self) -> tuple[Facet, ...]:
        return special_facets(self.node.quantized)

    def special_of(self, probe: Probe) -> str:
        return non_finite(probe.x)

    def special_code(self, value: Value, probe: Probe) -> int:
        end = cast(SpecialCode, value)
        return end.value(self.node.quantized) if end.value else self.large.get(sign_and_others(probe), ANYTHING)

    def learn_specials(self, seen: Sequence[tuple[Probe, int]]) -> Mapping[str, Sequence[Value]]:
        self.large = {sign_and_others(probe): code for probe, code in seen if not self.special_of(probe)}
        for facet in self.specials:
            own = [(probe, code) for probe, code in seen if self.special_of(probe) == facet.name]
            ends = (cast(SpecialCode, value) for value in facet.values)
            fits = [end for end in ends if all(code == self.special_code(end, probe) for probe, code in own)]
            self.seen[facet.name] = [end for end in fits if end.value] or fits  # a named value says more
        return self.seen
