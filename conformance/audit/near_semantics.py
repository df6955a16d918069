"""The semantics near the document's own, and what they predict for the elements of recorded cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from tiebreak.conformance.audit.operators import arithmetic_of
from tiebreak.conformance.audit.recorded_elements import RecordedElements, per_tensor_node
from tiebreak.conformance.semantics.model import Arithmetic, Semantics
from tiebreak.conformance.semantics.precisions import FLOAT64
from tiebreak.golden.elements import ELEMENT_TYPES, IntegerType
from tiebreak.golden.make_node import node_from_key
from tiebreak.golden.problem import Array

MOST_SAMPLED = 800  # deviating elements of a kind of node that are compared with every semantics
MOST_LIKELY = 100  # semantics that are compared with all elements at a time
MOST_ELEMENTS = 20_000  # elements of a kind of node that are compared
MOST_KEPT = 16_000_000  # predicted codes of a kind of node that are kept


@dataclass(frozen=True)
class NearSemantics:
    """The semantics of an arithmetic near the document's own, and in how many facets each differs from it."""

    arithmetic: Arithmetic
    every: list[Semantics]
    distances: Array


@lru_cache(maxsize=256)
def near_semantics(node: str, most: int) -> NearSemantics:
    """Those that differ from the document's in at most `most` facets; `node` is the key of a per-tensor node.

    Those in float64 come last: of equals the first is named, and float32 often gives the same for narrower types.
    """
    arithmetic = arithmetic_of(node_from_key(node))
    distances = arithmetic.candidates.distances(arithmetic.documented)
    near = np.flatnonzero((distances > 0) & (distances <= most))
    near = near[np.argsort([FLOAT64 in arithmetic.candidates.all[number] for number in near], kind="stable")]
    return NearSemantics(arithmetic, [arithmetic.candidates.all[number] for number in near], distances[near])


@dataclass
class SameArithmetic:
    """The elements of cases whose nodes have the same arithmetic, and its semantics near the document's own.

    `most`: the number of facets in which a semantics may differ from the document's. Semantics are named by their
    numbers.
    """

    elements: RecordedElements
    most: int
    predicted: dict[int, Array] = field(default_factory=dict)  # by semantics: what it gives for all elements

    @cached_property
    def node(self) -> str:
        """The key of the per-tensor node: the cases differ in how their parameters are laid out."""
        return per_tensor_node(self.elements.cases[0].node).key

    @cached_property
    def near(self) -> NearSemantics:
        return near_semantics(self.node, self.most)

    @property
    def arithmetic(self) -> Arithmetic:
        return self.near.arithmetic

    @property
    def is_real(self) -> bool:
        """Whether the results are real numbers."""
        return not isinstance(ELEMENT_TYPES[self.elements.cases[0].node.output_type], IntegerType)

    @cached_property
    def sample(self) -> Array:
        """At most about MOST_SAMPLED deviating elements, those of cases with few first: their indices."""
        found = self.elements
        order = np.argsort(found.count_by_case(found.deviating), kind="stable")
        return found.first_cases(found.deviating, order, MOST_SAMPLED)

    @cached_property
    def gives(self) -> Array:
        """A table of booleans: which of the sample's elements (columns) each semantics (rows) reproduces."""
        probe, outputs = self.elements.probe_at(self.sample), self.elements.outputs[self.sample]
        found = np.empty((len(self.near.every), outputs.size), bool)
        for row, predicted in zip(found, self.arithmetic.predict(probe, self.near.every), strict=True):
            np.equal(predicted, outputs, out=row)
        return found

    def likeliest(self, left: Array) -> list[int]:
        """The semantics that reproduce the most of the sample's elements in `left` (a mask of all elements)."""
        given = np.count_nonzero(self.gives[:, left[self.sample]], axis=1)
        order = np.lexsort((self.near.distances, -given))[:MOST_LIKELY]
        return [int(number) for number in np.sort(order[given[order] > 0])]  # neighbours share facets

    def documented(self, at: Array) -> Array:
        """What the document's own semantics gives for some elements (indices)."""
        (codes,) = self.arithmetic.predict(self.elements.probe_at(at), [self.arithmetic.documented])
        return codes

    def predictions(self, at: Array, likely: Sequence[int]) -> Iterator[Array]:
        """What each semantics gives for some elements (indices).

        Unless there are very many elements, they are predicted for all of them at once and kept for other parts.
        """
        if self.elements.owners.size > MOST_ELEMENTS:
            yield from self.arithmetic.predict(self.elements.probe_at(at), [self.near.every[n] for n in likely])
            return
        new = [number for number in likely if number not in self.predicted]
        if (len(self.predicted) + len(new)) * MOST_ELEMENTS > MOST_KEPT:
            self.predicted.clear()
            new = list(likely)
        made = self.arithmetic.predict(self.elements.probe, [self.near.every[number] for number in new])
        self.predicted |= {number: codes.copy() for number, codes in zip(new, made, strict=True)}
        for number in likely:
            yield self.predicted[number][at]
