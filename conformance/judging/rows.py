"""Rows about single elements, and the kind of node that a row is about."""

from __future__ import annotations

from functools import lru_cache

from tiebreak.golden.elements import FloatType, IntegerType, decimal, decode
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Problem

Kind = tuple[str, str, str, str]  # operator, rounding mode, input type, output type; causes are weighed within one kind
Group = tuple[Kind, str]  # a kind of node and a path: see path_of
DETAILS = " in detail "  # before what a path has in addition in a detailed group
CONSTANT, VARYING = "constant ", "varying"  # how a path begins: parameters all built in; with several values
LAYOUT = ("axis", "axes", "block_size", "type", "T", "output_dtype")  # attributes that change no arithmetic


def element_operands(problem: Problem, node: Node, i: int) -> list[tuple[str, int, FloatType | IntegerType]]:
    """(name, code, type) of every operand of one element."""
    names = problem.names([tensor.name for tensor in node.inputs], get_operator(node.operator).forms[0])
    codes = [int(operand[i]) for operand in problem.operands]
    return list(zip(names, codes, problem.kinds, strict=False))


def bits_of_code(code: int, kind: FloatType | IntegerType) -> int:
    return code & ((1 << kind.bits) - 1)


def code_from_bits(kind: FloatType | IntegerType, bits: int) -> int:
    """The code for some bits, of which a packed type has fewer: an integer's value, or a real's bits unchanged."""
    bits &= (1 << kind.bits) - 1
    signed = isinstance(kind, IntegerType) and kind.signed and bits >> (kind.bits - 1)
    return bits - (1 << kind.bits) if signed else bits


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


def group_of(case: Case) -> Group:
    return kind_of_node(case.node), path_of(case)


def detailed_group_of(case: Case) -> Group:
    """The group with what else may choose a path: which parameters are constants, their axes, and x's rank or size."""
    x, *parameters = case.inputs
    kind, path = group_of(case)
    constants = sorted(constant.name for constant in case.node.baked)
    axes = {
        tuple(axis for axis, size in enumerate(array.shape, start=x.ndim - array.ndim) if size > 1)
        for array in parameters
    }
    shape = "one element" if x.size == 1 and x.ndim else str(min(x.ndim, 2))
    return kind, f"{path}{DETAILS}{constants} {shape} {sorted(axes)}"


def without_details(group: Group) -> Group:
    kind, path = group
    return kind, path.partition(DETAILS)[0]


def path_of(case: Case) -> str:
    """What may choose a kernel's path: the parameters' layout and types, and the attributes that are no layout.

    A real number, such as alpha, is an operand like others: what one value shows and another refutes is no cause.
    """
    node = case.node
    types = {tensor.element for tensor in node.inputs[1:]} - {node.input_type, node.output_type}
    choices = [(name, value) for name, value in node.attributes.items() if not isinstance(value, float)]
    attributes = sorted((name, value) for name, value in choices if name not in LAYOUT)
    return f"{layout_of(case)} {sorted(types)} {attributes}"


def layout_of(case: Case) -> str:
    """Whether parameters are all constants, and vary; whether in blocks, and whether along the last axis."""
    known = CONSTANT if len(case.node.baked) == len(case.inputs) - 1 > 0 else ""
    if not any(array.size > 1 for array in case.inputs[1:]):
        return f"{known}one"
    rank = case.inputs[0].ndim
    blocks = "blocks" if case.node.attributes.get("block_size") else ""
    return f"{known}{VARYING} {blocks} {'last' if rank - 1 in axes_of(case) else ''}"


def is_varying(path: str) -> bool:
    """Whether some parameter has several values."""
    return path.removeprefix(CONSTANT).startswith(VARYING)


def axes_of(case: Case) -> tuple[int, ...]:
    """The axes that a node names for its parameters, counted from the front."""
    node, rank = case.node, case.inputs[0].ndim
    named = (
        (node.value("axis"),) if get_operator(node.operator).has_attribute("axis") else node.attributes.get("axes", ())
    )
    return tuple(axis % rank for axis in named) if rank else ()
