"""What tables have in common that put special calls beside the finite ones: each value of a facet has its codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from tiebreak.conformance.semantics.finite_only import FiniteOnly
from tiebreak.conformance.semantics.model import Facet, Probe, Value
from tiebreak.golden.problem import Array

V = TypeVar("V", bound=Value)
NON_FINITE = ("nan", "positive_infinity", "negative_infinity")


def non_finite_numbers() -> tuple[float, float, float]:
    """The numbers that the facets of NON_FINITE are about, in their order."""
    return np.nan, np.inf, -np.inf


def non_finite(x: Array) -> str:
    """The facet of NON_FINITE that a call is about by its first number; empty if that is finite."""
    value = float(x.reshape(-1)[0])
    if np.isfinite(value):
        return ""
    return "nan" if np.isnan(value) else "positive_infinity" if value > 0 else "negative_infinity"


def with_own_codes(values: Iterable[V], codes: Iterable[tuple[int | None, ...]]) -> Iterator[V]:
    """Those values whose codes no earlier one has; not those that lack a code."""
    seen = set[tuple[int | None, ...]]()
    for value, own in zip(values, codes, strict=True):
        if None not in own and own not in seen:
            seen.add(own)
            yield value


class SpecialCalls(FiniteOnly):
    """A table whose `special_code` says what a value of a special facet gives in a call of that facet.

    `seen` has the values that fit, by facet, once they are learnt.
    """

    seen: Mapping[str, Sequence[Value]] = MappingProxyType({})

    def learn_specials(self, seen: Sequence[tuple[Probe, int]]) -> Mapping[str, Sequence[Value]]:
        self.seen = {facet.name: self.fitting(facet, seen) for facet in self.specials}
        return self.seen

    def fitting(self, facet: Facet, seen: Sequence[tuple[Probe, int]]) -> Sequence[Value]:
        own = [(probe, code) for probe, code in seen if self.special_of(probe) == facet.name]
        return [value for value in facet.values if all(code == self.special_code(value, p) for p, code in own)]
