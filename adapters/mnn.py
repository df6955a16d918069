"""MNN: quant of its expression interface, which makes int8 of float32 by a factor.

Its converter is not used: in 3.6.1 it ends with a segmentation fault at a model of one QuantizeLinear, and it installs
a package that reports to its maker. The interface makes no constant of int8, so nothing is dequantized. The
function works on four axes in MNN's own layout. As one factor is for all elements, they are given as 1 x 1 x 1 x n.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tiebreak.adapters.int8_by_factor import check_by_factor, factor_of, scale_alone
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

SAME = "expr.quant: clamp(round(x * factor)), without zero point; a factor is 1 / scale"
LOWEST, HIGHEST = -128, 127
SOURCE = """
import MNN
import MNN.expr as expr

one = expr.const(np.ones(1, np.float32), [1])
factor = expr.const(np.array([{factor}], np.float32), [1])
# The call.
given = expr.convert(expr.const({x}.reshape(-1), [1, 1, 1, {x}.size], expr.NCHW), expr.NC4HW4)
quantized = expr.quant(given, factor, {lowest}, {highest})
read = expr.convert(expr.dequant(quantized, one, 0), expr.NCHW).read()
outputs = (np.array(read).reshape({x}.shape).astype(np.int8),)
library = f"MNN {{MNN.version()}}"
"""


class Mnn:
    name = "mnn"
    maps = dict.fromkeys(("onnx.QuantizeLinear", "ngraph.Quantize"), SAME)
    always_constant = frozenset(maps)
    takes_constants = True

    def __init__(self) -> None:
        import MNN
        import MNN.expr

        library: Any = MNN  # its parts come from a compiled module
        self.library, self.expr, self.version = library, MNN.expr, str(library.version())

    def compile(self, node: Node) -> Run:
        check(node)

        def run(x: Array, *parameters: Array) -> tuple[Array, ...]:
            factor = factor_of(scale_alone(node, "MNN's quant", *parameters), "MNN's quant")
            if not x.size:
                raise Unsupported(f"MNN's const takes no shape {list(x.shape)}")
            return (self.answer(x, factor),)

        return run

    def answer(self, x: Array, factor: np.float32) -> Array:
        """The integers, read through dequant by 1: read directly they are stored with an offset."""
        expr = self.expr
        given = expr.convert(expr.const(x.reshape(-1), [1, 1, 1, x.size], expr.NCHW), expr.NC4HW4)
        quantized = expr.quant(given, self.constant(factor), LOWEST, HIGHEST)
        found = expr.convert(expr.dequant(quantized, self.constant(np.float32(1)), 0), expr.NCHW).read()
        return np.array(found).reshape(x.shape).astype(np.int8)

    def constant(self, value: np.float32) -> object:
        return self.expr.const(np.array([value], np.float32), [1])

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that make the same calls; see protocol.Backend."""
        factor = factor_of(scale_alone(node, "MNN's quant", *inputs[1:]), "MNN's quant")
        x = node.inputs[0].name
        return SOURCE.format(factor=repr(float(factor)), x=x, lowest=LOWEST, highest=HIGHEST)

    def attest(self) -> dict[str, str]:
        return {
            "library": str(self.library.__file__),
            "MNN": self.version,
            "ran": "expr.quant, read through expr.dequant by 1",
            "instruction sets": instruction_sets(),
        }


def check(node: Node) -> None:
    if node.operator not in Mnn.maps:
        raise Unsupported(f"MNN is run for {', '.join(sorted(Mnn.maps))}")
    check_by_factor(node, "MNN's quant", ("float32", "int8"))
