"""What the search asks of an operator: its facets, what each combination of them gives, and inputs to try.

A *semantics* is one value for each facet. A *probe* is one call of a backend. It keeps the operands of each element, so
that an element can be shown or run again alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Protocol

import numpy as np

from tiebreak.conformance.semantics import _steps
from tiebreak.golden.elements import FLOAT_TYPES, FloatType
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.problem import Array, bits_of, codes_of, kind_of

ANYTHING = np.iinfo(np.int64).min  # predicted where a semantics makes no prediction: nothing is compared there

OTHER = "other"  # stands for a facet where no facet of the table explains what differs

NAN_BITS = FLOAT_TYPES["float32"].nan_bits or 0


class Value(Protocol):
    """A value of a facet. Each facet has a class of its own for them, with the rule by which predictions use a value.

    `id` is short and stays: results and documents hold it. `sentence` says what it means. `cause` is the key in the
    table of causes of a backend that has this value where its document has another one.
    """

    @property
    def id(self) -> str: ...

    @property
    def sentence(self) -> str: ...

    @property
    def cause(self) -> str: ...


Semantics = tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class Unknown:
    """Stands for a value that is not known, and says why."""

    id: str
    sentence: str
    cause: str = ""


@dataclass(frozen=True, eq=False)
class Facet:
    """One property of an arithmetic, and the values that it may have, whose ids are distinct."""

    name: str
    values: tuple[Value, ...]

    @cached_property
    def by_id(self) -> Mapping[str, Value]:
        return {value.id: value for value in self.values}

    @property
    def sentences(self) -> dict[str, str]:
        """What each value means, by its id."""
        return {value.id: value.sentence for value in self.values}


def ids_of(semantics: Semantics) -> tuple[str, ...]:
    return tuple([value.id for value in semantics])


def semantics_of(facets: Sequence[Facet], ids: Sequence[str]) -> Semantics:
    """The semantics with these ids, one for each facet. KeyError for an id that a facet lacks."""
    return tuple(facet.by_id[one] for facet, one in zip(facets, ids, strict=True))


@dataclass(frozen=True)
class Probe:
    """One call: `x` is the first input, one-dimensional; the others are scalars, or as long as `x`."""

    x: Array
    others: tuple[Array, ...]

    def case(self, node: Node, number: int) -> Case:
        return Case(f"audit/{number}", node, (self.x, *self.others))

    def only(self, where: Array) -> Probe:
        """The elements at some places (indices or a mask), with the other inputs there."""
        many = self.x.size > 1
        others = tuple(other[where] if many and other.shape == self.x.shape else other for other in self.others)
        return Probe(np.ascontiguousarray(self.x[where]), others)


class Arithmetic(Protocol):
    """All arithmetics that one node may have. `specials` are the facets that calls with NaN or infinities show."""

    @property
    def node(self) -> Node: ...

    @property
    def facets(self) -> tuple[Facet, ...]: ...

    @property
    def documented(self) -> Semantics:
        """The document's formula, each step rounded to the input's type."""
        ...

    @property
    def specials(self) -> tuple[Facet, ...]: ...

    def region(self, wrong: Sequence[tuple[Probe, int, int]]) -> str:
        """The facet that wrong elements are about, or OTHER: each as its probe, the predicted code and the answer."""
        ...

    @property
    def candidates(self) -> Candidates:
        """The combinations that make sense and do not coincide with another one by construction."""
        ...

    def completed(self, semantics: Semantics) -> Semantics:
        """The combination with other facets changed where one value makes sense only together with others."""
        ...

    def first_probes(self) -> Iterator[Probe]:
        """Inputs on which most combinations differ."""
        ...

    def further_probe(self, random: np.random.Generator) -> Probe:
        """Random inputs of the same sort, for a search."""
        ...

    def predict(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[Array]:
        """The codes (int64) of each semantics for the probe's elements; neighbours that share facets are cheap."""
        ...

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        """What `predict` gives, and the stage of each element (float64), which never falls as a finite x grows.

        If two x have the same stage, every x between them has the same code. NaN: nothing is known of that element.
        """
        ...

    def stage_key(self, semantics: Semantics) -> Hashable:
        """Semantics with the same key have the same stages, whatever the probe."""
        ...

    def special_probes(self) -> Iterator[Probe]:
        """Calls with one element each, NaN or an infinity; and large finite ones to compare with."""
        ...

    def special_of(self, probe: Probe) -> str:
        """The name of the special facet that such a call shows; empty for a finite element."""
        ...

    def special_code(self, value: Value, probe: Probe) -> int:
        """The code that a value of the special facet stands for in this call."""
        ...

    def assume(self) -> None:
        """Assume what NaN and infinities usually give, because no backend is asked."""
        ...

    def ignore_specials(self) -> None:
        """Predict nothing where a quotient is NaN or infinite, because the answers are not known."""
        ...

    def learn_specials(self, seen: Sequence[tuple[Probe, int]]) -> Mapping[str, Sequence[Value]]:
        """Keep, for later predictions, the values of each special facet that fit the answers; return them by name."""
        ...


@dataclass(frozen=True, eq=False)
class Candidates:
    """Valid combinations of facets, in an order in which neighbours share the first ones."""

    facets: tuple[Facet, ...]
    all: tuple[Semantics, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(facet.name for facet in self.facets)

    @cached_property
    def places(self) -> dict[Semantics, int]:
        """The place of each combination."""
        return {semantics: place for place, semantics in enumerate(self.all)}

    @cached_property
    def numbers(self) -> Array:
        """Each combination (a row) as the numbers of its facets' values (columns)."""
        numbers = [{value: number for number, value in enumerate(facet.values)} for facet in self.facets]
        rows = [[own[value] for own, value in zip(numbers, one, strict=True)] for one in self.all]
        return np.array(rows, np.int8).reshape(len(self.all), len(self.facets))

    def distances(self, semantics: Semantics) -> Array:
        """In how many facets each combination differs from a semantics."""
        own = [[*facet.values, value].index(value) for facet, value in zip(self.facets, semantics, strict=True)]
        return np.asarray(np.count_nonzero(self.numbers != np.array(own, np.int8), axis=1))

    def by_facet(self, semantics: Semantics) -> dict[str, str]:
        """The ids of a combination's values, by facet."""
        return dict(zip(self.names, ids_of(semantics), strict=True))


def valid_candidates(facets: tuple[Facet, ...], is_valid: Callable[[Semantics], bool]) -> Candidates:
    every: Iterator[Semantics] = product(*(facet.values for facet in facets))
    return Candidates(facets, tuple(semantics for semantics in every if is_valid(semantics)))


def codes(output: Array) -> Array:
    """An output as int64 codes, one-dimensional: values of integers, bits of reals with one NaN.

    A type of more than 8 bits has one zero, too; in a smaller one the sign of a zero counts, as documents say.
    """
    if output.dtype == np.float32:
        return _steps.codes_of_singles(bits_of(output).reshape(-1), NAN_BITS)
    element, found = kind_of(output), codes_of(output).reshape(-1)
    if not isinstance(element, FloatType):
        return np.asarray(found, np.int64)
    found = found.astype(np.uint64)
    found = np.where(np.isnan(output.reshape(-1).astype(np.float64)), element.nan_bits or 0, found)
    if element.bits > 8:
        found = np.where(found == 1 << (element.bits - 1), 0, found)
    return found.view(np.int64)


def sign_and_others(probe: Probe) -> tuple[bytes, ...]:
    """The sign of a probe's one element and the bytes of the other inputs: a key."""
    return (b"-" if float(probe.x[0]) < 0 else b"+", *(array.tobytes() for array in probe.others))
