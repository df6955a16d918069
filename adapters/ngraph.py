"""nGraph 0.26.0, the source of the documents for its operators: its interpreter's kernels, called through ctypes.

nGraph's Python package needs CPython 3.7. So the kernels are called where the interpreter calls them: at the C++
templates `ngraph::runtime::reference::quantize<REAL, QUANT>` and `dequantize<QUANT, REAL>`. The checks that nGraph's
operators make first (`validate_and_infer_types`) are made here, because the kernels trust their arguments.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tiebreak.adapters.inexpressible import check_output_type
from tiebreak.adapters.ngraph_libraries import DOWNLOAD, LIBRARIES, VERSION, installed_folder, sha256
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import ROUND_MODES

# The letter for each type in a mangled symbol. The quantized types are those for which element::Type::is_quantized() is
# true. nGraph's operators refuse all others, although the library has a dequantize for some.
REALS = {"float32": "f", "float64": "d"}
QUANTIZED = {"int8": "a", "uint8": "h", "int32": "i"}
SCOPE, END = "_ZN6ngraph7runtime9reference", "RKNS_5ShapeESC_RKNS_7AxisSetE"
SYMBOLS = {
    "ngraph.Quantize": SCOPE + "8quantizeI{real}{quantized}EEvPKT_S5_PKT0_PS6_" + END + "NS_2op8Quantize9RoundModeE",
    "ngraph.Dequantize": SCOPE + "10dequantizeI{quantized}{real}EEvPKT_PKT0_S5_PS6_" + END,
}
MODES = tuple(ROUND_MODES)  # by number, as in enum class RoundMode of ngraph/op/quantize.hpp
REPRODUCER = """
import ctypes
import os
from typing import Any

import numpy as np

# nGraph {version}, x86-64 Linux: `tiebreak backends install ngraph` puts it into this folder. Or
#   {download}
# and unzip the wheel; NGRAPH names the folder in it that has libngraph.so and libinterpreter_backend.so.
folder = os.path.expanduser(os.environ.get("NGRAPH", "{folder}"))


{functions}

