"""The steps of an element of GGUF's blocks: its table's formulas, traced."""

from __future__ import annotations

from typing import Any

from tiebreak.conformance.emulators.steps import Computed, given, named, with_names
from tiebreak.conformance.emulators.traced import Traced
from tiebreak.conformance.semantics.gguf_dequantize import BlockCombination, BlockDequantizeArithmetic, number_of
from tiebreak.conformance.semantics.model import Semantics

NAMES = ("x", "scale")


def block_dequantize_steps(arithmetic: BlockDequantizeArithmetic, semantics: Semantics) -> Computed:
    """The number, a float32."""
    elements, scales = (tensor.element for tensor in arithmetic.node.inputs)
    x, scale = Traced(given("x", elements)), Traced(given("scale", scales))
    found: Any = number_of(x, scale, BlockCombination._make(semantics))  # type: ignore[arg-type]
    return with_names(named("number", found.of))
