"""ONNX Runtime's fusion of QuantizeLinear and DequantizeLinear pairs, on and off.

QuantizeLinear runs as QuantizeLinear > DequantizeLinear > Flatten > QuantizeLinear, and DequantizeLinear runs as
DequantizeLinear > Flatten > QuantizeLinear > DequantizeLinear. All share one scale and zero point, which are
initializers because the fusion needs that. The runtime drops the inner pair around Flatten, which only moves data. With
session.disable_quant_qdq, or without the one optimiser that fuses, it computes all four nodes. The optimised model,
saved to a file, shows which it did.
"""

from __future__ import annotations

import tempfile
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.adapters.onnx_models import LINEAR_CLAIMS, MAPS, OnnxNode, check_inputs, model_of, onnx_node
from tiebreak.adapters.onnxruntime import facts
from tiebreak.adapters.onnxruntime_session import Sessions, Settings
from tiebreak.adapters.onnxruntime_source import reproducer_source
from tiebreak.adapters.protocol import Run
from tiebreak.golden.elements import INTEGER_TYPES, numpy_dtype
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

Q, D, F = "QuantizeLinear", "DequantizeLinear", "Flatten"
CHAINS = {Q: (Q, D, F, Q), D: (D, F, Q, D)}
FUSED = {Q: (Q, F), D: (F, D)}
TYPES = ("int8", "uint8", "int16", "uint16")
ENTRIES = {
    True: {"session.qdqisint8allowed": "1"},  # else int8 is fused on ARM only
    False: {"session.disable_quant_qdq": "1"},
}
FUSES = "QDQSelectorActionTransformer"  # the optimiser that drops the inner pair; the other optimisers don't touch it
TINY, LARGEST = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)
MOST_SESSIONS = 64  # kept per node, one for each scale and zero point


class QdqPairs:
    """Refuses nodes that are not fused as asked, and inputs that the inner pair may change."""

    claims, maps = LINEAR_CLAIMS, MAPS
    configuration_of = "onnxruntime"
    always_constant = frozenset({*LINEAR_CLAIMS, *MAPS})  # scale and zero point are always initializers
    takes_constants = True

    def __init__(self, name: str, *, fuse: bool, settings: Settings) -> None:
        import onnx  # noqa: F401 - fail now, not at the first node
        import onnxruntime

        self.name, self.version, self.fuse = name, str(onnxruntime.__version__), fuse
        self.sessions = Sessions(onnxruntime, settings)
        self.compiled: dict[str, OnnxNode] = {}  # by operator, type and opset: a node to profile
        onnxruntime.set_default_logger_severity(4)

    def compile(self, node: Node) -> Run:
        linear = paired_node(node)
        self.open(linear, probe_of(linear))
        self.compiled[f"{linear.operator} {linear.inputs[2]} {linear.opset}"] = linear
        kept: OrderedDict[bytes, Any] = OrderedDict()

        def run(*inputs: Array) -> tuple[Array, ...]:
            check_inputs(node, inputs)
            check_pair(linear, *inputs[1:])
            key = inputs[1].tobytes() + inputs[2].tobytes()
            if key not in kept:
                kept[key] = self.open(linear, dict(zip(linear.names[1:], inputs[1:], strict=True)))
                if len(kept) > MOST_SESSIONS:
                    kept.popitem(last=False)
            kept.move_to_end(key)
            y = self.sessions.answer(kept[key], {linear.names[0]: inputs[0]}, linear.output, (1, inputs[0].size))
            return (y.reshape(inputs[0].shape),)

        return run

    def open(self, linear: OnnxNode, parameters: Mapping[str, Array]) -> Any:
        """A session. Unsupported unless its optimised model is fused as asked."""
        import onnx

        wanted = FUSED[linear.operator] if self.fuse else CHAINS[linear.operator]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "optimised.onnx")
            session = self.sessions.open(pair_model(linear, parameters), optimised=str(path))
            found = tuple(node.op_type for node in onnx.load(path).graph.node)
        if found != wanted:
            raise Unsupported(f"ONNX Runtime makes {' > '.join(found)} of {' > '.join(CHAINS[linear.operator])}")
        return session

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that call onnx's and onnxruntime's own API; see protocol.Backend."""
        linear = paired_node(node)
        model = pair_model(linear, dict(zip(linear.names[1:], inputs[1:], strict=True)))
        return reproducer_source(model, self.sessions.settings, linear, linear.names[1:])

    def attest(self) -> dict[str, str]:
        """The sessions' settings, and the kernels that profiles of probes show."""
        ran = sorted({self.probe(linear) for linear in self.compiled.values()})
        opsets = {linear.opset for linear in self.compiled.values()}
        return facts(self.sessions, opsets) | {
            "QDQ pairs": "fused, by the optimised model" if self.fuse else "not fused, by the optimised model",
            "ran": "; ".join(ran),
        }

    def probe(self, linear: OnnxNode) -> str:
        feeds = {linear.names[0]: np.ones(3, numpy_dtype(linear.inputs[0]))}
        return self.sessions.profiled(pair_model(linear, probe_of(linear)), feeds, linear.output, (1, 3))


