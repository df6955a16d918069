"""What the search asks of an operator: its facets, what each combination of them gives, and inputs to try.

A *semantics* is one value for each facet. A *probe* is one call of a backend: the tensors, and each element's operands
in order, so that an element can be shown, or run again, alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Protocol

import numpy as np

from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.problem import Array, codes_of

ANYTHING = np.iinfo(np.int64).min  # predicted where a semantics says nothing: it is not held to that element

OTHER = "other"  # the facet that broke, where it is none of the table

Semantics = tuple[str, ...]


@dataclass(frozen=True)
class Facet:
    """One property of an arithmetic. `values` name what it may be, each with a sentence for people."""

    name: str
    values: Mapping[str, str]


@dataclass(frozen=True)
class Probe:
    """One call. `x` is the first input, flat; the others are scalars."""

    x: Array
    others: tuple[Array, ...]

    def case(self, node: Node, number: int) -> Case:
        return Case(f"audit/{number}", node, (self.x, *self.others))

    def only(self, where: Array) -> Probe:
        return Probe(np.ascontiguousarray(self.x[where]), self.others)


class Arithmetic(Protocol):
    """Of one operator's nodes. `specials` are facets that a call with NaN or an infinity shows by itself."""

    @property
    def node(self) -> Node: ...

    @property
    def facets(self) -> tuple[Facet, ...]: ...

    @property
    def documented(self) -> Semantics:
        """The document's own, each step rounded to the input's type."""
        ...

    @property
    def specials(self) -> tuple[Facet, ...]: ...

    def region(self, wrong: Sequence[tuple[Probe, int, int]]) -> str:
        """The facet with which elements (what was predicted, what came) have to do, on which the closest is wrong."""
        ...

    def valid(self, semantics: Semantics) -> bool:
        """Whether a combination makes sense and is not another one by construction."""
        ...

    def completed(self, semantics: Semantics) -> Semantics:
        """The valid combination that is meant by one with a single value that asks for others."""
        ...

    def first_probes(self) -> Iterator[Probe]:
        """Inputs that tell most combinations apart."""
        ...

    def further_probe(self, random: np.random.Generator) -> Probe:
        """Other inputs of the kind, for a search."""
        ...

    def predict(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[Array]:
        """Codes (int64) that each gives for the probe's elements; neighbours that share facets are cheap."""
        ...

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        """What `predict` gives, and for each element its stage (float64), which never falls as a finite x grows.

        Where it is the same for two x, each x between them has the same code; NaN if nothing is known of that.
        """
        ...

    def special_probes(self) -> Iterator[Probe]:
        """Calls whose one element is NaN or an infinity."""
        ...

    def special_of(self, probe: Probe) -> str:
        """The special facet that such a call shows."""
        ...

    def special_code(self, value: str, probe: Probe) -> int:
        """The code that a value of it stands for."""
        ...

    def assume(self) -> None:
        """Take it that NaN and infinities give what they usually do, where no backend is asked."""
        ...

    def ignore_specials(self) -> None:
        """Predict nothing of quotients that are no numbers: what they give is not known."""
        ...

    def learn_specials(self, seen: Sequence[tuple[Probe, int]]) -> dict[str, list[str]]:
        """For each special facet the values that fit what came; predictions know them from then on."""
        ...


@dataclass(frozen=True)
class Candidates:
    """All valid combinations of an arithmetic's facets, in an order in which neighbours share the first ones."""

    arithmetic: Arithmetic
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(facet.name for facet in self.arithmetic.facets))

    @cached_property
    def all(self) -> list[Semantics]:
        values = [tuple(facet.values) for facet in self.arithmetic.facets]
        return [semantics for semantics in product(*values) if self.arithmetic.valid(semantics)]

    def by_facet(self, semantics: Semantics) -> dict[str, str]:
        return dict(zip(self.names, semantics, strict=True))


def codes(output: Array) -> Array:
    """An output as numbers to compare (int64, flat): values of integers, bits of reals, one NaN and one zero."""
    kind, found = ELEMENT_TYPES[output.dtype.name], codes_of(output).reshape(-1)
    if not isinstance(kind, FloatType):
        return np.asarray(found, np.int64)
    found = found.astype(np.uint64)
    found = np.where(np.isnan(output.reshape(-1).astype(np.float64)), kind.nan_bits or 0, found)
    return np.where(found == 1 << (kind.bits - 1), 0, found).view(np.int64)


def sign_and_others(probe: Probe) -> tuple[bytes, ...]:
    """A probe of one element by its sign and its other inputs."""
    return (b"-" if float(probe.x[0]) < 0 else b"+", *(array.tobytes() for array in probe.others))
