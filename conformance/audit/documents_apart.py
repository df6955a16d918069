"""What tells documents apart: for each two of them, a plain input for which they allow different results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import Any

import numpy as np

from tiebreak.conformance.audit.answer import operand_texts
from tiebreak.conformance.audit.operators import STAGED
from tiebreak.conformance.audit.plainness import plainest
from tiebreak.conformance.judging.rows import bits_and_decimal
from tiebreak.conformance.semantics.documents import Authority, predictions
from tiebreak.conformance.semantics.model import ANYTHING, Arithmetic, Probe
from tiebreak.conformance.semantics.quantize_probes import plain_probes
from tiebreak.golden.elements import ELEMENT_TYPES
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN

APART, OVERLAP, EQUAL = "apart", "overlap", "equal on all inputs tried"


@dataclass(frozen=True)
class Spoken:
    """A probe with what each document (by id) allows for its elements: distinct rows of codes."""

    probe: Probe
    allowed: Mapping[str, Array]

    def where(self, relation: str, one: str, other: str) -> Array:
        """The elements (a mask) for which two documents allow different results; none where either is silent.

        APART: they have no result in common. OVERLAP: one allows a result that the other does not.
        """
        if one not in self.allowed or other not in self.allowed:
            return np.zeros(self.probe.x.size, bool)
        first, second = self.allowed[one], self.allowed[other]
        known = (first != ANYTHING).all(axis=0) & (second != ANYTHING).all(axis=0)
        equal = first[:, None] == second[None]
        if relation == APART:
            return np.asarray(known & ~equal.any(axis=(0, 1)))
        return np.asarray(known & ~(equal.any(axis=0).all(axis=0) & equal.any(axis=1).all(axis=0)))


@dataclass
class Witnesses:
    """Plain inputs that tell documents apart; few serve for all pairs."""

    arithmetic: Arithmetic
    documents: Sequence[Authority]
    spoken: Sequence[Spoken]
    chosen: list[Spoken] = field(default_factory=list)

    def pair(self, one: str, other: str) -> dict[str, Any]:
        """How two documents differ, with the number of the input that shows it; None if they are equal."""
        for relation in (APART, OVERLAP):
            number = self.number_of(relation, one, other)
            if number is not None:
                return {"documents": [one, other], "relation": relation, "input": number}
        return {"documents": [one, other], "relation": EQUAL, "input": None}

    def number_of(self, relation: str, one: str, other: str) -> int | None:
        for number, own in enumerate(self.chosen):
            if own.where(relation, one, other).any():
                return number
        found = [
            plainest(self.arithmetic.node, own.probe, where, own.allowed[one][0])
            for own in self.spoken
            if (where := own.where(relation, one, other)).any()
        ]
        if not found:
            return None
        plain = min(found, key=lambda plain: plain.rank)
        self.chosen.append(allowed_by(self.arithmetic, self.documents, plain.probe))
        return len(self.chosen) - 1


def documents_apart(arithmetic: Arithmetic, documents: Sequence[Authority]) -> dict[str, Any]:
    """Every pair of the documents that say something of the node, with the plainest input on which they differ.

    A round mode that is an attribute is EVEN, unless the node has another.
    """
    arithmetic.assume()
    speaking = [document for document in documents if not document.silence(arithmetic.node)]
    spoken = [allowed_by(arithmetic, speaking, probe) for probe in probes_of(arithmetic)]
    witnesses, ids = Witnesses(arithmetic, speaking, spoken), [document.id for document in speaking]
    pairs = [witnesses.pair(one, other) for one, other in combinations(ids, 2)]
    return {
        "documents": ids,
        "inputs_compared": sum(own.probe.x.size for own in spoken),
        "inputs": [input_data(arithmetic, own) for own in witnesses.chosen],
        "pairs": pairs,
    }


def probes_of(arithmetic: Arithmetic) -> list[Probe]:
    """Plain ones first."""
    operator = arithmetic.node.operator
    has_plain = operator not in STAGED and get_operator(operator).family == "quantize"
    return list(chain(plain_probes(arithmetic.node) if has_plain else (), arithmetic.first_probes()))


def allowed_by(arithmetic: Arithmetic, documents: Sequence[Authority], probe: Probe) -> Spoken:
    found = {}
    for document in documents:
        if document.covers(probe):
            readings = document.readings(arithmetic)
            table = predictions(arithmetic, probe, readings.get(EVEN) or next(iter(readings.values())))
            found[document.id] = np.unique(table, axis=0)
    return Spoken(probe, found)


def input_data(arithmetic: Arithmetic, spoken: Spoken) -> dict[str, Any]:
    result = ELEMENT_TYPES[arithmetic.node.output_type]
    gives = {
        document: [bits_and_decimal(int(code), result)[1] for code in np.unique(codes[:, 0])]
        for document, codes in spoken.allowed.items()
    }
    return {"inputs": operand_texts(arithmetic.node, spoken.probe), "gives": gives}
