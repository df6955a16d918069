"""TensorFlow's raw operators on the CPU or a GPU: eagerly, in a graph, or compiled by XLA.

The other tensorflow_* modules map nodes to operators.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from tiebreak.adapters import (
    tensorflow_cast,
    tensorflow_fake,
    tensorflow_ngraph,
    tensorflow_quantize,
    tensorflow_uniform,
)
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.tensorflow_fake import ARGS, VARS, is_args
from tiebreak.adapters.tensorflow_raw import RawOperators
from tiebreak.adapters.tensorflow_source import ONEDNN, raw_operator_source
from tiebreak.golden.errors import MachineryFailed, NoDevice, Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

CPU, GPU = "/CPU:0", "/GPU:0"

# By operator id: a function of the backend and a node that returns a callable for the node.
CLAIMED: dict[str, Callable[[RawOperators, Node], Run]] = {
    **tensorflow_quantize.COMPILERS,
    **tensorflow_fake.COMPILERS,
    **tensorflow_uniform.COMPILERS,
}
IN_GRAPHS = {**tensorflow_cast.COMPILERS, **CLAIMED}
COMPILERS = {**tensorflow_ngraph.COMPILERS, **IN_GRAPHS}


class TensorFlow:
    """`onednn` None keeps TensorFlow's default; False turns oneDNN off for the whole process.

    `graph` puts each call into a tf.function, which Grappler rewrites; `xla` has it compiled by XLA. Neither takes
    nGraph's nodes: what a graph changes shows in TensorFlow's own operators.
    """

    claims: ClassVar = {name: f"TensorFlow API documentation of {name.partition('.')[2]}" for name in CLAIMED}
    configuration_of = "tensorflow"
    takes_constants = True  # of a graph, or as FakeQuantWithMinMaxArgs

    def __init__(
        self,
        name: str = "tensorflow",
        *,
        onednn: bool | None = None,
        graph: bool = False,
        xla: bool = False,
        device: str = CPU,
    ) -> None:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # or Keras 3, a fifth of the import, is loaded for nothing
        if onednn is not None:
            os.environ[ONEDNN] = str(int(onednn))
        import tensorflow

        if device == GPU and not tensorflow.config.list_physical_devices("GPU"):
            raise NoDevice(f"tensorflow {tensorflow.__version__} sees no GPU")
        self.name, self.library, self.device = name, tensorflow, device
        self.graph, self.xla = graph or xla, xla
        self.compilers = IN_GRAPHS if self.graph else COMPILERS
        self.maps = {**tensorflow_cast.MAPS, **({} if self.graph else tensorflow_ngraph.MAPS)}
        self.graphs: dict[Any, Any] = {}  # by operation, attributes and names of inputs
        self.version = str(tensorflow.__version__)
        self.compiled: set[str] = set()  # names of raw operators

    def compile(self, node: Node) -> Run:
        if node.operator not in self.compilers:
            known = ", ".join(sorted(self.compilers))
            raise Unsupported(f"TensorFlow has no {node.operator}; what it is run for: {known}")
        run = self.compilers[node.operator](self, node)
        source, _, operation = node.operator.partition(".")
        operation = ARGS if operation == VARS and is_args(node) else operation
        self.compiled.add("QuantizeV2" if source == "ngraph" else operation)
        return run

    def call(self, operation: str, constants: Collection[str] = (), **arguments: Any) -> Any:
        """The result of a function of tf.raw_ops. Unsupported with TensorFlow's own message if it refuses.

        With `constants` it is that of a graph, in which the arguments of these names are constants.
        """
        errors = self.library.errors
        try:
            with self.library.device(self.device):
                if constants or self.graph:
                    result = self.in_graph(operation, constants, arguments)
                else:
                    result = getattr(self.library.raw_ops, operation)(**self.tensors(arguments))
        except (errors.InvalidArgumentError, errors.UnimplementedError, errors.NotFoundError) as error:
            raise Unsupported(error.message) from None
        first = result[0] if isinstance(result, tuple) else result
        if not str(first.device).endswith(self.device[1:]):
            raise MachineryFailed(f"{operation} ran on {first.device}")
        return result

    def tensors(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Arrays as tensors of their own types: an eager call converts an array to the type of the first input."""
        make = self.library.convert_to_tensor
        return {name: make(value) if isinstance(value, np.ndarray) else value for name, value in arguments.items()}

    def in_graph(self, operation: str, constants: Collection[str], arguments: Mapping[str, Any]) -> Any:
        """The result of a graph: arrays of these names are its constants, other arrays and tensors its inputs."""
        free = [name for name, value in arguments.items() if name not in constants and hasattr(value, "shape")]
        fixed = {name: value for name, value in arguments.items() if name not in free}
        run = getattr(self.library.raw_ops, operation)
        key = None if constants else (operation, tuple(free), repr(sorted(fixed.items())))
        graph = self.graphs.get(key)
        if graph is None:
            graph = self.library.function(
                lambda *given: run(**dict(zip(free, given, strict=True)), **fixed),
                autograph=False,
                jit_compile=self.xla or None,
            )
            if key is not None:  # a graph with constants is for one case
                self.graphs[key] = graph
        return graph(*(arguments[name] for name in free))

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that call TensorFlow's own API; see protocol.Backend."""
        return raw_operator_source(node, graph=self.graph, xla=self.xla, device=self.device)

    def execution(self) -> str:
        if self.xla:
            return "tf.function(jit_compile=True) of tf.raw_ops: XLA on the CPU, or the call is refused"
        return "tf.function of tf.raw_ops" if self.graph else "eager, tf.raw_ops; nodes with constants as tf.function"

    def attest(self) -> dict[str, str]:
        return {
            "library": str(self.library.__file__),
            "tensorflow": self.version,
            "operators": ", ".join(sorted(self.compiled)) or "nothing",
            "execution": self.execution(),
            "oneDNN": onednn_state(),
            ONEDNN: os.environ.get(ONEDNN, "as shipped"),
            "instruction sets": instruction_sets(),
            "device": f"{self.device}, or the call is an error",
        }


def without_onednn() -> TensorFlow:
    return TensorFlow("tensorflow-no-onednn", onednn=False)


def in_a_graph() -> TensorFlow:
    return TensorFlow("tensorflow-graph", graph=True)


def compiled_by_xla() -> TensorFlow:
    return TensorFlow("tensorflow-xla", xla=True)


def on_gpu() -> TensorFlow:
    return TensorFlow("tensorflow-gpu", device=GPU)


def onednn_state() -> str:
    """Whether TensorFlow says that oneDNN kernels are on: "on", "off" or "unknown"."""
    try:
        from tensorflow.python.util import _pywrap_util_port
    except ImportError:
        return "unknown"
    state: Any = _pywrap_util_port.IsMklEnabled()
    return "on" if state else "off"
