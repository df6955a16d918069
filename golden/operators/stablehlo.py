"""What StableHLO's uniform_quantize and uniform_dequantize share: quantized types as attributes and parameters.

The document keeps storage type, ends, scales and zero points in a tensor's type. Here scales and zero points are
inputs after the operand; what each of them may be is checked as that of a type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.operators.model import Attribute, Clause, parse_integer
from tiebreak.golden.operators.tensorflow_ranges import parse_axis
from tiebreak.golden.operators.tensorflow_uniform import along_axis
from tiebreak.golden.problem import Array

SPEC = "StableHLO specification, docs/spec.md since pull request 2234 (2024)"
TYPES = f"{SPEC}, Quantized element types"
TENSORS = f"{SPEC}, Quantized tensor types"
AXES = (0, 1, 2, 3)
STORAGE = ("int4", "uint4", "int8", "uint8", "int16", "uint16", "int32", "uint32")
LEFT_OFF = "0 for both: those of the storage type"
EXPRESSED = ("float32", "float16", "bfloat16")


def type_attributes(prefix: str = "", whose: str = "the result") -> tuple[Attribute, ...]:
    """storage_min, storage_max and quantization_dimension of one quantized type."""
    return (
        Attribute(f"{prefix}storage_min", f"the least integer of {whose}; {LEFT_OFF}", parse_integer, default=0),
        Attribute(f"{prefix}storage_max", f"the greatest integer of {whose}; {LEFT_OFF}", parse_integer, default=0),
        Attribute(
            f"{prefix}quantization_dimension",
            f"the dimension of {whose} whose slices have scales and zero points of their own; -1 for none",
            parse_axis,
            default=-1,
        ),
    )


def type_clauses(prefix: str, whose: str, dimension: str = "quantization_dimension") -> tuple[Clause, ...]:
    """The clauses about one quantized type: its parameters' places, values and ends."""
    return (
        Clause(
            f"{prefix}-A1",
            f"With quantization_dimension each slice of {whose} along it has its own scale and zero point.",
            f"{TENSORS}: (C13) dim(self, quantization_dimension) = size(scales)",
            when={dimension: AXES},
        ),
        Clause(
            f"{prefix}-A2",
            f"Without it (-1) {whose} has one scale and one zero point.",
            f"{TYPES}: (C10) If is_empty(quantization_dimension), then size(scales) = 1",
            when={dimension: -1},
        ),
        Clause(
            f"{prefix}-A3",
            "quantization_dimension is 0 or more, and less than the rank.",
            f"{TYPES}: (C11) 0 <= quantization_dimension; {TENSORS}: (C12) quantization_dimension < rank(self)",
        ),
        Clause(f"{prefix}-T2", "A scale is positive and finite.", f"{TYPES}: (C5) 0 < scales, (C6)"),
        Clause(
            f"{prefix}-T3",
            "A zero point is of the storage type, from storage_min to storage_max; there are as many as scales.",
            f"{TYPES}: (C7), (C8), (C9) size(scales) = size(zero_points)",
        ),
        Clause(
            f"{prefix}-T4",
            "storage_min is less than storage_max, and the storage type has both.",
            f"{TYPES}: (C3) min_value(storage_type) <= storage_min < storage_max <= max_value(storage_type)",
        ),
        Clause(
            f"{prefix}-T5",
            "A type without storage_min and storage_max has all integers of its storage type.",
            f"{TYPES}: default values of min_value(storage_type) and max_value(storage_type)",
        ),
    )


def ends_of(operator: str, storage: str, attributes: Mapping[str, Any], prefix: str = "") -> tuple[int, int]:
    """Both ends of a type; InvalidInput for such that no type of this storage has."""
    kind = INTEGER_TYPES[storage]
    least, greatest = (int(attributes.get(f"{prefix}storage_{end}", 0)) for end in ("min", "max"))
    if least == greatest == 0:
        return kind.lowest, kind.highest
    if not kind.lowest <= least < greatest <= kind.highest:
        raise InvalidInput(f"{operator}: {least} to {greatest} are no ends of a type that {storage} stores")
    return least, greatest


def parameters(
    operator: str, axis: int, shape: tuple[int, ...], scales: Array, points: Array, ends: tuple[int, int]
) -> tuple[Array, ...]:
    """Scale and zero point of each element, flat. InvalidInput for what no quantized type has."""
    found = along_axis(operator, axis, shape, {"scales": scales, "zero_points": points})
    with np.errstate(invalid="ignore"):
        numbers, whole = scales.astype(np.float64), points.astype(np.int64)
    if not (np.isfinite(numbers) & (numbers > 0)).all():
        raise InvalidInput(f"{operator}: a scale is positive and finite")
    if not ((ends[0] <= whole) & (whole <= ends[1])).all():
        raise InvalidInput(f"{operator}: a zero point is not from {ends[0]} to {ends[1]}")
    return found
