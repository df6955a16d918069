"""Triton: tl.cast in a kernel of one line for onnx.Cast, in Triton's own interpreter on the CPU or compiled for a GPU.

Triton documents that tl.cast rounds to nearest, ties to even, unless it is told otherwise; of numbers beyond the
largest it says nothing. NVIDIA's instruction for it saturates, infinities too. So the nodes are run that say so:
saturate 1. Bits enter and leave as integers, since torch lacks some of the types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tiebreak.adapters.inexpressible import check_cast
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import NoDevice, Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import onnx_cast
from tiebreak.golden.problem import Array

# What Triton calls an element type.
TYPES: Mapping[str, str] = {
    **{name: name for name in ("float64", "float32", "float16", "bfloat16")},
    **{f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float8_e4m3fn": "float8e4nv",
    "float8_e4m3fnuz": "float8e4b8",
    "float8_e5m2": "float8e5",
    "float8_e5m2fnuz": "float8e5b16",
}
SIZE = 1024  # numbers of a program, of which one call starts as many as it needs
REFUSALS = (AssertionError, ValueError, NotImplementedError)  # of Triton's front end; what else it raises is a fault
MAPS = {onnx_cast.ID: "tl.cast: each number rounded to nearest, ties to even, and held in the type's range"}
LINES = """
{setting}
import torch
import triton
import triton.language as tl


@triton.jit
def cast(x_bits, y_bits, count, SIZE: tl.constexpr):
    places = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    x = tl.load(x_bits + places, mask=places < count).to(tl.{x_type}, bitcast=True)
    y = tl.cast(x, tl.{y_type})
    tl.store(y_bits + places, y.to(tl.int{y_bits}, bitcast=True), mask=places < count)


# The call.
given = torch.from_numpy(np.array({x}, order="C").reshape(-1).view("int{x_bits}")).to("{device}")
held = torch.zeros_like(given, dtype=torch.int{y_bits})
cast[(triton.cdiv({x}.size, {size}),)](given, held, {x}.size, {size})
outputs = (held.cpu().numpy().view({y_dtype}).reshape({x}.shape),)
library = f"triton {{triton.__version__}}"
"""
INTERPRETED = 'import os\n\nos.environ["TRITON_INTERPRET"] = "1"'


class Triton:
    maps = MAPS

    def __init__(self, name: str = "triton-interpreter", device: str = "cpu") -> None:
        import torch
        import triton
        import triton.language

        if device != "cpu" and not torch.cuda.is_available():
            raise NoDevice(f"torch {torch.__version__} sees no CUDA device")
        self.name, self.device, self.version = name, device, str(triton.__version__)
        self.library, self.language, self.torch = triton, triton.language, torch
        self.cast = kernel(triton, interpreted=device == "cpu")

    def compile(self, node: Node) -> Run:
        check(node)
        dtype, kinds = node.outputs[0].dtype, [TYPES[name] for name in (node.input_type, node.output_type)]
        types = [getattr(self.language, name) for name in (*kinds, f"int{8 * dtype.itemsize}")]

        def run(x: Array) -> tuple[Array, ...]:
            bits = np.array(x, order="C").reshape(-1).view(f"int{8 * x.itemsize}")
            given = self.torch.from_numpy(bits).to(self.device)
            held = self.torch.zeros(x.size, dtype=getattr(self.torch, f"int{8 * dtype.itemsize}"), device=self.device)
            self.call(given, held, x.size, types)
            return (held.cpu().numpy().view(dtype).reshape(x.shape),)

        return run

    def call(self, given: Any, held: Any, count: int, types: Sequence[Any]) -> None:
        """Run the kernel. Unsupported with Triton's own words if it refuses the types."""
        from triton.compiler.errors import CompilationError
        from triton.runtime.errors import InterpreterError

        try:
            self.cast[(self.library.cdiv(count, SIZE),)](given, held, count, *types, SIZE)
        except (InterpreterError, CompilationError) as error:
            reason = error.__cause__ or error
            if isinstance(reason, (*REFUSALS, CompilationError)):
                raise Unsupported(str(reason)) from None
            raise

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that make the same call; see protocol.Backend."""
        check(node)
        x, y = node.inputs[0], node.outputs[0]
        from_ml_dtypes = not hasattr(np, y.dtype.name)
        return ("import ml_dtypes\n" if from_ml_dtypes else "") + LINES.format(
            setting=INTERPRETED if self.device == "cpu" else "",
            device=self.device,
            x=x.name,
            x_type=TYPES[node.input_type],
            y_type=TYPES[node.output_type],
            x_bits=8 * x.dtype.itemsize,
            y_bits=8 * y.dtype.itemsize,
            y_dtype=f"{'ml_dtypes' if from_ml_dtypes else 'np'}.{y.dtype.name}",
            size=SIZE,
        )

    def attest(self) -> dict[str, str]:
        gpu = self.device != "cpu"
        return {
            "library": str(self.library.__file__),
            "triton": self.version,
            "torch": str(self.torch.__version__),
            "device": str(self.torch.cuda.get_device_name()) if gpu else "cpu",
            "kernel": "compiled by Triton" if gpu else "interpreted: triton.knobs.runtime.interpret, no compiler",
            "instruction sets": instruction_sets(),
        }


def on_cuda() -> Triton:
    return Triton("triton-cuda", "cuda")


def kernel(library: Any, interpreted: bool) -> Any:
    """The kernel, which is made for the interpreter or the compiler when its module is imported."""
    with library.knobs.runtime.scope():
        library.knobs.runtime.interpret = interpreted
        from tiebreak.adapters.triton_kernel import cast
    return cast


def check(node: Node) -> None:
    """Raise Unsupported for types that Triton lacks, and attributes that tl.cast has no words for."""
    if node.operator != onnx_cast.ID:
        raise Unsupported(f"Triton has no {node.operator}; tl.cast is run for {onnx_cast.ID}")
    for name in (node.input_type, node.output_type):
        if name not in TYPES:
            raise Unsupported(f"Triton has no element type {name}")
    check_cast(node, "Triton", {})
