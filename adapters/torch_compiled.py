"""torch.compile of the calls: TorchInductor's C++ kernels, one for each function, types, ranks and Python arguments.

Sizes are dynamic, so that one kernel serves the arrays of a rank. What does not go into one graph is refused:
nothing falls back to the eager functions. In 2.13 those are the classic functions and fake_quantize_*.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from tiebreak.adapters.torch_calls import Argument, Call, call_script
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node

OPTIONS = "fullgraph=True, dynamic=True"
MOST_RECOMPILED = 1000  # kernels of a function: torch makes another where a size is 0 or 1


@dataclass
class Compiler:
    """Compiled functions, by what they were compiled for."""

    library: Any
    functions: dict[tuple[Any, ...], Callable[..., Any]] = field(default_factory=dict)

    def warm_up(self) -> None:
        """Compile something, which loads TorchInductor. Raises what it raises where no C++ compiler runs."""
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


def given(call: Call) -> tuple[Argument, ...]:
    return (*call.arguments, *call.keywords.values())


def is_tensor(argument: Argument) -> bool:
    return hasattr(argument.value, "element_size")


def kind_of(argument: Argument) -> Any:
    """What a compiled function depends on: the type and the rank of a tensor, the value of anything else."""
    value = argument.value
    return (str(value.dtype), value.dim()) if is_tensor(argument) else repr(value)


def of_tensors(library: Any, call: Call) -> Callable[..., Any]:
    """The call as a function of its tensors; the other arguments are constants of it."""
    function, count, then = attrgetter(call.function)(library), len(call.arguments), call.then
    values, names = [argument.value for argument in given(call)], tuple(call.keywords)
    places = [place for place, argument in enumerate(given(call)) if is_tensor(argument)]

    def called(*tensors: Any) -> Any:
        every = list(values)
        for place, tensor in zip(places, tensors):  # noqa: B905 - torch.compile takes no strict
            every[place] = tensor
        result = function(*every[:count], **dict(zip(names, every[count:])))  # noqa: B905
        return getattr(result, then)() if then else result

    return called


def shortened(text: str) -> str:
    """The first line of torch's explanation and the one that says for what."""
    first, *others = text.strip().splitlines()
    context = [line.strip() for line in others if line.strip().startswith("Developer debug context:")]
    return "; ".join([first, *(line.partition(": ")[2] for line in context)])


def compiled_script(call: Call, node: Node, modules: tuple[str, ...]) -> str:
    """As torch_calls.call_script, with the call compiled."""
    tensors = [argument.source for argument in given(call) if is_tensor(argument)]
    names = iter(f"tensor_{number}" for number in range(len(tensors)))
    inside = [next(names) if is_tensor(argument) else argument.source for argument in given(call)]
    count = len(call.arguments)
    arguments = [*inside[:count], *(f"{name}={one}" for name, one in zip(call.keywords, inside[count:], strict=True))]
    then = f".{call.then}()" if call.then else ""
    taken = ", ".join(f"tensor_{number}" for number in range(len(tensors)))
    function = f"def called({taken}):\n    return torch.{call.function}({', '.join(arguments)}){then}\n"
    made = f"torch.compile(called, {OPTIONS})({', '.join(tensors)})"
    before, after = call_script(call, node, modules).split(call.source)
    head, _, line = before.rpartition("\n\n\n")
    return f"{head}\n\n\n{function}\n\n{line}{made}{after}"
