"""Which documents a backend meets: what it answered against what each text allows.

An answer contradicts a document if none of the combinations that the text allows gives it. So every contradiction is
one input that was really asked. The verdict is about finite numbers: what few texts say of NaN and infinities is
compared by itself (special_documents.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations as combinations_of
from typing import Any

import numpy as np

from tiebreak.conformance.audit.answer import operand_texts
from tiebreak.conformance.audit.inference import Inference
from tiebreak.conformance.audit.operators import AUDITED, STAGED
from tiebreak.conformance.audit.plainness import Plain, plainest
from tiebreak.conformance.judging.rows import bits_and_decimal
from tiebreak.conformance.semantics.documents import Authority, open_facets, predictions
from tiebreak.conformance.semantics.model import ANYTHING, Arithmetic, Probe, Semantics
from tiebreak.golden.elements import ELEMENT_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array

AUTHORITIES: Mapping[str, tuple[Authority, ...]] = {  # quantizers that need the fewest attributes come first
    operator: semantics.authorities
    for operator, semantics in sorted(
        AUDITED.items(), key=lambda item: (get_operator(item[0]).family == "cast", len(item[1].defaults))
    )
    if semantics.authorities
}
STAGED_AUTHORITIES: Mapping[str, Mapping[str, tuple[Authority, ...]]] = {  # by output
    operator: semantics.authorities for operator, semantics in STAGED.items()
}
MEETS, CONTRADICTS, UNTOLD, SILENT = "meets", "contradicts", "can't be told", "silent"

MIXED = "it allows each answer, but none of its arithmetics gives them all"


def authorities_of(operator: str) -> tuple[Authority, ...]:
    """The documents about an operator's arithmetic. Raises InvalidInput for an operator without any."""
    if operator not in AUTHORITIES:
        raise InvalidInput(f"authorities knows {', '.join((*AUTHORITIES, *STAGED_AUTHORITIES))}, not {operator!r}")
    return AUTHORITIES[operator]


@dataclass
class Reading:
    """One reading of a document against answers: the combinations that fit all of them, and the contradictions."""

    mode: str
    combinations: list[Semantics]
    relation: bool
    fits: Array
    compared: int = 0
    against: list[Plain] = field(default_factory=list)  # of each probe that contradicts, its plainest element
    contradicted: int = 0

    def compare(self, node: Node, probe: Probe, codes: Array, table: Array) -> None:
        """Counts a probe's answers; `table` has the predictions of the combinations (rows)."""
        known = (table != ANYTHING).all(axis=0) & (codes != ANYTHING)
        agree = (table == codes) | (table == ANYTHING) | (codes == ANYTHING)
        self.fits &= agree.all(axis=1)
        self.compared += int(np.count_nonzero(known))
        wrong = known & ~agree.any(axis=0)
        self.contradicted += int(np.count_nonzero(wrong))
        if wrong.any():
            self.against.append(plainest(node, probe, wrong, codes))

    @property
    def verdict(self) -> str:
        if self.contradicted:
            return CONTRADICTS
        return MEETS if self.compared and (self.relation or self.fits.any()) else UNTOLD


def judged_documents(inference: Inference, documents: Sequence[Authority], *, by_path: bool) -> list[dict[str, Any]]:
    """A row for each document: its verdict, and the plainest input that contradicts it.

    `by_path` says that some answer depends on an operand's place: then no document is met, though it may not be
    contradicted.
    """
    arithmetic = inference.arithmetic
    readings = {
        document.id: made_readings(document, arithmetic)
        for document in documents
        if not document.silence(arithmetic.node)
    }
    compare_all(arithmetic, documents, readings, inference.answered)
    found = inference.alive[0] if inference.alive else None  # what is left gives the same everywhere
    return [document_row(arithmetic, one, readings.get(one.id, []), found, by_path) for one in documents]


def made_readings(document: Authority, arithmetic: Arithmetic) -> list[Reading]:
    found = document.readings(arithmetic)
    return [
        Reading(mode, combinations, document.relation, np.ones(len(combinations), bool))
        for mode, combinations in found.items()
    ]


