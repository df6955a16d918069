"""The operators that can be audited, each with its table of semantics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.model import Absent, AuditedSemantics, StagedSemantics, as_it_is
from tiebreak.conformance.semantics.model import Arithmetic, Probe
from tiebreak.golden.elements import ELEMENT_TYPES, IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.operators.model import Operator

AUDITED: dict[str, AuditedSemantics] = {
    record.id: record.semantics for record in TESTED.values() if isinstance(record.semantics, AuditedSemantics)
}
STAGED: dict[str, StagedSemantics] = {
    record.id: record.semantics for record in TESTED.values() if isinstance(record.semantics, StagedSemantics)
}


def arithmetic_of(node: Node) -> Arithmetic:
    """The table of facets for a node. Raises InvalidInput for an operator or types without one."""
    if node.operator not in AUDITED:
        raise InvalidInput(f"{node.operator}: no table of semantics; there is one for {', '.join(AUDITED)}")
    semantics = AUDITED[node.operator]
    if semantics.of_integers:
        return semantics.arithmetic(node)
    first, result = ELEMENT_TYPES[node.input_type], ELEMENT_TYPES[node.output_type]
    casts = get_operator(node.operator).family == "cast"
    if isinstance(first, IntegerType) and not casts:
        raise InvalidInput(f"{node.operator}: semantics are known of real inputs, not of {first.name}")
    if get_operator(node.operator).family == "quantize" and not isinstance(result, IntegerType):
        raise InvalidInput(f"{node.operator}: semantics are known of integer outputs, not of {result.name}")
    return semantics.arithmetic(node)


def case_of_probe(node: Node, probe: Probe, number: int) -> Case:
    """The call of a probe, as the operator takes it."""
    as_called = AUDITED[node.operator].as_called if node.operator in AUDITED else as_it_is
    return as_called(node, probe).case(node, number)


def silence_of(node: Node) -> str:
    """What the document leaves open of a node though its table names a value for it; empty for most nodes."""
    return AUDITED[node.operator].silence(node) if node.operator in AUDITED else ""


def audited_node(
    operator: str, attributes: Mapping[str, Any], input_type: str, output_type: str, opset: int, given: str = ""
) -> Node:
    """The node to audit, with one scale for all elements. Empty types and `opset` 0 stand for the defaults.

    `given` names an optional input that it has. An operator that measures its own scales has it only then.

    Raises InvalidInput for an operator that cannot be audited, types that do not go together, or another input.
    """
    spec = get_operator(operator)
    if operator not in AUDITED and operator not in STAGED:
        raise InvalidInput(f"audit knows {', '.join((*AUDITED, *STAGED))}, not {operator!r}{reason_of(operator)}")
    said = {**usual_attributes(operator, output_type), **attributes}
    if given and not (spec.optional_inputs and given == spec.forms[0][-1]):
        raise InvalidInput(f"{operator}: it has no optional input {given!r}")
    if not spec.quantized_types:
        if input_type and output_type and input_type != output_type:
            raise InvalidInput(f"{operator}: its output has the type of its input, not {input_type} and {output_type}")
        return make_node(operator, real=input_type or output_type, attributes=said, opset=opset)
    if spec.family == "dequantize" and (input_type in spec.quantized_types or output_type in spec.real_types):
        input_type, output_type = output_type, input_type  # its first input is the quantized one
    whole = operator in AUDITED or not spec.optional_inputs or bool(given)  # what a stage measures itself is left off
    types: dict[str, Any] = {"real": input_type, "quantized": output_type, "operands": ()}
    first = spec.operand_types[0] if spec.operand_types else ()
    if first and not set(first) & set(spec.real_types):
        types = types_of_product(spec, input_type, output_type)
    return make_node(operator, **types, attributes=said, opset=opset, zero_point=whole)


def types_of_product(spec: Operator, input_type: str, output_type: str) -> dict[str, Any]:
    """The types of a product of two integers whose real type is the scales'.

    The first factor and the output have one type if only one is named: few libraries take two.
    """
    first, *others = spec.operand_types
    if input_type and input_type not in (*first, *spec.real_types):
        raise InvalidInput(f"{spec.id}: input type {input_type!r} is not one of {', '.join(first)}")
    real, factor = (input_type, "") if input_type in spec.real_types else ("", input_type)
    factor, output_type = factor or output_type or first[0], output_type or factor
    return {"real": real, "quantized": output_type, "operands": (factor, *(allowed[0] for allowed in others))}


def reason_of(operator: str) -> str:
    """Why an operator has no table, behind a colon; empty for one that is unknown."""
    record = TESTED.get(operator)
    return f": {record.semantics.reason}" if record and isinstance(record.semantics, Absent) else ""


def usual_attributes(operator: str, output_type: str) -> Mapping[str, Any]:
    if operator not in AUDITED:
        return {}
    return {**AUDITED[operator].defaults, **AUDITED[operator].defaults_of(output_type)}