def fused() -> QdqPairs:
    return QdqPairs("onnxruntime-qdq", fuse=True, settings=Settings(entries=ENTRIES[True]))


def unfused() -> QdqPairs:
    return QdqPairs("onnxruntime-qdq-unfused", fuse=False, settings=Settings(entries=ENTRIES[False]))


def without_selectors() -> QdqPairs:
    """Every optimiser but the one that fuses."""
    settings = Settings(entries=ENTRIES[True], disabled=(FUSES,))
    return QdqPairs("onnxruntime-qdq-no-selectors", fuse=False, settings=settings)


def paired_node(node: Node) -> OnnxNode:
    """The node as an ONNX node. Unsupported unless the chain of pairs means the same."""
    linear = onnx_node(node)
    if linear.operator not in CHAINS:
        raise Unsupported(f"{linear.operator} is no part of a pair")
    real, quantized = (linear.inputs[0], linear.output) if linear.operator == Q else (linear.output, linear.inputs[0])
    floats = (real, linear.inputs[1])
    if floats != ("float32", "float32") or len(linear.inputs) != 3 or linear.inputs[2] not in TYPES:
        raise Unsupported(f"a pair is the operator alone for float32 with a zero point of {', '.join(TYPES)}")
    if linear.inputs[2] != quantized:
        raise Unsupported(f"a pair is the operator alone for one quantized type: {linear.inputs[2]} beside {quantized}")
    if linear.attributes.get("block_size") or linear.attributes.get("precision") not in (None, 0, 1):
        raise Unsupported("a pair of one scale, dividing in float32")
    if linear.names[0] in node.constants:
        raise Unsupported(f"{linear.names[0]} is an input here")
    return linear


def probe_of(linear: OnnxNode) -> dict[str, Array]:
    """The parameters of a probe: scale 1 and zero point 0."""
    return dict(zip(linear.names[1:], (np.ones((), np.float32), np.zeros((), linear.inputs[2])), strict=True))


def check_pair(linear: OnnxNode, scale: Array, zero_point: Array) -> None:
    """Raise Unsupported where dequantizing and quantizing q need not give q again by the documents.

    Let u = 2^-24. n = q - z is an integer of at most 2^16 in magnitude, exact in float32. As |s| >= 2^-126 and n * s is
    finite, the product is 0 or normal: n * s * (1 + e) with |e| <= u. Its quotient by s is n * (1 + e) * (1 + e').
    That lies within 2^16 * (2u + u^2) < 2^-6 of n, so it rounds to n, and n + z is q again.
    """
    if scale.ndim or zero_point.ndim:
        raise Unsupported("ONNX Runtime fuses pairs of one scale, not one for each index of an axis")
    kind, s, z = INTEGER_TYPES[linear.inputs[2]], abs(float(scale)), int(zero_point)
    farthest = max(kind.highest - z, z - kind.lowest)
    if not (s >= TINY and farthest * s <= LARGEST):
        raise Unsupported("the pair is not exactly the operator: the dequantized value may overflow or be subnormal")


def pair_model(linear: OnnxNode, parameters: Mapping[str, Array]) -> Any:
    """An onnx.ModelProto of the chain, with the parameters as initializers."""
    from onnx import helper

    chain, nodes, source = CHAINS[linear.operator], [], linear.names[0]
    for k, operator in enumerate(chain):
        target = "y" if k == len(chain) - 1 else f"{operator}_{k}"
        if operator == F:
            nodes.append(helper.make_node(F, [source], [target], axis=0))
        else:
            attributes = linear.attributes if operator == linear.operator else {}
            nodes.append(helper.make_node(operator, [source, *linear.names[1:]], [target], **attributes))
        source = target
    return model_of(nodes, {linear.names[0]: linear.inputs[0]}, linear.output, linear.opset, parameters)
