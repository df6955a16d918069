"""An emulator as an ONNX model of standard operators. A number of 16 bits is a float32 that such a type holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tiebreak.conformance.emulators.c_source import ROUNDING, is_short
from tiebreak.conformance.emulators.files import Emulated
from tiebreak.conformance.emulators.python_source import byte_for, is_plain
from tiebreak.conformance.emulators.steps import DOUBLE, SINGLE, TRUTH, Computed
from tiebreak.golden.errors import Unsupported

OPERATORS = {
    **{"add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div", "negative": "Neg", "abs": "Abs"},
    **{"less": "Less", "greater": "Greater", "at_most": "LessOrEqual", "at_least": "GreaterOrEqual", "equal": "Equal"},
    **{"and": "And", "or": "Or", "not": "Not", "is_nan": "IsNaN", "where": "Where", "clamp": "Clip"},
    **{"rint": "Round", "ceil": "Ceil", "floor": "Floor", "minimum": "Min", "maximum": "Max"},
}
SHAPES = (("x", "scale", "zero_point"), ("elements", "parameters", "parameters"))  # one parameter, or one for each x
OPSETS = {"int4": (21, 10), "uint4": (21, 10), "int2": (25, 13), "uint2": (25, 13)}  # and versions of IR


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
            negative = self.node("Less", operands[1], self.number(0, one.type))
            return self.node("Where", negative, self.node("Neg", first), first)
        if one.op == "modulus":
            whole = self.node("Floor", self.node("Div", *operands))
            return self.node("Sub", first, self.node("Mul", whole, operands[1]))
        if one.op == "remainder":
            return self.node("Mod", *operands, fmod=1)
        raise Unsupported("ONNX has no operator for a fused multiply-add, or for a sum that is rounded once")

    def rounded(self, of: Computed, name: str, type: str) -> str:
        if type == "float16" and of.type == DOUBLE:
            raise Unsupported("runtimes of ONNX round a float64 to float32 before they round it to float16")
        held = self.cast(name, SINGLE) if is_short(type) and of.type != SINGLE else name
        return self.through(held, type) if is_short(type) else self.cast(name, type)

    def through(self, name: str, type: str) -> str:
        return self.cast(self.cast(name, type), SINGLE)

    def cast(self, name: str, type: str) -> str:
        from tiebreak.adapters.onnx_models import onnx_type

        return self.node("Cast", name, to=onnx_type(type))

    def number(self, value: float, type: str, name: str = "") -> str:
        from onnx import numpy_helper

        name = name or f"{value!r}_{type}".replace("-", "minus_")
        kind = np.float64 if type == DOUBLE else np.float32
        self.initializers.setdefault(name, numpy_helper.from_array(np.asarray(value, kind), name))
        return name

    def node(self, operator: str, *operands: str, **attributes: Any) -> str:
        from onnx import helper

        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, operands, [name], **attributes))
        return name


def onnx_file(one: Emulated, header: Sequence[str]) -> bytes:
    """The model's bytes; the header is its doc_string. Raises Unsupported for steps that have no operator."""
    from onnx import checker, helper

    from tiebreak.adapters.onnx_models import onnx_type

    if one.result.type == TRUTH:
        raise TypeError("a truth is no result")
    model = ModelOfSteps()
    last = model.name(one.result)
    kind = one.types[3]
    last = model.cast(last, byte_for(kind)) if byte_for(kind) != kind else last
    model.nodes.append(helper.make_node("Cast", [last], ["y"], to=onnx_type(kind)))
    inputs, *outputs = (
        [helper.make_tensor_value_info(name, onnx_type(held), [size]) for name, size, held in infos]
        for infos in (zip(*SHAPES, one.types[:3], strict=True), [("y", "elements", kind)])
    )
    initializers = [*model.initializers.values()]
    graph = helper.make_graph(model.nodes, one.function, inputs, outputs[0], initializers)
    opset, version = max(OPSETS.get(held, (18, 8)) for held in one.types)
    imports = [helper.make_opsetid("", opset)]
    made = helper.make_model(graph, opset_imports=imports, ir_version=version, producer_name="tiebreak")
    made.doc_string = "\n".join(header)
    checker.check_model(made)
    return bytes(made.SerializeToString())
