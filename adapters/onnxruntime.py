"""ONNX Runtime: one node of an ONNX operator in an InferenceSession on the CPU provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tiebreak.adapters.onnx_models import (
    CAST,
    CLAIMS,
    CONVOLUTIONS,
    MAPS,
    MATRICES,
    MICROSOFT_CLAIMS,
    NBITS,
    NBITS_CLAIMS,
    PROBED_SHAPES,
    OnnxNode,
    check_inputs,
    onnx_model,
    onnx_node,
)
from tiebreak.adapters.onnxruntime_session import CARRIERS, Sessions, Settings
from tiebreak.adapters.onnxruntime_source import reproducer_source
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.golden.elements import FLOAT_TYPES, numpy_dtype
from tiebreak.golden.errors import NoDevice
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.microsoft_matmul_nbits import BIAS
from tiebreak.golden.problem import Array

# Waiting threads of the thousand sessions of a run would otherwise spin and take the processor from all others.
PATIENT = {"session.intra_op.allow_spinning": "0"}


class OnnxRuntime:
    """ONNX Runtime as shipped but with one thread; or at another level of graph optimisation, or with two threads.

    Also takes nGraph nodes that equal QuantizeLinear or DequantizeLinear: see onnx_models.ngraph_axis.
    """

    claims, maps = {**CLAIMS, **MICROSOFT_CLAIMS, **NBITS_CLAIMS}, MAPS
    configuration_of = "onnxruntime"
    takes_constants = True  # as initializers

    def __init__(self, name: str = "onnxruntime", settings: Settings | None = None) -> None:
        import onnx  # noqa: F401 - fail now, not at the first node
        import onnxruntime

        self.name, self.version = name, str(onnxruntime.__version__)
        self.sessions = Sessions(onnxruntime, settings or Settings())
        self.kernels: dict[str, OnnxNode] = {}  # by types: a node to profile
        self.opsets: set[int] = set()
        onnxruntime.set_default_logger_severity(4)

    def compile(self, node: Node) -> Run:
        written, session = self.opened(node)
        self.opsets.add(written.opset)
        if not written.attributes.get("block_size"):
            label = label_of(written)
            self.kernels[label] = min(
                self.kernels.get(label, written), written, key=repr
            )  # independent of the order of nodes

        def run(*inputs: Array) -> tuple[Array, ...]:
            check_inputs(node, inputs)
            given = zip(written.names, inputs, strict=False)
            feeds = {name: array for name, array in given if name not in node.constants}
            fitting = session if bias_fits(written, feeds) else self.opened(node, feeds[BIAS].shape)[1]
            if written.further:
                return self.sessions.answers(fitting, feeds, written.outputs)
            return (
                self.sessions.answer(fitting, feeds, written.output, shape_of_y(written, inputs), packs=packs(written)),
            )

        return run

    def opened(self, node: Node, bias: tuple[int, ...] | None = None) -> tuple[OnnxNode, Any]:
        """The node at an operator set that this release knows, and a session for it; see model_for."""
        return self.sessions.open_known(onnx_node(node), lambda written: model_for(written, node.constants, bias))

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that call onnx's and onnxruntime's own API; see protocol.Backend."""
        written, _ = self.opened(node)
        given = dict(zip(written.names, inputs, strict=False))
        model = model_for(written, node.constants, None if bias_fits(written, given) else given[BIAS].shape)
        return reproducer_source(model, self.sessions.settings, written, tuple(node.constants))

    def attest(self) -> dict[str, str]:
        """The sessions' settings, and the kernels and providers that profiles of probes show."""
        labels: dict[str, list[str]] = {}  # by the kernels that ran
        for label, written in sorted(self.kernels.items()):
            labels.setdefault(self.probe(written), []).append(label)
        return facts(self.sessions, self.opsets) | {
            "carriers": "types of 2 and 4 bits enter and leave by Cast nodes, or packed where the node is a Cast",
            "ran": "; ".join(f"{', '.join(found)}: {ran}" for ran, found in labels.items()),
        }

    def probe(self, written: OnnxNode) -> str:
        """The kernels that a run on three elements executes, on matrices of three by three, or three pixels."""
        x, *parameters = (numpy_dtype(name) for name in written.inputs)
        arrays = [np.ones(3).astype(x), *(np.ones(()).astype(kind) for kind in parameters[:1])]
        arrays += [np.full((), int(kind.name in FLOAT_TYPES)).astype(kind) for kind in parameters[1:]]
        feeds = dict(zip(written.names, arrays, strict=True))
        for name in MATRICES.get(written.operator, ()):
            feeds[name] = np.ones((3, 3)).astype(feeds[name].dtype)
        if written.operator in CONVOLUTIONS:
            written, feeds = replace(written, attributes={}), feeds | convolved(written)
        return self.sessions.profiled(model_for(written, {}), feeds, written.output, (3,), packs=packs(written))


