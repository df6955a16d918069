"""ggml itself, from the libraries in the wheel of pywhispercpp, through ggml.h.

`ggml` calls ggml_quantize_chunk, which makes model files: it runs the reference functions. It dequantizes with to_float
of the type traits. `ggml-cpu` calls from_float of the CPU's type traits (ggml-cpu.h), which quantizes the inputs of a
matrix product with the processor's vectors. That function claims no document; the bytes have the same meaning.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import distribution
from typing import Any

import numpy as np

from tiebreak.adapters.gguf_blocks import (
    BLOCK,
    BYTES,
    NUMBERS,
    OPERATORS,
    SOURCE,
    WHOLE,
    is_back,
    parts,
    type_of,
    whole,
)
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import MachineryFailed, Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import gguf_dequantize, gguf_quantize
from tiebreak.golden.problem import Array

DISTRIBUTION = "pywhispercpp"
CHUNK = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * 3, ctypes.c_void_p]
FROM_FLOAT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)


class TypeTraits(ctypes.Structure):
    """The beginning of ggml.h's struct ggml_type_traits."""

    _fields_ = (
        ("type_name", ctypes.c_char_p),
        ("blck_size", ctypes.c_int64),
        ("blck_size_interleave", ctypes.c_int64),
        ("type_size", ctypes.c_size_t),
        ("is_quantized", ctypes.c_bool),
        ("to_float", FROM_FLOAT),
    )


SAME = "from_float of ggml-cpu's type traits: the blocks of the reference, made for inputs of a matrix product"
HEAD = """
import ctypes
from importlib.metadata import distribution

files = [file for file in distribution("pywhispercpp").files if file.parent.name == "pywhispercpp.libs"]
base, cpu = (
    ctypes.CDLL(str(next(file for file in files if file.name.startswith(name)).locate()))
    for name in ("libggml-base", "libggml-cpu")
)
base.ggml_version.restype = ctypes.c_char_p
"""
LINES = """{helpers}
# The call.
x, held = np.ascontiguousarray(x), np.zeros(x.size // 32 * {size}, np.uint8)
{call}
outputs = parts(held, {size}, x.shape)
library = f"ggml {{base.ggml_version().decode()}}, pywhispercpp {{distribution('pywhispercpp').version}}"
"""
BACK_LINES = """{helpers}

class Traits(ctypes.Structure):
    _fields_ = (
        ("type_name", ctypes.c_char_p), ("blck_size", ctypes.c_int64), ("blck_size_interleave", ctypes.c_int64),
        ("type_size", ctypes.c_size_t), ("is_quantized", ctypes.c_bool),
        ("to_float", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)),
    )


base.ggml_get_type_traits.restype = ctypes.POINTER(Traits)
# The call.
held, y = whole(elements, scales), np.zeros(elements.shape, np.float32)
base.ggml_get_type_traits({number}).contents.to_float(held.ctypes.data, y.ctypes.data, y.size)
outputs = (y,)
library = f"ggml {{base.ggml_version().decode()}}, pywhispercpp {{distribution('pywhispercpp').version}}"
"""
CHUNK_LINES = """
base.ggml_quantize_chunk.argtypes = [ctypes.c_int, *[ctypes.c_void_p] * 2, *[ctypes.c_int64] * 3, ctypes.c_void_p]
rows = x.size // max(x.shape[-1], 1)
base.ggml_quantize_chunk({number}, x.ctypes.data, held.ctypes.data, 0, rows, x.shape[-1], None)"""
CPU_LINES = """
cpu.ggml_cpu_init()
cpu.ggml_get_type_traits_cpu.restype = ctypes.c_void_p
kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
from_float = kind(ctypes.c_void_p.from_address(cpu.ggml_get_type_traits_cpu({number})).value)
from_float(x.ctypes.data, held.ctypes.data, x.size)"""


