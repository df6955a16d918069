"""TensorFlow's own operators, eager and on the CPU; which node goes to which is said by the modules beside this one."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from tiebreak.adapters import tensorflow_fake, tensorflow_ngraph, tensorflow_quantize
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node

# By operator id: (the backend, a node) to a callable for that node.
COMPILERS: dict[str, Callable[[TensorFlow, Node], Run]] = {
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
            os.environ["TF_ENABLE_ONEDNN_OPTS"] = str(int(onednn))
        import tensorflow

        self.name, self.library = name, tensorflow
        self.version = str(tensorflow.__version__)
        self.ran: set[str] = set()
        self.devices: set[str] = set()

    def compile(self, node: Node) -> Run:
        if node.operator not in COMPILERS:
            raise Unsupported(f"TensorFlow has no {node.operator}; what it is run for: {', '.join(sorted(COMPILERS))}")
        return COMPILERS[node.operator](self, node)

    def call(self, operation: str, **arguments: Any) -> Any:
        """What tf.raw_ops gives; Unsupported with TensorFlow's own message if it refuses."""
        errors = self.library.errors
        try:
            with self.library.device("/CPU:0"):
                result = getattr(self.library.raw_ops, operation)(**arguments)
        except (errors.InvalidArgumentError, errors.UnimplementedError, errors.NotFoundError) as error:
            raise Unsupported(error.message) from None
        first = result[0] if isinstance(result, tuple) else result
        self.ran.add(operation)
        self.devices.add(str(first.device))
        return result

    def attest(self) -> dict[str, str]:
        return {
            "library": str(self.library.__file__),
            "tensorflow": self.version,
            "operators": ", ".join(sorted(self.ran)) or "nothing",
            "execution": "eager, tf.raw_ops",
            "oneDNN": onednn_state(),
            "TF_ENABLE_ONEDNN_OPTS": os.environ.get("TF_ENABLE_ONEDNN_OPTS", "as shipped"),
            "instruction sets": instruction_sets(),
            "ran": ", ".join(sorted(self.devices)) or "nothing",
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