def compare_all(
    arithmetic: Arithmetic,
    documents: Iterable[Authority],
    readings: Mapping[str, Sequence[Reading]],
    answered: Iterable[tuple[Probe, Array]],
) -> None:
    """Compares every answer with every reading; each combination is predicted once."""
    every = {one for own in readings.values() for reading in own for one in reading.combinations}
    if not every:
        return
    in_order = sorted(every, key=arithmetic.candidates.places.__getitem__)
    row = {semantics: number for number, semantics in enumerate(in_order)}
    rows = {id(reading): [row[one] for one in reading.combinations] for own in readings.values() for reading in own}
    for probe, codes in answered:
        table = predictions(arithmetic, probe, in_order)
        for document in documents:
            if document.id in readings and document.covers(probe):
                for reading in readings[document.id]:
                    reading.compare(arithmetic.node, probe, codes, table[rows[id(reading)]])


def document_row(
    arithmetic: Arithmetic, document: Authority, readings: Sequence[Reading], found: Semantics | None, by_path: bool
) -> dict[str, Any]:
    told = {name: getattr(document, name) for name in ("id", "title", "version", "url", "says", "open")}
    row = told | {"open_facets": open_facets(document, arithmetic), "verdict": SILENT, "reading": "", "why": ""}
    row |= {"inputs": 0, "contradicted": 0, "facets": [], "witness": None, "gives": [], "got": "", "domain": ""}
    silence = document.silence(arithmetic.node)
    if silence:
        return row | {"why": silence}
    best = best_reading(readings)
    row |= {"reading": best.mode, "inputs": best.compared, "contradicted": best.contradicted, "verdict": best.verdict}
    if best.verdict == MEETS and by_path:
        row |= {"verdict": UNTOLD, "why": "an answer depends on the operand's place"}
    elif best.verdict == UNTOLD:
        row["why"] = MIXED if best.compared else "no input that it is about was answered"
    elif best.verdict == CONTRADICTS:
        row |= contradiction(arithmetic, best, found)
    return row


def best_reading(readings: Sequence[Reading]) -> Reading:
    """One that is met, else one that is not contradicted, else the one that fewest answers contradict."""
    order = (MEETS, UNTOLD, CONTRADICTS)
    return min(readings, key=lambda reading: (order.index(reading.verdict), reading.contradicted))


def contradiction(arithmetic: Arithmetic, reading: Reading, found: Semantics | None) -> dict[str, Any]:
    """The plainest input, what the document allows for it, what came, and the facet that this is about."""
    plain = min(reading.against, key=lambda one: one.rank)
    result = ELEMENT_TYPES[arithmetic.node.output_type]
    allowed = sorted({int(code) for code in predictions(arithmetic, plain.probe, reading.combinations)[:, 0]})
    return {
        "witness": operand_texts(arithmetic.node, plain.probe),
        "gives": [bits_and_decimal(code, result)[1] for code in allowed],
        "got": bits_and_decimal(plain.got, result)[1],
        "domain": plain.domain,
        "facets": broken_facets(arithmetic, reading.combinations, found, plain) if found else [],
    }


def broken_facets(
    arithmetic: Arithmetic, combinations: Sequence[Semantics], found: Semantics, plain: Plain
) -> list[str]:
    """The fewest facets that explain an answer which the combinations do not give; none if nothing explains it.

    The nearest combination, if possible of the same precision, gives the answer once these facets are taken from
    `found`, which is what the backend does.
    """
    names = arithmetic.candidates.names
    order = arithmetic.candidates.places
    base = min(combinations, key=lambda one: (one[0] is not found[0], distance(one, found), order[one]))
    unlike = [place for place, value in enumerate(found) if value is not base[place]]
    for count in range(1, len(unlike) + 1):
        for places in combinations_of(unlike, count):
            changed = tuple(found[place] if place in places else value for place, value in enumerate(base))
            if gives(arithmetic, changed, plain):
                return [names[place] for place in places]
    return []


def distance(one: Semantics, other: Semantics) -> int:
    return sum(a is not b for a, b in zip(one, other, strict=True))


def gives(arithmetic: Arithmetic, semantics: Semantics, plain: Plain) -> bool:
    """Whether a combination makes sense and gives the answer."""
    if semantics not in arithmetic.candidates.places:
        return False
    return bool(predictions(arithmetic, plain.probe, [semantics])[0, 0] == plain.got)
