"""TensorFlow's own operators, eager and on the CPU; which node goes to which is said by the modules beside this one."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from tiebreak.adapters import tensorflow_fake, tensorflow_ngraph, tensorflow_quantize
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.tensorflow_raw import RawOperators
from tiebreak.adapters.tensorflow_source import ONEDNN, reproducer_source
from tiebreak.golden.errors import MachineryFailed, Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

DEVICE = "/CPU:0"

# By operator id: (the backend, a node) to a callable for that node.
COMPILERS: dict[str, Callable[[RawOperators, Node], Run]] = {
    **tensorflow_ngraph.COMPILERS,
    **tensorflow_quantize.COMPILERS,
    **tensorflow_fake.COMPILERS,
}


class TensorFlow:
    """`onednn` None leaves oneDNN as TensorFlow ships it; False turns it off, which needs a process of its own."""

    operators = frozenset(COMPILERS)

    def __init__(self, name: str = "tensorflow", *, onednn: bool | None = None) -> None:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        if onednn is not None:
            os.environ[ONEDNN] = str(int(onednn))
        import tensorflow

        self.name, self.library = name, tensorflow
        self.version = str(tensorflow.__version__)
        self.compiled: set[str] = set()  # names of raw operators

    def compile(self, node: Node) -> Run:
        if node.operator not in COMPILERS:
            raise Unsupported(f"TensorFlow has no {node.operator}; what it is run for: {', '.join(sorted(COMPILERS))}")
        run = COMPILERS[node.operator](self, node)
        source, _, operation = node.operator.partition(".")
        self.compiled.add("QuantizeV2" if source == "ngraph" else operation)
        return run

    def call(self, operation: str, **arguments: Any) -> Any:
        """What tf.raw_ops gives; Unsupported with TensorFlow's own message if it refuses."""
        errors = self.library.errors
        try:
            with self.library.device(DEVICE):
                result = getattr(self.library.raw_ops, operation)(**arguments)
        except (errors.InvalidArgumentError, errors.UnimplementedError, errors.NotFoundError) as error:
            raise Unsupported(error.message) from None
        first = result[0] if isinstance(result, tuple) else result
        if not str(first.device).endswith("CPU:0"):
            raise MachineryFailed(f"{operation} ran on {first.device}")
        return result

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Source of a script's part in TensorFlow's own API; see protocol.Backend."""
        return reproducer_source(node)

    def attest(self) -> dict[str, str]:
        return {
            "library": str(self.library.__file__),
            "tensorflow": self.version,
            "operators": ", ".join(sorted(self.compiled)) or "nothing",
            "execution": "eager, tf.raw_ops",
            "oneDNN": onednn_state(),
            ONEDNN: os.environ.get(ONEDNN, "as shipped"),
            "instruction sets": instruction_sets(),
            "device": f"{DEVICE}, or the call is an error",
        }


def without_onednn() -> TensorFlow:
    return TensorFlow("tensorflow-no-onednn", onednn=False)


def onednn_state() -> str:
    """Whether oneDNN kernels are on, as TensorFlow's own switch says."""
    try:
        from tensorflow.python.util import _pywrap_util_port
    except ImportError:
        return "unknown"
    state: Any = _pywrap_util_port.IsMklEnabled()
    return "on" if state else "off"
