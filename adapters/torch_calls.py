"""Calls into torch, to run and to write as source: each argument has a value and a Python expression."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Protocol

import numpy as np

from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

# Types that torch has by the same names. Others, packed or of fewer bits, can't be made from an array.
TYPES = (
    *("float16", "bfloat16", "float32", "float64"),
    *("int8", "uint8", "int16", "uint16", "int32", "uint32"),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
)
# What torch raises for arguments that it refuses. The decomposed functions may divide Python numbers by zero.
REFUSALS = (RuntimeError, ValueError, IndexError, AssertionError, ZeroDivisionError)
FAULTS = (
    "INTERNAL ASSERT FAILED",
    "allocate memory",
    "out of memory",
)  # RuntimeErrors with these words are failures, not refusals


@dataclass(frozen=True)
class Argument:
    """A value (a tensor, number, torch dtype or None) and the Python expression that makes it."""

    value: Any
    source: str


@dataclass(frozen=True)
class Call:
    """`torch.<function>(*arguments, **keywords)`, and optionally a method `then` of the result without arguments."""

    function: str
    arguments: tuple[Argument, ...]
    keywords: Mapping[str, Argument] = field(default_factory=dict)
    then: str = ""

    def run(self, library: Any) -> Array:
        """The result as an array. Unsupported with torch's own message if torch refuses the arguments."""
        return self.run_by(library, self.result)

    def result(self, library: Any) -> Any:
        """The tensor that torch's function gives."""
        result = attrgetter(self.function)(library)(
            *(argument.value for argument in self.arguments),
            **{name: argument.value for name, argument in self.keywords.items()},
        )
        return attrgetter(self.then)(result)() if self.then else result

    def run_by(self, library: Any, result: Callable[[Any], Any]) -> Array:
        """As run, with the tensor that another function of the library gives."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # the classic functions are deprecated since 2.13
                return array_from_torch(library, result(library))
        except REFUSALS as error:
            if any(fault in str(error) for fault in FAULTS):
                raise
            raise Unsupported(str(error)) from None

    @property
    def source(self) -> str:
        given = [argument.source for argument in self.arguments]
        given += [f"{name}={argument.source}" for name, argument in self.keywords.items()]
        return f"torch.{self.function}({', '.join(given)})" + (f".{self.then}()" if self.then else "")


@dataclass(frozen=True)
class Plan:
    """How a node is run. `call` makes the call for given inputs; `probe` shows whether torch takes the types.

    `ways` names the functions and overloads that may be called.
    """

    call: Callable[..., Call]
    probe: Call
    ways: str


Planner = Callable[[Any, Node], Plan]


class Compiler(Protocol):
    """Compiles calls for something else than torch's eager functions."""

    def result(self, call: Call) -> Any:
        """The tensor that a call gives. Unsupported with the compiler's words for what it does not compile."""
        ...

    def described(self) -> str:
        """How it compiles, and what it did."""
        ...

    def script(self, call: Call, node: Node, modules: tuple[str, ...]) -> str:
        """As call_script, with the call compiled."""
        ...


def linear_planners(quantize: Planner, dequantize: Planner) -> dict[str, Planner]:
    """The planners by operator id: `quantize` for operators that divide by a scale, `dequantize` for the others."""
    forth, back = ("onnx.QuantizeLinear", "ngraph.Quantize"), ("onnx.DequantizeLinear", "ngraph.Dequantize")
    return dict.fromkeys(forth, quantize) | dict.fromkeys(back, dequantize)


def torch_tensor(library: Any, array: Array) -> Any:
    """A tensor with a copy of the array's bits, passed as unsigned integers because NumPy lacks some of the types."""
    if array.dtype.name not in TYPES:
        raise Unsupported(f"torch makes no tensor of {array.dtype.name}")
    bits = np.array(array, order="C").view(f"uint{8 * array.dtype.itemsize}")
    return library.from_numpy(bits).view(getattr(library, array.dtype.name))


def array_from_torch(library: Any, tensor: Any) -> Array:
    bits = tensor.cpu().contiguous().view(getattr(library, f"uint{8 * tensor.element_size()}"))
    own: Array = bits.numpy().view(numpy_dtype(str(tensor.dtype).removeprefix("torch.")))
    return own


def tensor_argument(library: Any, name: str, array: Array, kind: str = "") -> Argument:
    """An input as a tensor of its own shape and its own type, or converted to torch's type `kind`."""
    tensor = torch_tensor(library, array)
    if not kind:
        return Argument(tensor, f"tensor({name})")
    return Argument(tensor.to(getattr(library, kind)), f"tensor({name}).to(torch.{kind})")


def type_argument(library: Any, kind: str) -> Argument:
    return Argument(getattr(library, kind), f"torch.{kind}")


def number_argument(value: float | None) -> Argument:
    return Argument(value, repr(value))


def given(call: Call) -> tuple[Argument, ...]:
    return (*call.arguments, *call.keywords.values())


def is_tensor(argument: Argument) -> bool:
    return hasattr(argument.value, "element_size")


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


def source_of_tensors(call: Call) -> tuple[str, str]:
    """The call as an expression of tensor_0, tensor_1 …, and the sources of those tensors."""
    tensors = [argument.source for argument in given(call) if is_tensor(argument)]
    names = iter(f"tensor_{number}" for number in range(len(tensors)))
    inside = [next(names) if is_tensor(argument) else argument.source for argument in given(call)]
    count = len(call.arguments)
    arguments = [*inside[:count], *(f"{name}={one}" for name, one in zip(call.keywords, inside[count:], strict=True))]
    then = f".{call.then}()" if call.then else ""
    return f"torch.{call.function}({', '.join(arguments)}){then}", ", ".join(tensors)


SCRIPT = """\
{imports}


def tensor(array):
    bits = np.array(array, order="C").view(f"uint{{8 * array.dtype.itemsize}}")
    return torch.from_numpy(bits).view(getattr(torch, array.dtype.name))


def array(tensor):
    bits = tensor.cpu().contiguous().view(getattr(torch, f"uint{{8 * tensor.element_size()}}"))
    return bits.numpy().view({dtype})


torch.set_num_threads(1)
library = f"torch {{torch.__version__}}"
outputs = (array({call}),)
"""


def call_script(call: Call, node: Node, modules: tuple[str, ...] = ()) -> str:
    """Python lines that make the call and set `outputs`; the node's inputs are arrays bound to their names."""
    own = hasattr(np, node.output_type)
    imports = [*([] if own else ["ml_dtypes"]), "numpy as np", "torch", *modules]
    dtype = f"{'np' if own else 'ml_dtypes'}.{node.output_type}"
    return SCRIPT.format(imports="\n".join(f"import {name}" for name in imports), dtype=dtype, call=call.source)
