"""The witnesses of the separation matrices as probes: an audit asks for them first."""

from __future__ import annotations

from collections.abc import Iterator

from tiebreak.conformance.audit.operators import AUDITED
from tiebreak.conformance.semantics.model import Probe
from tiebreak.golden.make_node import TYPE_ATTRIBUTES
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.samples.model import Tensor
from tiebreak.golden.vector_inputs.by_witness import witness_kind, witnesses_of


def stored_probes(node: Node) -> Iterator[Probe]:
    """The stored witnesses for a node as probes; none if none are stored for its types."""
    if node.operator not in AUDITED:
        return
    types = [tensor.element for tensor in node.inputs]
    semantics = AUDITED[node.operator]
    kept_as, shape = semantics.witnesses_of or node.operator, semantics.parameter_shape
    for _, others, x in witnesses_of(kept_as, witnesses_key(node)):
        scalars = (Tensor(element, shape, [code]).array() for element, code in zip(types[1:], others, strict=True))
        yield Probe(Tensor(types[0], (len(x),), x).array(), tuple(scalars))


def witnesses_key(node: Node) -> str:
    """The key under which the witnesses for a node's types and attributes are stored."""
    spec = get_operator(node.operator)
    if spec.family == "cast":
        said = {name: value for name, value in node.attributes.items() if name not in TYPE_ATTRIBUTES}
        return witness_kind(node.input_type, node.output_type, said)
    if spec.has_attribute("levels"):
        return f"{node.input_type}-{node.attributes['levels']}"
    if spec.has_attribute("mode"):
        asked = (name for name in ("mode", "round_mode") if spec.has_attribute(name))
        named = (node.attributes.get(name, spec.attribute(name).default) for name in asked)
        return "-".join([node.output_type, *map(str, named)])
    return f"{node.input_type}-{node.output_type}"
