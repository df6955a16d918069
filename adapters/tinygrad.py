"""tinygrad: its OnnxRunner turns an ONNX model into tensor expressions, which clang compiles for the CPU.

Of onnx.Cast its ONNX loader knows none of the types; see tinygrad_cast. Of GGUF's blocks see tinygrad_gguf.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from tiebreak.adapters import gguf_blocks, tinygrad_cast, tinygrad_gguf
from tiebreak.adapters.onnx_loaded import OnnxLoaded, Prepared
from tiebreak.adapters.onnx_models import CLAIMS, MAPS, PAIR_CLAIMS, OnnxNode
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.golden.elements import NUMPY_OWN, numpy_dtype
from tiebreak.golden.errors import MachineryFailed, Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import onnx_cast
from tiebreak.golden.operators.onnx_linear import NUMBERS
from tiebreak.golden.problem import Array

DEVICE = "CPU"
SOURCE = """
import os

os.environ["DEV"] = "CPU"
import io

from tinygrad import Tensor
from tinygrad.nn.onnx import OnnxRunner

runner = OnnxRunner(Tensor(model.SerializeToString()))
# The call.
found = runner({{{inputs}}})
outputs = tuple(found[value.name].numpy() for value in model.graph.output)
library = "tinygrad"
"""


class Tinygrad:
    """Needs clang, which is no package of Python's; MachineryFailed without it."""

    def __init__(self) -> None:
        os.environ["DEV"] = DEVICE  # read when it is imported
        import onnx  # noqa: F401 - fail now, not at the first node
        import tinygrad
        from tinygrad.nn.onnx import OnnxRunner

        self.clang = shutil.which(os.environ.get("CC", "clang"))
        if self.clang is None:
            raise MachineryFailed("tinygrad compiles with clang, which is not installed")
        self.library, self.runner, self.version = tinygrad, OnnxRunner, version("tinygrad")

    def prepare(self, model: Any) -> Prepared:
        names = [value.name for value in model.graph.input]
        outputs = {value.name: NUMBERS[value.type.tensor_type.elem_type] for value in model.graph.output}
        try:
            runner = self.runner(self.library.Tensor(model.SerializeToString()))
        except Exception as refusal:  # assertions, missing operators, types
            raise Unsupported(reason(refusal)) from None

        def run(inputs: Sequence[Array]) -> list[Any]:
            try:
                given = {name: self.library.Tensor(array) for name, array in zip(names, inputs, strict=True)}
                found = runner(given)
                return [array_of(found[name], kind) for name, kind in outputs.items()]
            except Exception as refusal:
                raise Unsupported(reason(refusal)) from None

        return run

    def source(self, written: OnnxNode, free: Sequence[str]) -> str:
        return SOURCE.format(inputs=", ".join(f'"{name}": Tensor({name})' for name in free))

    def facts(self) -> dict[str, str]:
        return {
            "library": str(self.library.__file__),
            "tinygrad": self.version,
            "device": DEVICE,
            "compiler": str(self.clang),
            "instruction sets": instruction_sets(),
        }


def array_of(tensor: Any, kind: str) -> Any:
    """An output of this type; NumPy would get a type that it lacks as another."""
    if kind in NUMPY_OWN:
        return tensor.numpy()
    dtype = numpy_dtype(kind)
    return tensor.bitcast(f"uint{8 * dtype.itemsize}").numpy().view(dtype)


def reason(refusal: Exception) -> str:
    text = " ".join(str(refusal).split())
    return f"{type(refusal).__name__}: {text or 'no message'}"


OWN_CALLS: Mapping[str, Any] = {onnx_cast.ID: tinygrad_cast, **dict.fromkeys(gguf_blocks.OPERATORS, tinygrad_gguf)}


class TinygradNodes:
    """Nodes of ONNX's operators as models; casts and GGUF's blocks by functions of their own."""

    name, takes_constants = "tinygrad", True
    maps: Mapping[str, str] = {**MAPS, **tinygrad_cast.MAPS}
    claims: Mapping[str, str] = {
        **{operator: claim for operator, claim in CLAIMS.items() if operator != onnx_cast.ID},
        **PAIR_CLAIMS,
        **tinygrad_gguf.CLAIMS,
    }

    def __init__(self) -> None:
        self.library = Tinygrad()
        self.version = self.library.version
        self.onnx = OnnxLoaded(self.name, self.library, further=PAIR_CLAIMS)

    def compile(self, node: Node) -> Run:
        if node.operator not in OWN_CALLS:
            return self.onnx.compile(node)
        call = OWN_CALLS[node.operator].compiled(self.library.library, node)

        def run(*inputs: Array) -> tuple[Array, ...]:
            try:
                return tuple(call(*inputs))
            except Unsupported:
                raise
            except Exception as refusal:  # clang's, too
                raise Unsupported(reason(refusal)) from None

        return run

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that make the same call; see protocol.Backend."""
        if node.operator not in OWN_CALLS:
            return self.onnx.reproducer(node, inputs)
        return str(OWN_CALLS[node.operator].source(node))

    def attest(self) -> dict[str, str]:
        return self.onnx.attest()


def backend() -> TinygradNodes:
    return TinygradNodes()
