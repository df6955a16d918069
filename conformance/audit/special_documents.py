"""What documents say of NaN, infinities and zeros, against what a backend gave for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tiebreak.conformance.audit.inference import Inference
from tiebreak.conformance.judging.rows import bits_and_decimal
from tiebreak.conformance.semantics.documents import Authority
from tiebreak.conformance.semantics.model import ANYTHING, Arithmetic, Facet, Probe
from tiebreak.golden.elements import ELEMENT_TYPES

Answers = Sequence[tuple[Probe, int]]


def special_documents(inference: Inference, documents: Sequence[Authority]) -> list[dict[str, Any]]:
    """A row for each document and special facet of which it says something, and which was answered.

    `gives` is what it allows and `got` what came, both for the first answer that it does not allow, else for the first.
    """
    arithmetic = inference.arithmetic
    return [row for facet in arithmetic.specials for row in rows_of(arithmetic, facet, inference, documents)]


def rows_of(
    arithmetic: Arithmetic, facet: Facet, inference: Inference, documents: Sequence[Authority]
) -> Iterator[dict[str, Any]]:
    answers = [(probe, code) for probe, code in inference.special_answers if arithmetic.special_of(probe) == facet.name]
    for document in documents:
        ids = [one for one in document.special_ids(arithmetic.node, facet.name) if one in facet.by_id]
        if ids and answers:
            yield {"facet": facet.name, "document": document.id, **agreement(arithmetic, facet, ids, answers)}


def agreement(arithmetic: Arithmetic, facet: Facet, ids: Sequence[str], answers: Answers) -> dict[str, Any]:
    """Whether every answer is one that a value gives.

    A value that predicts nothing allows everything.
    """
    result = ELEMENT_TYPES[arithmetic.node.output_type]
    found = [(sorted({arithmetic.special_code(facet.by_id[i], probe) for i in ids}), code) for probe, code in answers]
    wrong = [(allowed, code) for allowed, code in found if code not in allowed and ANYTHING not in allowed]
    allowed, code = (wrong or found)[0]
    texts = [bits_and_decimal(one, result)[1] for one in (*allowed, code)]
    return {"agrees": not wrong, "gives": texts[:-1], "got": texts[-1]}