def shape_of_y(written: OnnxNode, inputs: Sequence[Array]) -> tuple[int, ...]:
    """The shape of an output whose type the API makes no arrays of: the first input's, but for its last size N."""
    shape: tuple[int, ...] = inputs[0].shape
    return (*shape[:-1], written.attributes["N"]) if "N" in written.attributes else shape


def convolved(written: OnnxNode) -> dict[str, Array]:
    """An image of three pixels, a kernel of one, a bias, and scales of 1, by the names of a convolution's inputs."""
    kinds = zip(written.names, map(numpy_dtype, written.inputs), strict=True)
    return {name: np.ones(PROBED_SHAPES.get(name, ()), kind) for name, kind in kinds if "zero_point" not in name}


def packs(written: OnnxNode) -> bool:
    """Whether tensors of 2 and 4 bits are the model's own: Cast nodes beside a Cast would be of the tested kind."""
    return written.operator == CAST


def model_for(written: OnnxNode, constants: Mapping[str, Array], bias: tuple[int, ...] | None = None) -> Any:
    """The model, whose shapes are free but for that of MatMulNBits' bias: without one the runtime refuses the model.

    Its shape is [N] unless `bias` says another one.
    """
    shapes = None
    if written.operator == NBITS and BIAS in written.names:
        own = (written.attributes["N"],) if bias is None else bias
        shapes = [own if name == BIAS else None for name in written.names]
    return onnx_model(written, {} if packs(written) else CARRIERS, shapes, constants)


def bias_fits(written: OnnxNode, given: Mapping[str, Array]) -> bool:
    """Whether the model has the shape of MatMulNBits' bias."""
    return written.operator != NBITS or BIAS not in given or given[BIAS].shape == (written.attributes["N"],)


def without_optimisation() -> OnnxRuntime:
    return OnnxRuntime("onnxruntime-no-optimisation", Settings("DISABLE_ALL"))


def basic_optimisation() -> OnnxRuntime:
    return OnnxRuntime("onnxruntime-basic", Settings("ENABLE_BASIC"))


def extended_optimisation() -> OnnxRuntime:
    return OnnxRuntime("onnxruntime-extended", Settings("ENABLE_EXTENDED"))


def on_cuda() -> OnnxRuntime:
    return on_provider("onnxruntime-cuda", "CUDAExecutionProvider")


def through_tensorrt() -> OnnxRuntime:
    return on_provider("onnxruntime-tensorrt", "TensorrtExecutionProvider")


def on_provider(name: str, provider: str) -> OnnxRuntime:
    """ONNX Runtime on another provider alone: what that does not take is refused. NoDevice where it is not there."""
    import onnxruntime

    if provider not in onnxruntime.get_available_providers():
        raise NoDevice(f"the onnxruntime that is installed has no {provider}; the package onnxruntime-gpu has it")
    alone = {"session.disable_cpu_ep_fallback": "1"}
    return OnnxRuntime(name, Settings(entries=alone, provider=provider))


def two_threads() -> OnnxRuntime:
    """Two threads, which share the elements of large arrays."""
    return OnnxRuntime("onnxruntime-two-threads", Settings(threads=2, entries=PATIENT))


def facts(sessions: Sessions, opsets: set[int]) -> dict[str, str]:
    """Library, opsets, settings and instruction sets."""
    library: Any = sessions.library
    return {
        "library": str(library.__file__),
        "onnxruntime": str(library.__version__),
        "build": str(library.get_build_info()) if hasattr(library, "get_build_info") else "unknown",
        "opset": ", ".join(map(str, sorted(opsets))),
        "graph optimisation": sessions.settings.described(),
        "provider": sessions.settings.provider,
        "threads": str(sessions.settings.threads),
        "instruction sets": instruction_sets(),
    }


def label_of(written: OnnxNode) -> str:
    """A label for the kernels that are likely to run a node."""
    if written.operator == CAST:
        return f"Cast from {written.inputs[0]}"
    if written.further or written.domain:
        return written.operator
    if written.operator in MATRICES or written.operator in CONVOLUTIONS:
        return " ".join((written.operator, *written.inputs, written.output))
    types = (*written.inputs, written.output)
    real = next(name for name in (written.inputs[0], *types[::-1]) if name in FLOAT_TYPES)
    return (
        ("to " if written.operator == "DequantizeLinear" else "")
        + real
        + (" by Cast" if set(types) & set(CARRIERS) else "")
    )
