"""The elements of recorded cases with a backend's outputs, and the parts of cases that kernels may treat apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

import numpy as np

from tiebreak.conformance.audit.operators import AUDITED, arithmetic_of
from tiebreak.conformance.semantics.model import ANYTHING, Probe, codes
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.problem import Array

LAYOUT = ("axis", "axes", "block_size")  # attributes that lay parameters out
WIDTHS = (4, 8, 16, 32, 64)  # of vector loops

PER = (", per tensor", ", per axis")  # ends of a cause's text


@dataclass(frozen=True)
class RecordedCase:
    """Some elements of one case, each with its place and operands.

    `places` are flat indices and `outputs` int64 codes: ANYTHING where predictions are not compared. `deviating` is
    true where an element deviates and has no cause yet.
    """

    case: Case
    places: Array
    probe: Probe
    outputs: Array
    deviating: Array

    def only(self, where: Array) -> RecordedCase:
        """The elements where a mask (bool, one value for each element) is true."""
        return RecordedCase(
            self.case, self.places[where], masked_probe(self.probe, where), self.outputs[where], self.deviating[where]
        )


def masked_probe(probe: Probe, where: Array) -> Probe:
    return Probe(probe.x[where], tuple(other[where] for other in probe.others))


def parts_by_path(cases: Sequence[RecordedCase]) -> Iterator[tuple[str, list[RecordedCase]]]:
    """The cases, then the parts of them for which kernels may have paths of their own, each with a text for it."""
    yield "", list(cases)
    yield PER[0], [one for one in cases if one.case.inputs[1].size == 1]
    yield PER[1], [one for one in cases if one.case.inputs[1].size != 1]
    if len(cases[0].probe.others) == 2 and cases[0].probe.others[1].dtype.kind == "i":
        yield ", of negative scales", masked_cases(cases, lambda one: negative(one.probe.others[0]))
        yield ", of positive scales", masked_cases(cases, lambda one: ~negative(one.probe.others[0]))
    for width in reversed(WIDTHS):  # the longest tail first, and below the longest body
        yield f", in the tail of a vector loop of {width}", masked_cases(cases, partial(in_tail, width=width))
    for width in WIDTHS:
        yield f", in the body of a vector loop of {width}", masked_cases(cases, partial(in_body, width=width))


def negative(scale: Array) -> Array:
    return np.asarray(np.nan_to_num(scale.astype(np.float64)) < 0)


def in_tail(one: RecordedCase, width: int) -> Array:
    return np.asarray(one.places >= one.case.size - one.case.size % width)


def in_body(one: RecordedCase, width: int) -> Array:
    return ~in_tail(one, width)


def masked_cases(cases: Sequence[RecordedCase], mask: Callable[[RecordedCase], Array]) -> list[RecordedCase]:
    made = (one.only(np.asarray(mask(one), bool)) for one in cases)
    return [one for one in made if one.outputs.size]


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


def recorded_case(case: Case, output: Array, wrong: Sequence[int]) -> RecordedCase | None:
    """A case with the flat codes of its outputs; `wrong` are the indices of deviating elements without a cause.

    None if no table of semantics describes the node or the case.
    """
    if case.node.inputs[1].dtype != case.node.inputs[0].dtype:
        return None  # a scale of another type than x
    try:
        arithmetic_of(per_tensor_node(case.node))
    except InvalidInput:
        return None
    probe = AUDITED[case.node.operator].elementwise(case)
    if probe is None:
        return None
    outputs = np.asarray(output[: case.size], np.int64).copy()
    if isinstance(result := ELEMENT_TYPES[case.node.output_type], FloatType):
        outputs = codes(outputs.astype(np.uint64).astype(f"uint{result.bits}").view(case.node.outputs[0].dtype))
    with np.errstate(all="ignore"):  # signalling NaN
        for operand in (probe.x, *probe.others):
            outputs[~np.isfinite(operand.astype(np.float64))] = ANYTHING
    deviates = np.zeros(case.size, bool)
    deviates[[i for i in wrong if i >= 0]] = True
    return RecordedCase(case, np.arange(case.size), probe, outputs, deviates)


def all_operands(cases: Sequence[RecordedCase]) -> Probe:
    """The operands of all cases as one probe."""
    others = zip(*(one.probe.others for one in cases), strict=True)
    return Probe(np.concatenate([one.probe.x for one in cases]), tuple(np.concatenate(same) for same in others))
