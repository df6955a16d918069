"""Asks a live backend more about a few cases that deviate: one case alone fits many causes.

The answers are evidence for causes only. They are in no record, and no verdict depends on them.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import chain, islice, zip_longest

import numpy as np

from tiebreak.conformance.audit.inference import splitting_places
from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.causes.predictions import predictions
from tiebreak.conformance.judging.chunk import Chunk, Chunks, chunks_of
from tiebreak.conformance.judging.judge import judge
from tiebreak.conformance.judging.narrow import NarrowCodes
from tiebreak.conformance.judging.rows import Group
from tiebreak.conformance.judging.truths import Truths
from tiebreak.conformance.running.outcomes import Runner
from tiebreak.conformance.running.recording import BackendRecords, record_chunk
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Case, Node, with_constants
from tiebreak.golden.problem import Array
from tiebreak.golden.problems import problems_of
from tiebreak.golden.verdicts import DEVIATES, GRADES

FEW = 20  # cases of a run; with more of them, the run itself is evidence enough
AT_ONCE = 32  # cases; none further is asked once one of them crashes or hangs
MOST = 64  # cases of each sort
LOOKED_THROUGH = 16  # vectors, for elements on which causes differ
ENDING = ("crash", "timeout")
LAYOUT = ("axis", "axes", "block_size")


def further_records(backend: Runner, records: BackendRecords) -> BackendRecords | None:
    """What the backend gives for the golden vectors of the nodes that deviate, and for their values in like arrays.

    None for a run with more than a few cases, or if nothing deviates.
    """
    if len(records.cases) > FEW:
        return None
    pairs = zip(records.cases, records.verdicts, strict=True)
    wrong = [case for case, verdict in pairs if verdict == GRADES[DEVIATES] and case.size]
    each = (further_cases(case, records.outputs[case.id], records.errors) for case in wrong)
    asked = {case.id: case for case in chain.from_iterable(each)}
    cases = [case for name, case in asked.items() if name not in records.outputs]
    return answers(backend, records, cases) if cases else None


def answers(backend: Runner, records: BackendRecords, cases: Sequence[Case]) -> BackendRecords:
    found, chunks = BackendRecords(records.facts, errors=records.errors), Chunks()
    for start in range(0, len(cases), AT_ONCE):
        for part in chunks_of(cases[start : start + AT_ONCE]):
            chunks.expect([part])
            record_chunk(found, part, backend.run_batch(part, lambda case, outcome: None), chunks)
            chunks.done(part)
        if any(verdict in ENDING for verdict in found.verdicts):
            break
    return found


def further_cases(case: Case, outputs: Array, errors: ExplanationErrors) -> Iterator[Case]:
    """The values of golden vectors in an array of the case's shape, with its constants, then vectors of its node.

    `outputs` are the codes that the backend gave for the case. Values on which the causes differ that fit these come
    first. Where no vector has the node's attributes, those of other attributes lend their values.
    """
    vectors = vectors_of(case.node, with_attributes=True)
    lent = [one for one in vectors or vectors_of(case.node, with_attributes=False) if has_single_values(one)]
    fitting = fitting_causes(case, outputs, errors)
    separating = [separating_elements(one, fitting, errors) for one in lent[:LOOKED_THROUGH]]
    yield from islice(alike(case, lent, separating), MOST)
    yield from vectors[:MOST]


def fitting_causes(case: Case, outputs: Array, errors: ExplanationErrors) -> set[str]:
    """The ids of the known mistakes that give these outputs wherever they deviate."""
    truths = all_truths_of(case)
    wrong = judge(outputs, truths.judged_by, truths).grades == DEVIATES
    every = predictions(case, truths, errors, case.id)
    return {cause.id for cause, codes in every if (codes == outputs)[wrong].all()}


def all_truths_of(case: Case) -> Truths:
    """With those by modes that the node does not ask for."""
    return Chunk((case,)).truths_of(0)


def separating_elements(vector: Case, fitting: Set[str], errors: ExplanationErrors) -> Array:
    """The indices of a vector's elements for which some of these mistakes differ, those that split them best first."""
    every = predictions(vector, all_truths_of(vector), errors, vector.id, among=fitting)
    tables = [codes[: vector.size] for _, codes in every]
    if len(tables) < 2:
        return np.zeros(0, np.int64)
    return splitting_places(np.stack(tables))


