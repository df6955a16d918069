"""gguf.Dequantize as tinygrad's `ggml_data_to_tensor`, which decodes the tensors of a GGUF file."""

from __future__ import annotations

from typing import Any

import numpy as np

from tiebreak.adapters.gguf_blocks import NUMBERS, WHOLE, is_back, type_of, whole
from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import gguf_dequantize
from tiebreak.golden.problem import Array

CLAIMS = {
    gguf_dequantize.ID: "tinygrad.llm.gguf.ggml_data_to_tensor: Q4_0 (id: 2) and Q8_0 (id: 8), as ggml.h has them"
}
LINES = """
import os

os.environ["DEV"] = "CPU"
from tinygrad import Tensor
from tinygrad.llm.gguf import ggml_data_to_tensor
{helpers}
held = Tensor(whole(elements, scales).reshape(-1))
outputs = (ggml_data_to_tensor(held, elements.size, {number}).numpy().reshape(elements.shape),)
library = "tinygrad"
"""


def number_of(node: Node) -> int:
    """ggml's number of the block type. Unsupported for a quantizer, which tinygrad lacks."""
    name = type_of(node, "tinygrad")
    if not is_back(node):
        raise Unsupported("tinygrad reads GGUF's blocks and writes none")
    return NUMBERS[name]


def compiled(library: Any, node: Node) -> Run:
    number = number_of(node)
    try:
        from tinygrad.llm.gguf import ggml_data_to_tensor
    except ImportError as missing:
        raise Unsupported(str(missing)) from None

    def run(elements: Array, scales: Array) -> tuple[Array, ...]:
        held = library.Tensor(whole(elements, scales).reshape(-1))
        found = ggml_data_to_tensor(held, elements.size, number).numpy()
        return (np.asarray(found).reshape(elements.shape),)

    return run


def source(node: Node) -> str:
    """Python lines that make the same call; see protocol.Backend."""
    return LINES.format(helpers=WHOLE, number=number_of(node))
