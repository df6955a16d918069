"""The elements of recorded cases with a backend's outputs, and the parts of cases that kernels may treat apart."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from tiebreak.conformance.audit.operators import AUDITED, arithmetic_of
from tiebreak.conformance.semantics.causes import PER_TENSOR
from tiebreak.conformance.semantics.model import ANYTHING, Probe, codes
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.problem import Array, array_of

LAYOUT = ("axis", "axes", "block_size")  # attributes that lay parameters out
WIDTHS = (4, 8, 16, 32, 64)  # of vector loops

PER = ("per-tensor", "per-axis")  # places where a cause may hold only


@dataclass(frozen=True)
class RecordedCase:
    """One case with the operands and the outputs (int64 codes) of its elements.

    `numbers` are -1 for elements that conform or have a cause; for others their place among the elements to explain.
    """

    case: Case
    probe: Probe
    outputs: Array
    numbers: Array


@dataclass(frozen=True, eq=False)
class RecordedElements:
    """The elements of cases whose nodes have the same arithmetic, case after case.

    Each array has one value for an element. `owners` has the place of its case in `cases`, `places` its flat index in
    the case. `outputs` has the backend's code, or ANYTHING where predictions are not compared. `numbers` are as in
    RecordedCase.
    """

    cases: tuple[Case, ...]
    owners: Array
    places: Array
    probe: Probe
    outputs: Array
    numbers: Array

    @cached_property
    def deviating(self) -> Array:
        """Which elements deviate and have no cause yet."""
        return np.asarray(self.numbers >= 0)

    @cached_property
    def sizes(self) -> Array:
        """The size of each element's case."""
        return np.array([case.size for case in self.cases])[self.owners]

    @cached_property
    def digest(self) -> bytes:
        """Equal for equal outputs of the same cases of one run, with the same elements to explain."""
        made = hashlib.blake2b("\0".join(case.id for case in self.cases).encode())
        made.update(np.packbits(self.deviating).tobytes())
        made.update(self.outputs.tobytes())
        return made.digest()

    def probe_at(self, at: Array) -> Probe:
        return Probe(self.probe.x[at], tuple(other[at] for other in self.probe.others))

    def first_cases(self, chosen: Array, order: Array, most: int) -> Array:
        """The chosen elements (a mask) of the first cases in an order, together about `most`: their indices."""
        counts = np.bincount(self.owners[chosen], minlength=len(self.cases))
        order = order[counts[order] > 0]
        ends = np.cumsum(counts[order])
        kept = np.zeros(len(self.cases), bool)
        kept[order[: 1 + np.count_nonzero(ends < most)]] = True
        return np.flatnonzero(chosen & kept[self.owners])

    def count_by_case(self, chosen: Array) -> Array:
        return np.bincount(self.owners[chosen], minlength=len(self.cases))


def joined(cases: Sequence[RecordedCase]) -> RecordedElements:
    """The elements of some cases, at least one."""
    sizes = [one.outputs.size for one in cases]
    others = zip(*(one.probe.others for one in cases), strict=True)
    probe = Probe(np.concatenate([one.probe.x for one in cases]), tuple(map(np.concatenate, others)))
    outputs = np.concatenate([one.outputs for one in cases])
    with np.errstate(all="ignore"):  # signalling NaN
        for operand in (probe.x, *probe.others):
            outputs[~np.isfinite(operand.astype(np.float64))] = ANYTHING
    owners, places = np.repeat(np.arange(len(cases)), sizes), np.concatenate([np.arange(size) for size in sizes])
    numbers = np.concatenate([one.numbers for one in cases])
    return RecordedElements(tuple(one.case for one in cases), owners, places, probe, outputs, numbers)


def parts_by_path(elements: RecordedElements) -> Iterator[tuple[str, Array]]:
    """All elements, then the parts for which kernels may have paths of their own: masks, each with the place's key.

    A kernel for one scale often runs a vector loop over the whole array, where one for several scales does not.
    """
    every = np.ones(elements.owners.size, bool)
    yield "", every
    per_tensor = np.array([all(array.size == 1 for array in case.inputs[1:2]) for case in elements.cases])
    per_tensor = per_tensor[elements.owners]
    yield PER[0], per_tensor
    yield PER[1], ~per_tensor
    others = elements.probe.others
    if len(others) == 2 and others[1].dtype.kind == "i":
        negative = np.asarray(np.nan_to_num(others[0].astype(np.float64)) < 0)
        yield "negative-scales", negative
        yield "positive-scales", ~negative
    yield from parts_of_loops(elements, every, "")
    if not (per_tensor.all() or (~per_tensor).all()):
        yield from parts_of_loops(elements, per_tensor, PER_TENSOR)


def parts_of_loops(elements: RecordedElements, inside: Array, prefix: str) -> Iterator[tuple[str, Array]]:
    """The tails and bodies of vector loops inside a mask, the longest tail first, and below the longest body."""
    for width in reversed(WIDTHS):
        yield f"{prefix}tail:{width}", inside & in_tail(elements, width)
    for width in WIDTHS:
        yield f"{prefix}body:{width}", inside & ~in_tail(elements, width)


def is_in_loop(place: str) -> bool:
    """Whether a place is the body or the tail of a vector loop: those have a width."""
    return ":" in place


def in_tail(elements: RecordedElements, width: int) -> Array:
    return np.asarray(elements.places >= elements.sizes - elements.sizes % width)


def first_output_name(case: Case) -> str:
    return str(case.node.outputs[0].name)


def arithmetic_key(node: Node) -> str:
    """A key that nodes share if they differ only in how parameters are laid out, or in the opset."""
    return repr(sorted((name, value) for name, value in node.attributes.items() if name not in LAYOUT))


def per_tensor_node(node: Node) -> Node:
    """The node with one set of parameters for all elements: without the attributes that lay parameters out."""
    kept = {name: value for name, value in node.attributes.items() if name not in LAYOUT}
    if "axes" in node.attributes:  # it has no default
        kept["axes"] = ()
    return replace(node, attributes=MappingProxyType(kept))


def recorded_case(case: Case, output: Array, wrong: Sequence[tuple[int, int]]) -> RecordedCase | None:
    """A case with the flat codes of its outputs. `wrong`: indices of elements to explain, and their numbers.

    None if no table of semantics describes the node or the case.
    """
    first, *others = case.node.inputs
    if others and others[0].dtype != first.dtype:
        return None  # a scale of another type than x
    try:
        arithmetic_of(per_tensor_node(case.node))
    except InvalidInput:
        return None
    probe = AUDITED[case.node.operator].elementwise(case)
    if probe is None:
        return None
    outputs = np.asarray(output[: case.size], np.int64)
    if isinstance(ELEMENT_TYPES[case.node.output_type], FloatType):
        outputs = codes(array_of(case.node.output_type, outputs.shape, outputs.astype(np.uint64)))
    numbers = np.full(case.size, -1)
    for index, number in wrong:
        if index >= 0:
            numbers[index] = number
    return RecordedCase(case, probe, outputs, numbers)
