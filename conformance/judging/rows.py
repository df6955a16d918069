"""Rows about single elements, and the kind of node that a row is about."""

from __future__ import annotations

from functools import lru_cache

from tiebreak.golden.elements import FloatType, IntegerType, decimal, decode
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Problem

Kind = tuple[str, str, str, str]  # operator, rounding mode, input type, output type; causes are weighed within one kind
Group = tuple[Kind, str]  # a kind of node and a path: see path_of
CONSTANT, VARYING = "constant", "varying"  # how a path begins: one value of each parameter for all elements, or several
LAYOUT = ("axis", "axes", "block_size", "type", "T", "output_dtype")  # attributes that change no arithmetic


def element_operands(problem: Problem, node: Node, i: int) -> list[tuple[str, int, FloatType | IntegerType]]:
    """(name, code, type) of every operand of one element."""
    names = problem.names([tensor.name for tensor in node.inputs], get_operator(node.operator).forms[0])
    codes = [int(operand[i]) for operand in problem.operands]
    return list(zip(names, codes, problem.kinds, strict=False))


def bits_of_code(code: int, kind: FloatType | IntegerType) -> int:
    return code & ((1 << kind.bits) - 1)


@lru_cache(maxsize=1 << 16)
def bits_and_decimal(code: int, kind: FloatType | IntegerType) -> tuple[str, str]:
    """Bits and decimal of a real; an integer's decimal twice."""
    if isinstance(kind, IntegerType):
        return str(code), str(code)
    bits = bits_of_code(code, kind)
    value = float(decode(bits, kind))
    whole = 1e6 <= abs(value) < 1e16 and value.is_integer()  # a large one's shortest decimal looks like another
    return f"0x{bits:0{max(2, kind.bits // 4)}x}", f"{value:.1f}" if whole else decimal(bits, kind)


def kind_of_node(node: Node) -> Kind:
    return node.operator, node.round_mode, node.input_type, node.output_type


def path_of(case: Case) -> str:
    """What may choose a kernel's path: whether parameters vary, and the attributes that are no layout."""
    varying = any(array.size > 1 for array in case.inputs[1:])
    blocks = "blocks" if case.node.attributes.get("block_size") else ""
    attributes = sorted((name, value) for name, value in case.node.attributes.items() if name not in LAYOUT)
    return f"{VARYING if varying else CONSTANT} {blocks} {attributes}"
