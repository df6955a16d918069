"""What tells documents apart: for each two of them, a plain input for which they allow different results only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np

from tiebreak.conformance.audit.answer import operand_texts
from tiebreak.conformance.audit.plainness import plainest
from tiebreak.conformance.judging.rows import bits_and_decimal
from tiebreak.conformance.semantics.documents import Document, predictions
from tiebreak.conformance.semantics.model import ANYTHING, Arithmetic, Probe
from tiebreak.conformance.semantics.quantize_probes import plain_probes
from tiebreak.golden.elements import ELEMENT_TYPES
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN

SAME, OPEN = "equal on all inputs tried", "no input tried: one leaves open what the other says"


@dataclass(frozen=True)
class Spoken:
    """A probe with what each document (by id) allows for its elements: distinct rows of codes."""

    probe: Probe
    allowed: Mapping[str, Array]

    def apart(self, one: str, other: str) -> Array:
        """The elements (a mask) for which two documents have no result in common; False where either is silent."""
        if one not in self.allowed or other not in self.allowed:
            return np.zeros(self.probe.x.size, bool)
        first, second = self.allowed[one], self.allowed[other]
        known = (first != ANYTHING).all(axis=0) & (second != ANYTHING).all(axis=0)
        return np.asarray(known & (first[:, None] != second[None]).all(axis=(0, 1)))

    def same(self, one: str, other: str) -> bool:
        """Whether two documents allow the same results for every element, or one of them is silent."""
        if one not in self.allowed or other not in self.allowed:
            return True
        equal = self.allowed[one][:, None] == self.allowed[other][None]
        return bool(equal.any(axis=0).all() and equal.any(axis=1).all())


def documents_apart(arithmetic: Arithmetic, documents: Sequence[Document]) -> dict[str, Any]:
    """Every pair of the documents that say something of the node, with an input or with why there is none.

    Few inputs serve for all pairs. A round mode that is an attribute is EVEN, unless the node has another.
    """
    arithmetic.assume()
    speaking = [document for document in documents if not document.silence(arithmetic.node)]
    spoken = [allowed_by(arithmetic, speaking, probe) for probe in probes_of(arithmetic)]
    chosen, pairs = list[Spoken](), list[dict[str, Any]]()
    for one, other in combinations([document.id for document in speaking], 2):
        number = next((n for n, witness in enumerate(chosen) if witness.apart(one, other).any()), None)
        if number is None and (witness := plainest_apart(arithmetic, spoken, one, other)) is not None:
            chosen.append(allowed_by(arithmetic, speaking, witness))
            number = len(chosen) - 1
        same = number is None and all(own.same(one, other) for own in spoken)
        pairs.append(
            {
                "documents": [one, other],
                "input": number,
                "equal": "" if number is not None else (SAME if same else OPEN),
            }
        )
    return {
        "documents": [document.id for document in speaking],
        "inputs_compared": sum(own.probe.x.size for own in spoken),
        "inputs": [input_data(arithmetic, own) for own in chosen],
        "pairs": pairs,
    }


def probes_of(arithmetic: Arithmetic) -> list[Probe]:
    """Plain ones first."""
    plain = plain_probes(arithmetic.node) if get_operator(arithmetic.node.operator).family == "quantize" else ()
    return list(chain(plain, arithmetic.first_probes()))


def allowed_by(arithmetic: Arithmetic, documents: Sequence[Document], probe: Probe) -> Spoken:
    found = {}
    for document in documents:
        if document.covers(probe):
            readings = document.readings(arithmetic)
            table = predictions(arithmetic, probe, readings.get(EVEN) or next(iter(readings.values())))
            found[document.id] = np.unique(table, axis=0)
    return Spoken(probe, found)


def plainest_apart(arithmetic: Arithmetic, spoken: Sequence[Spoken], one: str, other: str) -> Probe | None:
    """The plainest input on which two documents have no result in common."""
    found = [
        plainest(arithmetic.node, own.probe, apart, own.allowed[one][0])
        for own in spoken
        if (apart := own.apart(one, other)).any()
    ]
    return min(found, key=lambda plain: plain.rank).probe if found else None


def input_data(arithmetic: Arithmetic, spoken: Spoken) -> dict[str, Any]:
    result = ELEMENT_TYPES[arithmetic.node.output_type]
    gives = {
        document: [bits_and_decimal(int(code), result)[1] for code in np.unique(codes[:, 0])]
        for document, codes in spoken.allowed.items()
    }
    return {"inputs": operand_texts(arithmetic.node, spoken.probe), "gives": gives}
