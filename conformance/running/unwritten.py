"""Memory that nobody wrote: a call whose result is what the call before it left there.

No arithmetic gives such a result, so it is asked for: the case after other calls whose outputs have its shape, twice,
and in another process. Where it gives theirs each time, it has written nothing. A library that gets new memory for each
call has it from the system's allocator: the case is asked in two processes in which that fills memory with a byte.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import numpy as np

from tiebreak.adapters.filled_memory import BYTES, filling
from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.adapters.outcome import NOT_DETERMINISTIC, Outcome
from tiebreak.conformance.causes.settling import Settled
from tiebreak.conformance.judging.deviating import DeviatingElements
from tiebreak.conformance.running.outcomes import Runner
from tiebreak.conformance.running.recording import BackendRecords
from tiebreak.conformance.running.repeating import codes_again
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.problems import output_slices, problems_of
from tiebreak.golden.verdicts import UNEXPLAINED
from tiebreak.reports.root_cause import UNWRITTEN, UNWRITTEN_TEXT

FILLS = (1, 5, 90)  # of the calls before: products that differ, in any type of 8 bits
MOST = 32  # cases of a backend
MOST_CHANGING = 256  # of which the outputs change


def unwritten_elements(backend: Runner, records: BackendRecords) -> dict[str, Array]:
    """By case id, which elements (bool, of all outputs) are what the call before left, or filled memory."""
    found = left_by_others(backend, records)
    if not isinstance(backend, IsolatedBackend):
        return found
    return found | filled_elements(backend, [case for case in doubtful(records) if case.id not in found])


def left_by_others(backend: Runner, records: BackendRecords) -> dict[str, Array]:
    """By case id, which elements are what the call before left."""
    found = {case.id: written_by_others(backend, case) for case in suspects(records)}
    found = {name: elements for name, elements in found.items() if elements.any()}
    if not found or not isinstance(backend, IsolatedBackend):
        return found
    by_id = {case.id: case for case in records.cases}
    with backend.in_another_process() as other:
        return {name: elements & written_by_others(other, by_id[name]) for name, elements in found.items()}


def suspects(records: BackendRecords) -> list[Case]:
    """Cases with a result of no numbers, as of an empty sum; then those where the same operands have many answers."""
    ran = [case for case in records.cases if case.id in records.outputs and case.size]
    empty = [case for case in ran if any(0 in array.shape for array in case.inputs)]
    every = [*empty, *(records.cases[number] for number in records.at_random)]
    return list({case.id: case for case in every if not case.node.baked}.values())[:MOST]


def doubtful(records: BackendRecords) -> list[Case]:
    """Cases whose outputs change from call to call, and the suspects that deviate."""
    pairs = zip(records.cases, records.outcomes, strict=True)
    changing = [case for case, outcome in pairs if outcome.fault == NOT_DETERMINISTIC]
    wrong = {number for deviating in records.deviating for number in deviating.case.tolist()}
    known = {records.cases[number].id for number in wrong}
    return [*changing[:MOST_CHANGING], *(case for case in suspects(records) if case.id in known)]


def filled_elements(backend: IsolatedBackend, cases: Sequence[Case]) -> dict[str, Array]:
    """By case id, which elements are the byte with which memory is filled, in one process and in another."""
    if not cases:
        return {}
    answers = []
    for byte in BYTES:
        with backend.in_another_process(filling(byte, os.environ)) as other:
            answers.append(other.run_batch(cases))
    found = {case.id: as_filled(case, *both) for case, *both in zip(cases, *answers, strict=True)}
    return {name: elements for name, elements in found.items() if elements.any()}


def as_filled(case: Case, one: Outcome, other: Outcome) -> Array:
    """Which elements are filled memory; none where the answers differ in anything else."""
    if codes_again(case, one) is None or codes_again(case, other) is None:
        return np.zeros(0, bool)
    pairs = [tuple(map(bytes_of, both)) for both in zip(one.outputs, other.outputs, strict=True)]
    unwritten = np.concatenate([((a == BYTES[0]) & (b == BYTES[1])).all(axis=1) for a, b in pairs])
    same = np.concatenate([(a == b).all(axis=1) for a, b in pairs])
    return unwritten & bool((unwritten | same).all())


def bytes_of(output: Array) -> Array:
    """A row of bytes for each element."""
    return np.ascontiguousarray(output).reshape(-1).view(np.uint8).reshape(-1, output.dtype.itemsize)


def written_by_others(backend: Runner, case: Case) -> Array:
    """Which elements are what the call before gave, each time that they are asked; none if that is always the same."""
    before = calls_before(case)
    asked = [one for _ in range(2) for other in before for one in (other, case)]
    answers = backend.run_batch(asked, lambda case, outcome: None)
    codes = [codes_again(case, outcome) for case, outcome in zip(asked, answers, strict=True)]
    size = next((own.size for own in codes if own is not None), 0)
    if any(own is None or own.size != size for own in codes):
        return np.zeros(size, bool)
    left, given = np.array(codes[::2]), np.array(codes[1::2])
    same = np.asarray((left == given).all(axis=0))
    return same & bool((same & (given != given[0])).any())


def calls_before(case: Case) -> list[Case]:
    """The case with other numbers and outputs of the same shapes: an axis of no elements has one there."""
    empty = any(0 in array.shape for array in case.inputs)
    made = (tuple(filled(case.inputs, fill, empty=empty)) for fill in FILLS)
    return [Case(f"{case.id}/before-{n}", case.node, inputs, "generated") for n, inputs in enumerate(made)]


def filled(inputs: Sequence[Array], fill: int, *, empty: bool) -> Iterator[Array]:
    for number, array in enumerate(inputs):
        if 0 in array.shape or not (empty or number):
            yield np.full([size or 1 for size in array.shape], fill).astype(array.dtype)
        else:
            yield array


def with_unwritten(records: BackendRecords, deviating: DeviatingElements, named: Settled | None) -> Settled | None:
    """The causes of deviating elements, with this one where it was seen and no other is known."""
    if named is None or not records.unwritten:
        return named
    ids, texts, clauses = (column.copy() for column in named)
    starts = {case.id: starts_of(case) for case in records.cases if case.id in records.unwritten}
    for place, number in enumerate(deviating.case.tolist()):
        name, element = records.cases[number].id, int(deviating.index[place])
        if name in starts and ids[place] == UNEXPLAINED:
            element += starts[name][deviating.output[place]]
            if records.unwritten[name][element]:
                ids[place], texts[place] = UNWRITTEN, UNWRITTEN_TEXT
    return ids, texts, clauses


def starts_of(case: Case) -> dict[str, int]:
    """Where each output starts among the codes of all."""
    problems = problems_of(case)
    return {problem.output: own.start for problem, own in zip(problems, output_slices(problems), strict=True)}
