"""What com.microsoft's QLinearAdd and QLinearMul share: inputs, types, shapes, and what their texts leave open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import Clause, Types
from tiebreak.golden.problem import Array, Elementwise, flat, kind_of
from tiebreak.golden.rounding import NEAREST

TYPES = ("int8", "uint8")
FORM = ("A", "A_scale", "A_zero_point", "B", "B_scale", "B_zero_point", "C_scale", "C_zero_point")
FIRST, SECOND = FORM.index("A"), FORM.index("B")
PAGE = "onnxruntime 1.32, docs/ContribOperators.md"
SCHEMA = "onnxruntime 1.32, schema of com.microsoft, version 1"
SOURCE = "onnxruntime, core/mlas/lib, header of"


def common_clauses(prefix: str, document: str, source: str) -> tuple[Clause, ...]:
    """The clauses that both documents have in the same words. `source` is the file whose header names the rounding."""
    return (
        Clause(
            f"{prefix}-R1",
            "C is an integer of its type. To no other integer is the formula's value nearer.",
            f"{document}: C is that value; {SOURCE} {source}: RoundToEven",
            derived=True,
        ),
        Clause(
            f"{prefix}-C1",
            "A value beyond the type's range gives the nearer end of it.",
            f"{document}: C is that value; {SOURCE} {source}: Saturate",
            situation="a result out of range",
            derived=True,
        ),
        Clause(
            f"{prefix}-T1", "A, B and C have one type, int8 or uint8, and so have the zero points.", f"{document}, T"
        ),
        Clause(f"{prefix}-T2", "The scales are float32.", f"{document}, Inputs: tensor(float)"),
        Clause(
            f"{prefix}-Z1",
            "A zero point is 0 if it is left off.",
            f"{document}, A_zero_point, B_zero_point and C_zero_point: Default value is 0 if it's not specified",
            situation="an optional input left off",
        ),
        Clause(
            f"{prefix}-S1",
            "A and B broadcast as in NumPy; C has the shape that results.",
            f"{document}: with Numpy-style broadcasting support",
        ),
        Clause(
            f"{prefix}-S2",
            "Scales and zero points are scalars: one for a whole tensor.",
            f"{document}, Inputs: It's a scalar, which means a per-tensor/layer quantization",
        ),
        Clause(
            f"{prefix}-U1",
            "Which of two integers is C if both are equally near.",
            f"{document}: silent; {SOURCE} {source}: RoundToEven, before the zero point is added",
            unspecified=True,
        ),
        Clause(
            f"{prefix}-U2",
            "What C is if C_scale is 0, or if a scale is NaN or infinite.",
            f"{document}: silent",
            unspecified=True,
            situation="a scale that is no number to divide by",
        ),
        Clause(
            f"{prefix}-U3",
            "What C is if the steps in float32 overflow to NaN.",
            f"{document}: silent",
            unspecified=True,
            situation="float32 steps that overflow",
        ),
    )


COMMON_ROLES = {
    "nearest": "R1",
    "saturate": "C1",
    "types": "T1",
    "scales-type": "T2",
    "left-off": "Z1",
    "shape": "S1",
    "per-tensor": "S2",
    "ties": "U1",
    "scale": "U2",
    "overflow": "U3",
}


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A, B, C and the zero points of the quantized type, scales of the real one."""
    kinds = tuple(types.real if name.endswith("scale") else types.quantized for name in FORM)
    return kinds if types.optional else kinds[:-1], (types.quantized,)


def shape_of(node: Node, inputs: tuple[Array, ...]) -> tuple[int, ...]:
    """The shape to which A and B broadcast. InvalidInput if there is none."""
    try:
        return np.broadcast_shapes(inputs[FIRST].shape, inputs[SECOND].shape)
    except ValueError:
        shapes = [list(inputs[place].shape) for place in (FIRST, SECOND)]
        raise InvalidInput(f"{node.operator}: {shapes[0]} and {shapes[1]} do not broadcast") from None


def problems_of(id: str) -> Callable[[Node, tuple[Array, ...]], tuple[Elementwise, ...]]:
    """The problem of an element: both operands, three scales and three zero points."""

    def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
        check_scalars(id, inputs)
        shape, quantized = shape_of(node, inputs), ELEMENT_TYPES[node.output_type]
        given = inputs if len(inputs) == len(FORM) else (*inputs, np.zeros((), node.outputs[0].dtype))
        operands, kinds = tuple(flat(array, shape) for array in given), tuple(map(kind_of, given))
        return (Elementwise(id, "C", shape, quantized, FLOAT_TYPES["float32"], NEAREST[0], kinds, operands),)

    return problems


def check_scalars(id: str, inputs: tuple[Array, ...]) -> None:
    """InvalidInput for a scale or a zero point that has a shape."""
    for name, array in zip(FORM, inputs, strict=False):
        if name not in ("A", "B") and array.shape:
            raise InvalidInput(f"{id}: {name} is a scalar, not of shape {list(array.shape)}")
