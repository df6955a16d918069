"""The package gguf of llama.cpp: quantize and dequantize of gguf.quants, in NumPy.

The package says of Q8_0 that it gives the same bits as the reference in ggml-quants.c.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from tiebreak.adapters.gguf_blocks import BYTES, OPERATORS, SOURCE, WHOLE, is_back, parts, type_of, whole
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import gguf_dequantize, gguf_quantize
from tiebreak.golden.problem import Array

LINES = """
from importlib.metadata import version

import gguf
from gguf.quants import quantize
{helpers}
# The call.
held = quantize(x, gguf.GGMLQuantizationType.{name})
outputs = parts(held, {size}, x.shape)
library = f"gguf {{version('gguf')}}"
"""
BACK_LINES = """
from importlib.metadata import version

import gguf
from gguf.quants import dequantize
{helpers}
outputs = (dequantize(whole(elements, scales), gguf.GGMLQuantizationType.{name}),)
library = f"gguf {{version('gguf')}}"
"""


class Gguf:
    name = "gguf"
    operators = OPERATORS

    def __init__(self) -> None:
        import gguf
        from gguf import quants

        self.library, self.types, self.version = gguf, gguf.GGMLQuantizationType, version("gguf")
        self.quantize, self.dequantize, self.refusal = quants.quantize, quants.dequantize, quants.QuantError
        said = f"gguf {self.version}, gguf.quants, after ggml-quants.c: quantize_row_q8_0_ref, quantize_row_q4_0_ref"
        back = f"gguf {self.version}, gguf.quants, after ggml-quants.c: dequantize_row_q8_0, dequantize_row_q4_0"
        self.claims: Mapping[str, str] = {gguf_quantize.ID: said, gguf_dequantize.ID: back}

    def compile(self, node: Node) -> Run:
        kind = self.types[type_of(node, "gguf")]

        def run(x: Array) -> tuple[Array, ...]:
            return parts(self.answer(self.quantize, x, kind), node, x.shape)

        def run_back(elements: Array, scales: Array) -> tuple[Array, ...]:
            return (self.answer(self.dequantize, whole(elements, scales), kind),)

        return run_back if is_back(node) else run

    def answer(self, function: Callable[..., Any], given: Array, kind: Any) -> Array:
        """What a function of the package gives. Unsupported with its own message if it refuses."""
        try:
            with np.errstate(all="ignore"):
                return np.asarray(function(given, kind))
        except (self.refusal, ValueError) as refusal:
            raise Unsupported(str(refusal)) from None

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that make the same call; see protocol.Backend."""
        name = type_of(node, "gguf")
        if is_back(node):
            return BACK_LINES.format(helpers=WHOLE, name=name)
        return LINES.format(helpers=SOURCE, name=name, size=BYTES[name])

    def attest(self) -> dict[str, str]:
        return {
            "library": str(self.library.__file__),
            "gguf": self.version,
            "numpy": np.__version__,
            "kernel": "gguf.quants in NumPy",
            "instruction sets": instruction_sets(),
        }
