"""An emulator as an ONNX model of standard operators. A number of 16 bits is a float32 that such a type holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tiebreak.conformance.emulators.c_source import ROUNDING, is_short
from tiebreak.conformance.emulators.files import Emulated
from tiebreak.conformance.emulators.python_source import byte_for, is_plain
from tiebreak.conformance.emulators.steps import DOUBLE, LONG, SINGLE, TRUTH, Computed
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.onnx_types import E8M0, FLOAT6, FLOAT8

OPERATORS = {
    **{"add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div", "negative": "Neg", "abs": "Abs"},
    **{"less": "Less", "greater": "Greater", "at_most": "LessOrEqual", "at_least": "GreaterOrEqual", "equal": "Equal"},
    **{"and": "And", "or": "Or", "not": "Not", "is_nan": "IsNaN", "where": "Where", "clamp": "Clip"},
    **{"rint": "Round", "ceil": "Ceil", "floor": "Floor", "minimum": "Min", "maximum": "Max"},
}
OPSETS = {  # and versions of IR
    **dict.fromkeys(FLOAT8, (19, 9)),
    **dict.fromkeys(E8M0, (24, 12)),
    **dict.fromkeys(FLOAT6, (28, 14)),
    **{"int4": (21, 10), "uint4": (21, 10), "float4_e2m1fn": (23, 11), "int2": (25, 13), "uint2": (25, 13)},
}


@dataclass
class ModelOfSteps:
    """Nodes and initializers, in order."""

    nodes: list[Any] = field(default_factory=list)
    initializers: dict[str, Any] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)  # of steps, by identity

    def name(self, one: Computed) -> str:
        if id(one) not in self.names:
            self.names[id(one)] = self.written(one)
        return self.names[id(one)]

    def written(self, one: Computed) -> str:
        if one.op == "constant":
            return self.number(one.value, one.type, one.name)
        if one.op == "input":
            return self.cast(one.name, SINGLE) if is_short(one.type) else one.name
        operands = [self.name(operand) for operand in one.operands]
        if one.op == "divide" and is_plain(one.operands[0]):
            operands[0] = self.hidden(*operands)
        if one.op == "cast":
            return self.rounded(one.operands[0], operands[0], one.type)
        found = self.operation(one, operands)
        return self.through(found, one.type) if is_short(one.type) and one.op in ROUNDING else found

    def hidden(self, number: str, beside: str) -> str:
        """A number that does not look constant: ONNX Runtime makes x * (1 / scale) an x / scale."""
        return self.node("Where", self.node("Equal", beside, beside), number, number)

    def operation(self, one: Computed, operands: Sequence[str]) -> str:
        if one.op == "where" and may_be_minus_zero(one):
            return self.selected(*operands)
        if one.op in OPERATORS:
            return self.node(OPERATORS[one.op], *operands)
        first, zero = operands[0], self.number(0, one.operands[0].type)
        if one.op == "truncate":
            return self.node(
                "Where", self.node("Less", first, zero), self.node("Ceil", first), self.node("Floor", first)
            )
        if one.op == "is_finite":
            return self.node("Not", self.node("Or", self.node("IsNaN", first), self.node("IsInf", first)))
        if one.op == "copysign":  # of a number that is never negative
            signs = self.number(-1, one.type), self.number(1, one.type)
            return self.node("Mul", first, self.node("Where", self.negative(operands[1], one.type), *signs))
        if one.op == "flushed":
            tiny = self.node("Less", self.node("Abs", first), operands[1])
            return self.node("Where", tiny, self.node("Mul", first, zero), first)
        if one.op == "power_of_two":
            return self.power_of_two(first)
        if one.op == "floor_divide":
            rest = self.node("Mod", *operands)
            return self.node("Div", self.node("Sub", first, rest), operands[1])
        if one.op == "two_to":
            return self.node("Pow", self.number(2, DOUBLE), first)
        if one.op == "modulus":
            whole = self.node("Floor", self.node("Div", *operands))
            return self.node("Sub", first, self.node("Mul", whole, operands[1]))
        if one.op == "remainder":
            return self.node("Mod", *operands, fmod=1)
        if one.op == "has_sign":
            raise Unsupported("ONNX has no operator for the sign of a NaN")
        if one.op == "exponent":
            raise Unsupported("ONNX has no operator for the exponent of a number")
        raise Unsupported("ONNX has no operator for a fused multiply-add, or for a sum that is rounded once")

    def negative(self, number: str, type: str) -> str:
        """Whether a number has a sign, -0 too."""
        zero, inverse = self.number(0, type), self.node("Div", self.number(1, type), number)
        return self.node("Or", self.node("Less", number, zero), self.node("Less", inverse, zero))

    def selected(self, condition: str, yes: str, no: str) -> str:
        """As Where, which makes 0 of -0 in ONNX Runtime: two columns, of which each row takes one."""
        from onnx import TensorProto, numpy_helper

        self.initializers.setdefault("column", numpy_helper.from_array(np.array([1]), "column"))
        shape = self.node("Shape", condition)
        columns = [self.node("Unsqueeze", self.node("Expand", one, shape), "column") for one in (no, yes)]
        number = self.node("Unsqueeze", self.node("Cast", condition, to=TensorProto.INT64), "column")
        taken = self.node("GatherElements", self.node("Concat", *columns, axis=1), number, axis=1)
        return self.node("Squeeze", taken, "column")

    def power_of_two(self, size: str) -> str:
        """The largest power of two that is no larger than a normal number, bit by bit of its exponent."""
        four, least = self.number(4, DOUBLE), self.number(2.0**-1022, DOUBLE)
        found = self.node("Where", self.node("GreaterOrEqual", size, four), four, least)
        for bit in range(9, -1, -1):
            more = self.node("Mul", found, self.number(2.0 ** (1 << bit), DOUBLE))
            found = self.node("Where", self.node("GreaterOrEqual", size, more), more, found)
        return found

    def rounded(self, of: Computed, name: str, type: str) -> str:
        if type == "float16" and of.type == DOUBLE:
            raise Unsupported("runtimes of ONNX round a float64 to float32 before they round it to float16")
        held = self.cast(name, SINGLE) if is_short(type) and of.type != SINGLE else name
        return self.through(held, type) if is_short(type) else self.cast(name, type)

    def through(self, name: str, type: str) -> str:
        return self.cast(self.cast(name, type), SINGLE)

    def cast(self, name: str, type: str) -> str:
        from onnx import TensorProto

        from tiebreak.adapters.onnx_models import onnx_type

        return self.node("Cast", name, to=TensorProto.INT64 if type == LONG else onnx_type(type))

    def number(self, value: float, type: str, name: str = "") -> str:
        from onnx import numpy_helper

        name = name or f"{value!r}_{type}".replace("-", "minus_")
        kind = {DOUBLE: np.float64, LONG: np.int64}.get(type, np.float32)
        self.initializers.setdefault(name, numpy_helper.from_array(np.asarray(value, kind), name))
        return name

    def node(self, operator: str, *operands: str, **attributes: Any) -> str:
        from onnx import helper

        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, operands, [name], **attributes))
        return name


def may_be_minus_zero(one: Computed) -> bool:
    return one.op == "copysign" or (one.op == "where" and any(map(may_be_minus_zero, one.operands[1:])))


def onnx_file(one: Emulated, header: Sequence[str]) -> bytes:
    """The model's bytes; the header is its doc_string. Raises Unsupported for steps that have no operator."""
    from onnx import checker, helper

    from tiebreak.adapters.onnx_models import onnx_type

    if one.result.type == TRUTH:
        raise TypeError("a truth is no result")
    model = ModelOfSteps()
    last = model.name(one.result)
    kind = one.goal
    keeps: dict[str, Any] = {"saturate": 0} if kind in FLOAT8 else {}  # infinities and NaNs, as they are
    if kind in E8M0:
        keeps = {"round_mode": "down"}  # the default, up, makes 2^-126 of 2^-127 in ONNX's reference
    last = model.cast(last, byte_for(kind)) if byte_for(kind) != kind else last
    model.nodes.append(helper.make_node("Cast", [last], ["y"], to=onnx_type(kind), **keeps))
    inputs = [
        helper.make_tensor_value_info(name, onnx_type(held), ["elements" if name == one.names[0] else "parameters"])
        for name, held in zip(one.names, one.types[:-1], strict=True)
    ]
    output = helper.make_tensor_value_info("y", onnx_type(kind), ["elements"])
    graph = helper.make_graph(model.nodes, one.function, inputs, [output], [*model.initializers.values()])
    opset, version = max(OPSETS.get(held, (18, 8)) for held in one.types)
    imports = [helper.make_opsetid("", opset)]
    made = helper.make_model(graph, opset_imports=imports, ir_version=version, producer_name="tiebreak")
    made.doc_string = "\n".join(header)
    checker.check_model(made)
    return bytes(made.SerializeToString())
