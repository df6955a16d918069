"""ExecuTorch: programs of one quantized_decomposed function, exported by torch and run by its portable kernels.

A scale's tensor is float64, the type that these kernels take. A program serves the shapes for which it was exported.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from typing import Any

from tiebreak.adapters import torch_cast
from tiebreak.adapters.recent import Recent
from tiebreak.adapters.torch import Torch
from tiebreak.adapters.torch_calls import (
    Call,
    Compiler,
    call_script,
    given,
    is_tensor,
    linear_planners,
    of_tensors,
    source_of_tensors,
)
from tiebreak.adapters.torch_decomposed import MODULE, decomposed_dequantize, decomposed_quantize, refuse_floats
from tiebreak.adapters.torch_linear import planner
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node

KERNELS = "executorch.kernels.quantized"  # importing it registers them
# Loaded before the first case, whose time limit they would use up.
MODULES = (KERNELS, "executorch.exir", "executorch.runtime")
REAL_TYPES = ("float32", "float16")
SCRIPT = """
import {kernels}
from executorch.exir import to_edge
from executorch.runtime import Runtime


class Called(torch.nn.Module):
    def forward(self, {taken}):
        return {inside}


tensors = ({tensors},)
program = to_edge(torch.export.export(Called(), tensors)).to_executorch()
content = program.buffer
loaded = Runtime.get().load_program(content)
method = loaded.load_method("forward")
"""


@dataclass
class Exporter:
    """Loaded programs, by what they were exported for."""

    library: Any
    methods: Recent = field(default_factory=Recent)
    exported: int = 0

    def result(self, call: Call) -> Any:
        """The tensor that a call gives. Unsupported with the words of torch.export or of the runtime."""
        tensors = [argument.value for argument in given(call) if is_tensor(argument)]
        shown = (repr(argument.value) for argument in given(call) if not is_tensor(argument))
        key = (call.function, *shown, *call.keywords, *((str(one.dtype), tuple(one.shape)) for one in tensors))
        try:
            _, _, method = self.methods.get(key, lambda: self.exported_method(call, tensors))
            return method.execute(tensors)[0].clone()  # the method's own memory is written again
        except Exception as refusal:  # torch.export, the edge dialect and the runtime raise all kinds
            raise Unsupported(f"{type(refusal).__name__}: {' '.join(str(refusal).split())[:300]}") from None

    def exported_method(self, call: Call, tensors: list[Any]) -> tuple[Any, Any, Any]:
        """The program's bytes, the program and its method: the method uses the memory of both."""
        from executorch.exir import to_edge
        from executorch.runtime import Runtime

        warnings.simplefilter("ignore", FutureWarning)  # torch.export's own use of torch
        function = of_tensors(self.library, call)

        class Called(self.library.nn.Module):  # type: ignore[misc,name-defined]
            def forward(self, *given: Any) -> Any:
                return function(*given)

        program = to_edge(self.library.export.export(Called(), tuple(tensors))).to_executorch()
        self.exported += 1
        content = program.buffer
        loaded = Runtime.get().load_program(content)
        return content, loaded, loaded.load_method("forward")

    def described(self) -> str:
        return f"ExecuTorch {version('executorch')}, portable quantized kernels: {self.exported} programs"

    def script(self, call: Call, node: Node, modules: tuple[str, ...]) -> str:
        """As torch_calls.call_script, with the call exported."""
        inside, tensors = source_of_tensors(call)
        taken = ", ".join(f"tensor_{number}" for number in range(sum(map(is_tensor, given(call)))))
        before, after = call_script(call, node, modules).split(call.source)
        head, _, line = before.rpartition("\n\n\n")
        made = SCRIPT.format(kernels=KERNELS, taken=taken, inside=inside, tensors=tensors)
        return f"{head}\n{made}{line}method.execute(list(tensors))[0]{after}"


def takes_reals(node: Node) -> None:
    """Raise Unsupported for real types for which the kernels end the process."""
    real = node.output_type if "Dequantize" in node.operator else node.input_type
    if real not in REAL_TYPES:
        raise Unsupported(f"ExecuTorch's kernel has no {real}: it ends the process")


def takes_what_it_rounds(node: Node) -> None:
    refuse_floats(node)
    takes_reals(node)


PLANNERS = {
    **linear_planners(
        planner(decomposed_quantize, takes_what_it_rounds, "exported quantize_per_*", numbers=False, scale="float64"),
        planner(decomposed_dequantize, takes_reals, "exported dequantize_per_*", numbers=False, scale="float64"),
    ),
    **torch_cast.PLANNERS,
}


def exporter(library: Any) -> Compiler:
    for module in MODULES:
        import_module(module)
    return Exporter(library)


def backend() -> Torch:
    found = Torch("executorch", PLANNERS, (MODULE,), compiler=exporter)
    found.version, found.configuration_of = version("executorch"), ""  # a library of its own
    return found
