"""PyTorch's quantizers of one scale, and of a scale for each channel: QuantizeLinear's table, another document."""

from __future__ import annotations

from dataclasses import dataclass

from tiebreak.conformance.semantics.model import Probe
from tiebreak.conformance.semantics.quantize import QuantizeArithmetic
from tiebreak.conformance.semantics.quantize_facets import BEFORE, Combination
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node


@dataclass
class TorchQuantizeArithmetic(QuantizeArithmetic):
    """As QuantizeLinear's, but the document adds the zero point before it rounds, and names no tie rule."""

    @property
    def documented(self) -> Combination:
        return super().documented._replace(zero_point=BEFORE)


def torch_quantize(node: Node) -> TorchQuantizeArithmetic:
    """The arithmetics that a node may have. InvalidInput for zero points that are floats."""
    if (kind := node.inputs[2].dtype.name) not in INTEGER_TYPES:
        raise InvalidInput(f"{node.operator}: semantics are known of integer zero points, not of {kind}")
    return TorchQuantizeArithmetic(node)


def as_one_channel(node: Node, probe: Probe) -> Probe:
    """A row along whose axis there is one scale and one zero point."""
    return Probe(probe.x.reshape(1, -1), tuple(other.reshape(1) for other in probe.others))


ROLES = {"zero_point": "zero-point", "round_mode": "nearest", "saturation": "clamp"}


def role_of_quantize(node: Node, facet: str) -> str:
    """The role of the clause that a facet is about."""
    return ROLES.get(facet, "quotient")


def silence_of_ties(node: Node) -> str:
    return "PyTorch's documents say that the sum is rounded, and not how a tie is"