class Ggml:
    """`vectors`: through the CPU's own kernels instead of the reference."""

    operators = OPERATORS

    def __init__(self, *, vectors: bool = False) -> None:
        self.vectors, self.name = vectors, "ggml-cpu" if vectors else "ggml"
        self.operators = frozenset({gguf_quantize.ID}) if vectors else OPERATORS
        self.configuration_of = "ggml"
        self.base, self.cpu = library("libggml-base"), library("libggml-cpu")
        self.base.ggml_version.restype = self.base.ggml_commit.restype = ctypes.c_char_p
        self.base.ggml_quantize_chunk.restype, self.base.ggml_quantize_chunk.argtypes = ctypes.c_size_t, CHUNK
        self.cpu.ggml_get_type_traits_cpu.restype = ctypes.c_void_p
        self.base.ggml_get_type_traits.restype = ctypes.POINTER(TypeTraits)
        self.cpu.ggml_cpu_init()
        self.version = self.base.ggml_version().decode()
        said = f"ggml {self.version}, ggml-quants.c, quantize_row_q8_0_ref and quantize_row_q4_0_ref"
        back = f"ggml {self.version}, ggml-quants.c, dequantize_row_q8_0 and dequantize_row_q4_0"
        self.claims: Mapping[str, str] = {} if vectors else {gguf_quantize.ID: said, gguf_dequantize.ID: back}
        self.maps: Mapping[str, str] = {gguf_quantize.ID: SAME} if vectors else {}

    def compile(self, node: Node) -> Run:
        name = type_of(node, self.name)
        if is_back(node):
            return self.back(name)

        def run(x: Array) -> tuple[Array, ...]:
            if x.shape[-1] % BLOCK:
                raise Unsupported("ggml_row_size ends the process: GGML_ASSERT(ne % ggml_blck_size(type) == 0)")
            if not x.shape[-1]:
                raise Unsupported("ggml_quantize_chunk ends the process: it divides by the length of a row")
            given, held = np.ascontiguousarray(x), np.zeros(x.size // BLOCK * BYTES[name], np.uint8)
            (self.from_float if self.vectors else self.chunk)(NUMBERS[name])(given, held)
            return parts(held, node, x.shape)

        return run

    def back(self, name: str) -> Run:
        """Numbers of blocks; ggml-cpu has no way back of its own."""
        if self.vectors:
            raise Unsupported("ggml-cpu's type traits have no to_float")

        def run(elements: Array, scales: Array) -> tuple[Array, ...]:
            held, y = whole(elements, scales), np.zeros(elements.shape, np.float32)
            self.to_float(NUMBERS[name])(held, y)
            return (y,)

        return run

    def to_float(self, number: int) -> Callable[[Array, Array], None]:
        function = self.base.ggml_get_type_traits(number).contents.to_float

        def fill(held: Array, y: Array) -> None:
            function(held.ctypes.data, y.ctypes.data, y.size)

        return fill

    def chunk(self, number: int) -> Callable[[Array, Array], None]:
        def fill(x: Array, held: Array) -> None:
            rows = x.size // max(x.shape[-1], 1)
            self.base.ggml_quantize_chunk(number, x.ctypes.data, held.ctypes.data, 0, rows, x.shape[-1], None)

        return fill

    def from_float(self, number: int) -> Callable[[Array, Array], None]:
        """from_float is the first field of the traits."""
        address = ctypes.c_void_p.from_address(self.cpu.ggml_get_type_traits_cpu(number)).value
        if not address:
            raise Unsupported(f"ggml-cpu has no from_float for type {number}")
        function = FROM_FLOAT(address)

        def fill(x: Array, held: Array) -> None:
            function(x.ctypes.data, held.ctypes.data, x.size)

        return fill

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that make the same call; see protocol.Backend."""
        name = type_of(node, self.name)
        if is_back(node):
            return HEAD + BACK_LINES.format(helpers=WHOLE, number=NUMBERS[name])
        call = (CPU_LINES if self.vectors else CHUNK_LINES).format(number=NUMBERS[name])
        return HEAD + LINES.format(helpers=SOURCE, size=BYTES[name], call=call)

    def attest(self) -> dict[str, str]:
        return {
            "library": str(self.base._name),
            "ggml": f"{self.version}, commit {self.base.ggml_commit().decode()}",
            DISTRIBUTION: distribution(DISTRIBUTION).version,
            "kernel": "from_float of ggml-cpu" if self.vectors else "ggml_quantize_chunk, which runs the reference",
            "instruction sets": instruction_sets(),
        }


def ggml_cpu() -> Ggml:
    return Ggml(vectors=True)


def library(begins: str) -> Any:
    """A shared library of the wheel, which loads the others that it needs."""
    files = distribution(DISTRIBUTION).files or []
    found = [file for file in files if file.parent.name == "pywhispercpp.libs" and file.name.startswith(begins)]
    if not found:
        raise MachineryFailed(f"the wheel of {DISTRIBUTION} has no {begins}")
    return ctypes.CDLL(str(found[0].locate()))
