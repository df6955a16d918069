"""TensorFlow's UniformQuantize and StableHLO's uniform_quantize as black boxes compute them: quantizers of one scale.

They have the facets of round(x / scale) + zero_point. Their documents have other values: TensorFlow's has a reciprocal
and the floor of a half more, StableHLO's adds the zero point before it rounds. Both allow ends within the output's
type, and a NaN or infinite operand is open.
"""

from __future__ import annotations

from typing import Any

from tiebreak.conformance.semantics.precisions import FLOAT32, OF_TYPE
from tiebreak.conformance.semantics.quantize import QuantizeArithmetic
from tiebreak.conformance.semantics.quantize_facets import AFTER, BEFORE, Combination
from tiebreak.conformance.semantics.quantize_saturation import SATURATE
from tiebreak.conformance.semantics.quantize_scaling import DIVIDE, RECIPROCAL
from tiebreak.conformance.semantics.round_modes import FLOOR, MODES
from tiebreak.conformance.semantics.subnormals import KEPT
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.stablehlo import ends_of
from tiebreak.golden.rounding import EVEN

ENDS = ("quantization_min_val", "quantization_max_val")
FLOOR_OF_HALF_MORE = Combination(FLOAT32, RECIPROCAL, KEPT, AFTER, FLOOR, SATURATE)


def whole_range(quantized: str) -> dict[str, Any]:
    """The attributes that name the ends of the output's type; none for a type that has no integers."""
    kind = INTEGER_TYPES.get(quantized or "uint8")
    return {} if kind is None else dict(zip(ENDS, (kind.lowest, kind.highest), strict=True))


def of_tensorflow(node: Node) -> QuantizeArithmetic:
    """The arithmetics that a node may have. InvalidInput for a range narrower than its type, or an axis."""
    check_ends(node, tuple(int(node.value(end)) for end in ENDS))
    if node.value("quantization_axis") != -1:
        raise InvalidInput(f"{node.operator}: semantics are known of one scale, without quantization_axis")
    return QuantizeArithmetic(node, formula=FLOOR_OF_HALF_MORE)


def check_ends(node: Node, ends: tuple[int, ...]) -> None:
    kind = INTEGER_TYPES[node.output_type]
    if ends != (kind.lowest, kind.highest):
        whole = f"{kind.lowest} to {kind.highest}"
        raise InvalidInput(f"{node.operator}: semantics are known of the whole range of {kind.name}, {whole}")


def of_stablehlo(node: Node) -> QuantizeArithmetic:
    """The arithmetics that a node may have.

    InvalidInput for a quantized operand, ends within the type, or a dimension. The same for a type with more bits than
    the operand's significand has: what is clamped to its ends is open, since the operand's type lacks them.
    """
    if node.input_type in INTEGER_TYPES:
        raise InvalidInput(f"{node.operator}: semantics are known of real operands, not of quantized ones")
    if node.value("quantization_dimension") != -1:
        raise InvalidInput(f"{node.operator}: semantics are known of one scale, without quantization_dimension")
    kind = INTEGER_TYPES[node.output_type]
    check_ends(node, ends_of(node.operator, node.output_type, node.attributes))
    if kind.bits > node.real.precision:
        raise InvalidInput(f"{node.operator}: {node.input_type} lacks the ends of {kind.name}: what is beyond is open")
    precision = OF_TYPE[node.input_type]
    return QuantizeArithmetic(node, formula=Combination(precision, DIVIDE, KEPT, BEFORE, MODES[EVEN], SATURATE))
