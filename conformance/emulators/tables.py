"""The tables of semantics that emulators are written of: what each one's file has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tiebreak.conformance.emulators import dynamic_steps as dynamic
from tiebreak.conformance.emulators import weight_product_steps as weights
from tiebreak.conformance.emulators.block_dequantize_steps import NAMES as BLOCK_OPERANDS
from tiebreak.conformance.emulators.block_dequantize_steps import block_dequantize_steps
from tiebreak.conformance.emulators.block_steps import block_scale_steps, element_steps
from tiebreak.conformance.emulators.cast_steps import cast_steps
from tiebreak.conformance.emulators.dequantize_steps import dequantize_steps
from tiebreak.conformance.emulators.fake_levels_steps import fake_levels_steps
from tiebreak.conformance.emulators.files import Emulated
from tiebreak.conformance.emulators.integer_scaling_steps import scaling_steps
from tiebreak.conformance.emulators.quantize_steps import quantize_steps
from tiebreak.conformance.emulators.round_trip_steps import RANGE, round_trip_steps
from tiebreak.conformance.emulators.small_block_steps import (
    ELEMENT_OPERANDS,
    scale_operands,
    small_element_steps,
    small_scale_steps,
)
from tiebreak.conformance.emulators.steps import NAMES, Computed
from tiebreak.conformance.emulators.term_steps import term_steps
from tiebreak.conformance.emulators.weight_product_steps import weight_product_steps
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.openvino_fake_quantize_facets import FakeQuantizeArithmetic
from tiebreak.conformance.operators.paddle_quantize_linear_facets import PaddleQuantizeArithmetic
from tiebreak.conformance.operators.tensorflow_dequantize_facets import RangeDequantizeArithmetic
from tiebreak.conformance.operators.tensorflow_quantize_v2_facets import QuantizeV2Arithmetic
from tiebreak.conformance.semantics.affine_dequantize import DequantizeArithmetic
from tiebreak.conformance.semantics.block_element_specials import SpecialElements
from tiebreak.conformance.semantics.block_scale import BlockScale
from tiebreak.conformance.semantics.cast import CastArithmetic
from tiebreak.conformance.semantics.dynamic_result import ResultOfRange
from tiebreak.conformance.semantics.dynamic_scale import ScaleArithmetic
from tiebreak.conformance.semantics.dynamic_zero_point import PointArithmetic
from tiebreak.conformance.semantics.gguf_dequantize import BlockDequantizeArithmetic
from tiebreak.conformance.semantics.integer_scaling import IntegerScaling
from tiebreak.conformance.semantics.model import Arithmetic, Semantics
from tiebreak.conformance.semantics.quantize import QuantizeArithmetic
from tiebreak.conformance.semantics.round_trip import BITS, RoundTripArithmetic
from tiebreak.conformance.semantics.scaled_cast import ScaledCast
from tiebreak.conformance.semantics.scaled_operands import BIAS
from tiebreak.conformance.semantics.small_block_least import ScalesWithLeast
from tiebreak.conformance.semantics.torch_fake_quantize import FakeLevels
from tiebreak.conformance.semantics.weight_product import WeightProductArithmetic
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.openvino_fake_quantize import LIMITS


@dataclass(frozen=True)
class EmulatedTable:
    """The name of the file's function, how its steps are made of a table and a semantics, and its inputs' names.

    `held` are inputs of which a table knows one value, by name; the others as in Emulated.
    """

    function: str
    steps: Callable[[Any, Semantics], Computed]
    inputs: tuple[str, ...] = NAMES
    held: Mapping[str, int] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    spread: tuple[str, ...] = ()
    note: str = ""
    of_node: tuple[str, ...] = ()
    unpacked: Callable[[Node], tuple[str, ...]] | None = None

    def emulated(self, arithmetic: Arithmetic, semantics: Semantics, backend: str, version: str) -> Emulated:
        """Raises Unsupported for an arithmetic that no steps can do."""
        result = self.steps(arithmetic, semantics)
        facts = (self.function, backend, version, self.inputs, self.held, self.also, self.spread, self.note)
        node = arithmetic.node
        return Emulated(node, result, *facts, self.of_node, self.unpacked(node) if self.unpacked else ())


ONE_PRODUCT = "the audit asked for one product, without a bias: it says nothing of a sum of several"
FUNCTIONS = {"product": "multiply", "sum": "add"}  # of what two integers become
HELD_OF_INTEGERS = {"unit": 0, "zero_point": 0}  # what stands in the table of MXINT8's elements beside x
ENDS_OF_RANGE = ("min_range", "max_range")
ROUND_TRIP = ("x", *RANGE, "num_bits")
OF_ARITHMETICS: Mapping[type, EmulatedTable] = {
    QuantizeArithmetic: EmulatedTable("quantize", quantize_steps),
    DequantizeArithmetic: EmulatedTable("dequantize", dequantize_steps),
    CastArithmetic: EmulatedTable("cast", cast_steps),
    FakeQuantizeArithmetic: EmulatedTable("fake_quantize", term_steps, ("x", *LIMITS)),
    FakeLevels: EmulatedTable("fake_quantize", fake_levels_steps),
    RoundTripArithmetic: EmulatedTable("fake_quantize", round_trip_steps, ROUND_TRIP, {"num_bits": BITS}),
    QuantizeV2Arithmetic: EmulatedTable("quantize", term_steps, ("x", *ENDS_OF_RANGE), also=ENDS_OF_RANGE),
    RangeDequantizeArithmetic: EmulatedTable("dequantize", term_steps, ("x", *ENDS_OF_RANGE)),
    PaddleQuantizeArithmetic: EmulatedTable("quantize", term_steps),
    ScaleArithmetic: EmulatedTable("y_scale", dynamic.scale_steps, dynamic.ENDS),
    PointArithmetic: EmulatedTable("y_zero_point", dynamic.point_steps, dynamic.RANGE),
    ResultOfRange: EmulatedTable("y", dynamic.result_steps, dynamic.OPERANDS),
    BlockScale: EmulatedTable("scales", block_scale_steps, ("amax",)),
    BlockDequantizeArithmetic: EmulatedTable("y", block_dequantize_steps, BLOCK_OPERANDS),
    WeightProductArithmetic: EmulatedTable(
        "multiply",
        weight_product_steps,
        weights.NAMES,
        note=weights.NOTE,
        of_node=weights.NODE_NAMES,
        unpacked=weights.first_product,
    ),
}


def of_scaling(arithmetic: IntegerScaling) -> EmulatedTable:
    """A function of one integer, or of two that are combined: `a` and `b`, without a bias."""
    table = arithmetic.table
    if not table.combines:
        return EmulatedTable("requantize", scaling_steps, ("x", *table.names))
    laid_out = getattr(TESTED[arithmetic.node.operator].axis, "laid_out", False)
    spread, note = ((), ONE_PRODUCT) if laid_out else (("b",), "")
    names = ("a", *table.names)
    return EmulatedTable(FUNCTIONS[table.combines], scaling_steps, names, {BIAS: 0}, spread=spread, note=note)


def of_elements(arithmetic: SpecialElements) -> EmulatedTable:
    """A function of x over its block's scale, or of x, the scale and global_amax."""
    if isinstance(arithmetic.inner, ScaledCast):
        return EmulatedTable("elements", small_element_steps, ELEMENT_OPERANDS)
    return EmulatedTable("elements", element_steps, ("x", *HELD_OF_INTEGERS), HELD_OF_INTEGERS)


def of_small_scales(arithmetic: ScalesWithLeast) -> EmulatedTable:
    return EmulatedTable("scales", small_scale_steps, scale_operands(arithmetic.node))


SEVERAL: Mapping[type, Callable[[Any], EmulatedTable]] = {  # whose operands depend on the node
    IntegerScaling: of_scaling,
    SpecialElements: of_elements,
    ScalesWithLeast: of_small_scales,
}


def table_of(arithmetic: Arithmetic) -> EmulatedTable | None:
    """How emulators of an arithmetic are written; None if they aren't."""
    if of := next((SEVERAL[kind] for kind in type(arithmetic).__mro__ if kind in SEVERAL), None):
        return of(arithmetic)
    return next((OF_ARITHMETICS[kind] for kind in type(arithmetic).__mro__ if kind in OF_ARITHMETICS), None)


def emulated(arithmetic: Arithmetic, semantics: Semantics, backend: str, version: str) -> Emulated:
    """Raises Unsupported for an arithmetic that no steps can do."""
    table = table_of(arithmetic)
    assert table is not None
    return table.emulated(arithmetic, semantics, backend, version)
