"""Digests of the codes that known mistakes and documents predict for the golden vectors of a file."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.conformance.audit.operators import AUDITED, arithmetic_of
from tiebreak.conformance.audit.recorded_elements import per_tensor_node
from tiebreak.conformance.causes.batches import runs_of
from tiebreak.conformance.causes.predictions import mistake_predictions, parameter_predictions, quantize_predictions
from tiebreak.conformance.judging.truths import Truth, Truths
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.model import never_elementwise
from tiebreak.conformance.semantics.documents import predictions
from tiebreak.conformance.semantics.model import Arithmetic, Probe, Semantics
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.problem import UNDEFINED, ZERO, Array, Quantization
from tiebreak.golden.problems import problems_of
from tiebreak.golden.vector_index import indexed_cases

MISTAKES, DOCUMENTS = "mistakes", "documents"
TABLE = "the table's own"  # beside the ids of documents: what an audit's table says of its node
DOCUMENTS_EACH = {"ngraph.Quantize": 8}  # its documents and its table are onnx.QuantizeLinear's, too

Key = tuple[str, str]  # MISTAKES or DOCUMENTS, and an id
Entry = tuple[int, str]  # to how many cases it applies, and the digest of their ids and the codes


@dataclass
class Digest:
    made: Any = field(default_factory=hashlib.sha256)
    cases: set[str] = field(default_factory=set)

    def add(self, case: str, codes: Array) -> None:
        """Whole numbers, a row for each of several predictions."""
        if codes.dtype.kind not in "iu":
            raise TypeError(f"{case}: codes of type {codes.dtype.name}")
        self.cases.add(case)
        self.made.update(f"{case} {codes.shape}\n".encode())
        self.made.update(codes.astype("<i8").tobytes())

    @property
    def entry(self) -> Entry:
        return len(self.cases), self.made.hexdigest()


def digests_of_file(path: Path) -> dict[Key, Entry]:
    """What is predicted for the vectors of a file, by what predicts it."""
    return digests_of_cases(indexed_cases(path))


def digests_of_cases(cases: Sequence[Case]) -> dict[Key, Entry]:
    found = defaultdict[Key, Digest](Digest)
    with np.errstate(all="ignore"):
        for case, id_, codes in codes_of_mistakes(cases):
            found[MISTAKES, id_].add(case, codes)
        for case, id_, codes in codes_of_documents(cases):
            found[DOCUMENTS, id_].add(case, codes)
    return {key: digest.entry for key, digest in found.items()}


def codes_of_mistakes(cases: Sequence[Case]) -> Iterator[tuple[str, str, Array]]:
    """What single mistakes predict, as a run's causes take it: the shared tables of quantizers, then the operator's.

    Only cases in which they deviate are here; what is no deviation is as working precision has it. Other rounding
    modes, whole or in a part of an array, are what the kernel gives. They are left out.
    """
    truths = [stored_truths(case) for case in cases]
    for case, truth, run in zip(cases, truths, runs_of(cases, [one.problems for one in truths]), strict=True):
        problem, *_ = truth.problems
        tables = [mistake_predictions(case, truth, 0)]
        if run is not None and isinstance(problem, Quantization):
            tables = [quantize_predictions(run), parameter_predictions(case, problem), *tables]
        for table in tables:
            for cause, predict in table:
                codes = predict()
                if codes is not None and (wrong := wrong_codes(codes, truth.judged_by)).any():
                    yield case.id, cause.id, np.where(wrong, codes, truth.judged_by.working)


def wrong_codes(codes: Array, truth: Truth) -> Array:
    """Where a prediction is a deviation. Elsewhere it tells nothing: it is right, or the document leaves it open."""
    found: Array = truth.specified & ~truth.agrees(codes)
    return found


def stored_truths(case: Case) -> Truths:
    """The truth that is stored with a vector, under the one mode of its node."""
    found = case.expected
    assert found is not None
    known = (found.exact_state != UNDEFINED, found.working_state != UNDEFINED)
    zero = (found.exact_state == ZERO) | (found.working_state == ZERO)
    return Truths({"": Truth(found.exact, found.working, *known, zero)}, ("",), problems_of(case))


@dataclass
class ReadDocuments:
    """A node's table of facets, and the combinations that its documents allow, by the documents' ids."""

    arithmetic: Arithmetic
    allowed: Mapping[str, Sequence[Semantics]]

    def codes(self, probe: Probe) -> Iterator[tuple[str, Array]]:
        """Those of each document. None where FakeQuantize without broadcasting takes no scalar."""
        every = list(dict.fromkeys(one for allowed in self.allowed.values() for one in allowed))
        try:
            codes = dict(zip(every, predictions(self.arithmetic, probe, every), strict=True))
        except InvalidInput:
            return
        yield from (
            (id_, np.stack([codes[one] for one in allowed])) for id_, allowed in self.allowed.items() if allowed
        )


def codes_of_documents(cases: Sequence[Case]) -> Iterator[tuple[str, str, Array]]:
    """What each combination gives that a document allows, for calls as an audit makes them: by the call and the id."""
    read: dict[str, ReadDocuments | None] = {}
    for case in cases[:: DOCUMENTS_EACH.get(cases[0].node.operator, 1)] if cases else ():
        node = per_tensor_node(case.node)
        is_new = node.key not in read
        if is_new:
            read[node.key] = read_documents(node)
        found = read[node.key]
        if found is not None:
            for name, probe in calls_of(case, found.arithmetic, is_new):
                yield from ((name, id_, codes) for id_, codes in found.codes(probe))


def calls_of(case: Case, arithmetic: Arithmetic, is_new: bool) -> Iterator[tuple[str, Probe]]:
    """The vector, if its parameters have one value each. A table that describes no vector: its own first probes."""
    elementwise = AUDITED[case.node.operator].elementwise
    if elementwise is never_elementwise:
        probes = first_probes(arithmetic) if is_new else []
        yield from ((f"{arithmetic.node.key} {number}", probe) for number, probe in enumerate(probes))
    elif case.size and all(array.size == 1 for array in case.inputs[1:]):
        found = elementwise(case)
        if found is not None:
            yield case.id, Probe(found.x, tuple(other.reshape(-1)[0].reshape(()) for other in found.others))


def first_probes(arithmetic: Arithmetic) -> list[Probe]:
    """None for a node that an audit cannot ask: without an optional input, or with numbers that its type lacks."""
    try:
        return list(arithmetic.first_probes())
    except (ValueError, IndexError, ArithmeticError):
        return []


def read_documents(node: Node) -> ReadDocuments | None:
    """None if no table describes the node. Nothing is predicted where NaN and infinities decide."""
    try:
        arithmetic = arithmetic_of(node)
    except InvalidInput:
        return None
    arithmetic.ignore_specials()
    allowed = {TABLE: [arithmetic.documented]}
    for document in AUDITED[node.operator].authorities:
        if not document.silence(node):
            readings = document.readings(arithmetic)
            allowed[document.id] = [one for mode in sorted(readings) for one in readings[mode]]
    return ReadDocuments(arithmetic, allowed)


def ids_of_operator(operator: str) -> list[Key]:
    """What its table of mistakes has, even if that applies to no vector."""
    return [(MISTAKES, cause.id) for cause, _ in TESTED[operator].mistakes or ()]