core, kernels = load(folder)
# The call.
outputs = (np.empty({first}.shape, "{dtype}"),)
call(kernels.{symbol}, [{names}], outputs[0], {arguments})
core.get_ngraph_version_string.restype = ctypes.c_char_p
library = "nGraph " + core.get_ngraph_version_string().decode()
"""


class NGraph:
    """Needs the library that `tiebreak backends install ngraph` fetches; ModuleNotFoundError without it."""

    name = "ngraph"
    version = VERSION
    claims: ClassVar = {name: f"nGraph {VERSION} documentation of {name.partition('.')[2]}" for name in SYMBOLS}

    def __init__(self) -> None:
        folder = installed_folder()
        if folder is None:
            raise ModuleNotFoundError(f"nGraph {VERSION} is not installed")
        self.folder = folder
        self.core, self.kernels = load(str(folder))
        self.used: set[str] = set()

    def compile(self, node: Node) -> Run:
        symbol, arguments = symbol_of(node), arguments_of(node)
        kernel = getattr(self.kernels, symbol)
        self.used.add(f"{node.operator} for {node.real.name} with {node.quantized.name}")

        def run(*inputs: Array) -> tuple[Array, ...]:
            check_shapes(node, arguments[0], inputs)
            ready = [np.require(array, requirements=["C", "ALIGNED"]) for array in inputs]
            output = np.empty(inputs[0].shape, node.outputs[0].dtype)
            call(kernel, ready, output, *arguments)
            return (output,)

        return run

    def attest(self) -> dict[str, str]:
        """The library files with hashes, the version that the library reports, and the kernels that ran."""
        self.core.get_ngraph_version_string.restype = ctypes.c_char_p
        return {
            "library": str(self.folder / LIBRARIES[1]),
            **{f"SHA-256 of {name}": sha256(self.folder / name) for name in LIBRARIES},
            "ngraph": self.core.get_ngraph_version_string().decode(),
            "ran": "reference kernels of the interpreter backend: " + ", ".join(sorted(self.used)),
            "threads": "1",
            "instruction sets": instruction_sets(),
        }

    def reproducer(self, node: Node, inputs: tuple[Array, ...]) -> str:
        """Python lines that make the same call, with the source of the functions that made it here."""
        folder, home = str(self.folder), str(Path.home())
        return REPRODUCER.format(
            version=VERSION,
            download=DOWNLOAD,
            folder=folder.replace(home, "~", 1) if folder.startswith(home + "/") else folder,
            functions="\n\n".join(inspect.getsource(function) for function in (load, vector, axis_set, call)),
            first=node.inputs[0].name,
            names=", ".join(tensor.name for tensor in node.inputs),
            dtype=node.outputs[0].dtype.name,
            symbol=symbol_of(node),
            arguments=", ".join(map(repr, arguments_of(node))),
        )


def load(folder: str) -> tuple[ctypes.CDLL, ctypes.CDLL]:
    """libngraph.so and the interpreter, which needs it; neither puts its symbols before those of other libraries."""
    core = ctypes.CDLL(folder + "/libngraph.so")
    return core, ctypes.CDLL(folder + "/libinterpreter_backend.so")


def vector(sizes: tuple[int, ...]) -> tuple[Any, Any]:
    """A std::vector<size_t>, which an ngraph::Shape is: begin, end, end of storage; and what they point into."""
    storage = (ctypes.c_size_t * len(sizes))(*sizes)
    begin, size = ctypes.addressof(storage), ctypes.sizeof(storage)
    return (ctypes.c_void_p * 3)(begin, begin + size, begin + size), storage


def axis_set(axes: tuple[int, ...]) -> Any:
    """A std::set<size_t> of libstdc++, which an ngraph::AxisSet is: comparator, header node, count; then its nodes.

    A node is colour, parent, left, right and, but for the header, a value. Ascending axes, each the right child of the
    one before, are a tree that can be searched and iterated; nothing is ever inserted.
    """
    words = (ctypes.c_size_t * (6 + 5 * len(axes)))()
    at = [ctypes.addressof(words) + 8 + 40 * place for place in range(len(axes) + 1)]  # the header, then the nodes
    words[1:6] = [0, at[1], at[1], at[-1], len(axes)] if axes else [0, 0, at[0], at[0], 0]
    for place, axis in enumerate(axes, start=1):
        right = at[place + 1] if place < len(axes) else 0
        words[1 + 5 * place : 6 + 5 * place] = [1, at[place - 1], 0, right, axis]
    return words


def call(kernel: Any, inputs: Any, output: Any, axes: tuple[int, ...], *round_mode: int) -> None:
    """kernel(input, scale, zero point, output, shape of input, shape of scale, axes, and a mode if it quantizes)."""
    data = [ctypes.c_void_p(array.ctypes.data) for array in (*inputs, output)]
    shapes = [vector(array.shape) for array in inputs[:2]]
    kernel.restype = None
    kernel(*data, *(shape for shape, _ in shapes), axis_set(axes), *map(ctypes.c_int, round_mode))


def symbol_of(node: Node) -> str:
    """The symbol of the node's kernel. Unsupported for attributes and types that nGraph's operator lacks."""
    if unknown := set(node.attributes) - {"type", "axes", "round_mode"}:
        raise Unsupported(f"{node.operator} has no attribute {', '.join(sorted(unknown))}")
    check_output_type(node, "nGraph")
    real, quantized = node.real.name, node.quantized.name
    if real not in REALS or quantized not in QUANTIZED:
        has = f"{' and '.join(REALS)} with {', '.join(QUANTIZED)}"
        raise Unsupported(f"nGraph's interpreter has {node.operator} for {has}, not for {real} with {quantized}")
    return SYMBOLS[node.operator].format(real=REALS[real], quantized=QUANTIZED[quantized])


def arguments_of(node: Node) -> tuple[Any, ...]:
    """The axes in ascending order and, for Quantize, the number of the rounding mode."""
    modes = (MODES.index(node.round_mode),) if node.operator == "ngraph.Quantize" else ()
    axes = node.attributes.get("axes", ())
    if len(set(axes)) != len(axes):
        raise Unsupported(f"an AxisSet holds an axis once, not as in {axes}")
    return (tuple(sorted(axes)), *modes)


def check_shapes(node: Node, axes: tuple[int, ...], inputs: Sequence[Array]) -> None:
    """Raise Unsupported for inputs that nGraph's operator refuses; the kernel would read beyond the arrays."""
    wanted = [np.dtype(name) for name in (node.input_type, node.real.name, node.quantized.name)]
    if (found := [array.dtype for array in inputs]) != wanted:
        raise Unsupported(f"inputs of types {', '.join(map(str, found))}, not {', '.join(map(str, wanted))}")
    shape, scale, zero_point = (array.shape for array in inputs)
    if any(not 0 <= axis < len(shape) for axis in axes):
        raise Unsupported(f"quantization axes {axes} must be less than input shape rank ({len(shape)})")
    if not scale == zero_point == tuple(shape[axis] for axis in axes):
        both = f"scale / zero point shape ({scale} / {zero_point})"
        raise Unsupported(f"{both} must match input shape ({shape}) at the quantization axes ({axes})")
