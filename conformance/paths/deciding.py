"""The numbers that decide an element, beyond the operands that its problem shows.

A problem may show what is computed of the inputs: a sum, the ends of a range, the greatest magnitude of a block. Two
elements that share such a number need not share the numbers that it was computed from. So here those are told, too.
"""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from itertools import chain

import numpy as np

from tiebreak.conformance.cases.path_probes import PREFIX, all_probes, tested_axis
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.path_probe import PathProbe
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array, Problem, codes_of


@cache
def probes_by_label() -> dict[tuple[str, str], PathProbe]:
    return {(record.id, probe.label): probe for record, probe in all_probes()}


def probe_of(case: Case) -> PathProbe | None:
    """The probe of which a case is an arrangement; None of other cases."""
    if not case.id.startswith(PREFIX):
        return None
    label = case.id.removeprefix(f"{PREFIX}{case.node.operator}/").rsplit("/", 2)[0]
    return probes_by_label().get((case.node.operator, label))


def tensors_of(case: Case) -> frozenset[int]:
    """The numbers of the inputs that are laid out as the values are; all others are parameters."""
    probe = probe_of(case)
    return frozenset(probe.layout.shapes(case.shape) if probe and probe.layout else (0,))


def deciding_numbers(case: Case, problem: Problem) -> Array:
    """A number (int64) for each element: equal where all numbers that decide two elements are equal, bit by bit.

    Zeros where the operands of the problem are elements of inputs, so that nothing else decides.
    """
    size = int(np.prod(problem.shape, dtype=np.int64))
    if shows_inputs(case, problem):
        return np.zeros(size, np.int64)
    probe = probe_of(case)
    if probe is None:
        return np.full(size, digest(*map(codes_of, case.inputs)))
    others = [codes_of(one).reshape(-1) for number, one in enumerate(case.inputs) if number != probe.into]
    beside = digest(*(one[:1] if one.size and (one == one[0]).all() else one for one in others))
    own = footprints(case, codes_of(case.inputs[probe.into]), size)
    return np.asarray(own ^ beside)


def shows_inputs(case: Case, problem: Problem) -> bool:
    """Whether each operand that the problem shows is an element of an input, or of one that is left off."""
    spec = get_operator(case.node.operator)
    if measures(case):
        return False
    known = set(chain.from_iterable(spec.forms))
    names = problem.names([tensor.name for tensor in case.node.inputs], spec.forms[0])
    return set(names) <= known | {name.removesuffix("s") for name in known}


def measures(case: Case) -> bool:
    """Whether a result depends on other elements of the first input, as by their range."""
    spec = get_operator(case.node.operator)
    return spec.measures({one.name: case.node.value(one.name) for one in spec.attributes})


def footprints(case: Case, codes: Array, size: int) -> Array:
    """A number for each of `size` elements: what of a probe's values decides it.

    That is the whole tensor where the operator measures it, or the whole block; else the element, or the row of it that
    is added up.
    """
    spec, block = get_operator(case.node.operator), block_of(case)
    if block:
        own = blocks_of(codes, block)
        numbers = np.array([digest(one) for one in own], np.int64)
        spread = np.repeat(numbers.reshape(*codes.shape[:-1], -1), block, axis=-1)[..., : codes.shape[-1]]
        return numbers if size == numbers.size != codes.size else spread.reshape(-1)
    if measures(case) or codes.size % max(size, 1):
        of_slices = spec.has_attribute("axis") and case.node.value("axis") != spec.default("axis")
        return np.asarray(digest(codes) + np.arange(size) * of_slices)  # which slice an element is of, its place tells
    if codes.size == size:
        return np.asarray(codes.reshape(-1), np.int64)
    return np.array([digest(row) for row in codes.reshape(size, -1)], np.int64)


def block_of(case: Case) -> int:
    """The number of elements that the operator measures at once; 0 where it does not, or measures all."""
    axis = tested_axis(TESTED[case.node.operator])
    return 0 if axis.one_for_each_block else axis.measured


def blocks_of(codes: Array, block: int) -> list[Array]:
    """The blocks along the last axis in order; the last of a row may be shorter."""
    rows = codes.reshape(-1, codes.shape[-1])
    return [row[begin : begin + block] for row in rows for begin in range(0, row.size, block)]


def digest(*arrays: Array) -> np.int64:
    """A number for the codes of arrays and for how many each has."""
    found = blake2b(digest_size=8)
    for array in arrays:
        found.update(array.size.to_bytes(8, "little") + np.ascontiguousarray(array, np.int64).tobytes())
    return np.int64(int.from_bytes(found.digest(), "little", signed=True))
