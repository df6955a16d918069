"""Writes StableHLO programs that check themselves: constants, one operation and check.expect_eq_const.

A quantized result is dequantized before it is checked, as in StableHLO's own tests of quantized programs
(stablehlo/testdata/quantized). A quantized operand is made from integers by bitcast_convert. Operations are written in
MLIR's generic form, which both StableHLO's interpreter and IREE's compiler read.
"""

from __future__ import annotations

from tiebreak.adapters.stablehlo_modules import DEQUANTIZE, OPERATORS, QUANTIZE, refuse, types_of
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.offline.exported import CaseToExport, Files, case_to_export, check_plain
from tiebreak.conformance.offline.mlir_text import dense, tensor_type
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.operator_names import short_name
from tiebreak.golden.problem import Array

MODULE = """// {case}
module {{
  func.func @main() {{
    %input = "stablehlo.constant"() <{{value = {value} : {plain}}}> : () -> {plain}
{steps}
    "check.expect_eq_const"(%{last}) <{{value = {expected} : {checked}}}> : ({checked}) -> ()
    return
  }}
}}
"""
STEP = '    %{name} = "stablehlo.{operation}"(%{of}) : ({source}) -> {target}'


def stablehlo_files(number: int, one: CaseToExport) -> Files:
    """cases/NNNNNN.mlir; Unsupported for another dialect's operator and where no one number is expected."""
    check_plain(one)
    node, inputs = one.case.node, one.case.inputs
    if node.operator not in OPERATORS:
        raise Unsupported(f"StableHLO has no {node.operator}")
    if one.case.size == 0:
        raise Unsupported("a constant without elements has no text in all readers")
    refuse(node)
    operand, result = types_of(node, inputs)
    x, expected = inputs[0], one.outputs[0].array("exact")
    plain, checked = tensor_type(x), tensor_type(expected)
    steps, last = [], "input"
    if operand != plain:
        steps.append(STEP.format(name="operand", operation="bitcast_convert", of=last, source=plain, target=operand))
        last = "operand"
    steps.append(STEP.format(name="found", operation=short_name(node.operator), of=last, source=operand, target=result))
    last = "found"
    if node.operator == QUANTIZE:
        expected = dequantized(one)
        checked = tensor_type(expected)
        operation = short_name(DEQUANTIZE)
        steps.append(STEP.format(name="number", operation=operation, of=last, source=result, target=checked))
        last = "number"
    text = MODULE.format(
        case=one.case.id,
        value=dense(unsigned_as_bits(x)),
        plain=plain,
        steps="\n".join(steps),
        last=last,
        expected=dense(expected),
        checked=checked,
    )
    return {f"cases/{number:06d}.mlir": text.encode()}


def dequantized(one: CaseToExport) -> Array:
    """The numbers for which the expected integers stand. Unsupported where two results conform."""
    node, inputs = one.case.node, one.case.inputs
    codes = one.outputs[0].array("exact")
    attributes = {name: value for name, value in node.attributes.items() if not name.startswith("operand_")}
    real, quantized = str(node.inputs[1].dtype.name), str(codes.dtype.name)
    back = make_node(DEQUANTIZE, attributes=attributes, real=real, quantized=quantized)
    case = Case(one.case.id, back, (codes, *inputs[1:3]))
    found = case_to_export(case, truths_of(case))
    check_plain(found)
    return found.outputs[0].array("exact")


def unsigned_as_bits(array: Array) -> Array:
    """Integers without a sign are written by their bits as signed ones."""
    kind = INTEGER_TYPES.get(array.dtype.name)
    return array.view(f"int{kind.bits}") if kind and not kind.signed and kind.bits >= 8 else array