def vectors_of(node: Node, *, with_attributes: bool) -> list[Case]:
    attributes = {name: value for name, value in node.attributes.items() if name not in LAYOUT}
    chosen = Selection(
        (node.operator,), attributes if with_attributes else {}, node.input_type, node.output_type, level=""
    )
    try:
        found = plan(chosen)
    except InvalidInput:  # it matches no vector
        return []
    own = [tensor.dtype for tensor in node.inputs]
    return [case for case in found if [tensor.dtype for tensor in case.node.inputs] == own]


def has_single_values(case: Case) -> bool:
    single = all(array.size == 1 for array in case.inputs[1:])
    return bool(case.size) and single and case.shape == case.inputs[0].shape


def alike(case: Case, vectors: Sequence[Case], separating: Sequence[Array]) -> Iterator[Case]:
    """Cases with the shapes of one and the values of vectors, which take turns; separating elements come first."""
    size = case.inputs[0].size
    first = [list(windows(one, elements, size)) for one, elements in zip(vectors, separating, strict=False)]
    rest = [list(windows(one, np.arange(one.size), size)) for one in vectors]
    for number, (vector, indices) in enumerate(chain(in_turn(first), in_turn(rest))):
        values = vector.inputs[0].reshape(-1)[indices].reshape(case.inputs[0].shape)
        parameters = [filled(own, one) for own, one in zip(case.inputs[1:], vector.inputs[1:], strict=True)]
        node = with_baked(case.node, parameters)
        made = replace(case, id=f"asked/{case.id}/{number}", node=node, inputs=(values, *parameters))
        if is_valid(made):
            yield made


def windows(vector: Case, elements: Array, size: int) -> Iterator[tuple[Case, Array]]:
    """Some of a vector's elements (indices), so many at a time; for the last, they begin again."""
    for start in range(0, elements.size, size):
        yield vector, np.resize(np.roll(elements, -start), size)


def in_turn(turns: Iterable[Sequence[tuple[Case, Array]]]) -> Iterator[tuple[Case, Array]]:
    return (one for row in zip_longest(*turns) for one in row if one is not None)


def filled(like: Array, single: Array) -> Array:
    return np.full(like.shape, single.reshape(-1)[0], like.dtype)


def with_baked(node: Node, parameters: Sequence[Array]) -> Node:
    names = {constant.name for constant in node.baked}
    given = {
        tensor.name: array for tensor, array in zip(node.inputs[1:], parameters, strict=True) if tensor.name in names
    }
    return with_constants(replace(node, baked=()), given) if given else node


def is_valid(case: Case) -> bool:
    try:
        return math.prod(case.inputs[0].shape) > 0 and bool(problems_of(case))
    except InvalidInput:
        return False


def with_further(records: BackendRecords, further: BackendRecords | None) -> BackendRecords:
    """The records with the further ones behind them, for the search for causes."""
    if further is None:
        return records
    first = len(records.cases)
    outputs = NarrowCodes()
    outputs.held.update(records.outputs.held | further.outputs.held)
    against_modes = defaultdict[Group, Counter[str]](Counter, records.against_modes)
    for group, counts in further.against_modes.items():
        against_modes[group] = against_modes[group] + counts
    return replace(
        records,
        cases=[*records.cases, *further.cases],
        verdicts=[*records.verdicts, *further.verdicts],
        elements=[*records.elements, *further.elements],
        deviating=[*records.deviating, *(replace(one, case=one.case + first) for one in further.deviating)],
        outputs=outputs,
        grades=records.grades | further.grades,
        against_modes=against_modes,
    )
