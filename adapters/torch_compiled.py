"""torch.compile of the calls: TorchInductor's C++ kernels, one for each function, types, ranks and Python arguments.

Sizes are dynamic, so that one kernel serves the arrays of a rank. What does not go into one graph is refused:
nothing falls back to the eager functions. In 2.13 those are the classic functions and fake_quantize_*.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tiebreak.adapters.torch_calls import (
    Argument,
    Call,
    call_script,
    given,
    is_tensor,
    of_tensors,
    source_of_tensors,
)
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node

OPTIONS = "fullgraph=True, dynamic=True"
MOST_RECOMPILED = 1000  # kernels of a function: torch makes another where a size is 0 or 1


@dataclass
class Inductor:
    """Compiled functions, by what they were compiled for. Raises what torch raises where no C++ compiler runs."""

    library: Any
    functions: dict[tuple[Any, ...], Callable[..., Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Compile something, which loads TorchInductor."""
        self.library._dynamo.config.recompile_limit = MOST_RECOMPILED
        self.library.compile(lambda tensor: tensor + 1, fullgraph=True)(self.library.zeros(3))

    def result(self, call: Call) -> Any:
        """The tensor that a call gives. Unsupported with torch's words for what it does not compile."""
        key = (call.function, call.then, *map(kind_of, given(call)), *call.keywords)
        if key not in self.functions:
            self.functions[key] = self.library.compile(of_tensors(self.library, call), fullgraph=True, dynamic=True)
        try:
            return self.functions[key](*(argument.value for argument in given(call) if is_tensor(argument)))
        except self.library._dynamo.exc.Unsupported as error:
            raise Unsupported(shortened(str(error))) from None

    def described(self) -> str:
        from torch._dynamo.utils import counters

        graphs = counters["stats"]["unique_graphs"]
        return f"torch.compile({OPTIONS}), TorchInductor: {len(self.functions)} functions, {graphs} graphs"

    def script(self, call: Call, node: Node, modules: tuple[str, ...]) -> str:
        """As torch_calls.call_script, with the call compiled."""
        inside, tensors = source_of_tensors(call)
        taken = ", ".join(f"tensor_{number}" for number in range(sum(map(is_tensor, given(call)))))
        function = f"def called({taken}):\n    return {inside}\n"
        before, after = call_script(call, node, modules).split(call.source)
        head, _, line = before.rpartition("\n\n\n")
        return f"{head}\n\n\n{function}\n\n{line}torch.compile(called, {OPTIONS})({tensors}){after}"


def kind_of(argument: Argument) -> Any:
    """What a compiled function depends on: the type and the rank of a tensor, the value of anything else."""
    value = argument.value
    return (str(value.dtype), value.dim()) if is_tensor(argument) else repr(value)


def shortened(text: str) -> str:
    """The first line of torch's explanation and the one that says for what."""
    first, *others = text.strip().splitlines()
    context = [line.strip() for line in others if line.strip().startswith("Developer debug context:")]
    return "; ".join([first, *(line.partition(": ")[2] for line in context)])
