"""Integer expressions and conditions, computed by Python or written as a solver's terms, with bounds of every step."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, Protocol

from tiebreak.conformance.proof_checker.refusal import ProofRefused, shortened

PARAMETERS = {
    "single_round": 3,
    "double_round": 3,
    "high_mul": 2,
    "divide_by_power": 2,
    "shift_up": 2,
    "kernels_single": 3,
    "round_even": 2,
}
MOST_SHIFT = 71


class IntegerMachine(Protocol):
    """What expressions are made of: two's complement words that no step leaves, or integers."""

    def constant(self, value: int) -> Any: ...
    def product(self, a: Any, b: Any) -> Any: ...
    def left(self, a: Any, by: Any) -> Any: ...
    def right(self, a: Any, by: Any) -> Any: ...
    def toward_zero(self, a: Any, bits: int) -> Any: ...
    def choose(self, truth: Any, yes: Any, no: Any) -> Any: ...
    def both(self, a: Any, b: Any) -> Any: ...
    def either(self, a: Any, b: Any) -> Any: ...
    def inverse(self, a: Any) -> Any: ...


class PythonIntegers:
    """Python's integers."""

    def constant(self, value: int) -> int:
        return value

    def product(self, a: int, b: int) -> int:
        return a * b

    def left(self, a: int, by: int) -> int:
        return a << by

    def right(self, a: int, by: int) -> int:
        return a >> by

    def toward_zero(self, a: int, bits: int) -> int:
        return -(-a >> bits) if a < 0 else a >> bits

    def choose(self, truth: bool, yes: int, no: int) -> int:
        return yes if truth else no

    def both(self, a: bool, b: bool) -> bool:
        return a and b

    def either(self, a: bool, b: bool) -> bool:
        return a or b

    def inverse(self, a: bool) -> bool:
        return not a


def names_in(*trees: ast.expr) -> list[str]:
    """Names of words, sorted."""
    found = {one.id for tree in trees for one in ast.walk(tree) if isinstance(one, ast.Name)}
    return sorted(found - set(PARAMETERS))


def products_in(*trees: ast.expr) -> bool:
    """Whether a product of words is computed."""
    multiplying = ("single_round", "double_round", "high_mul", "kernels_single")
    return any(
        isinstance(one, ast.Mult) or (isinstance(one, ast.Name) and one.id in multiplying)
        for tree in trees
        for one in ast.walk(tree)
    )


def integer_value(node: ast.expr, words: Mapping[str, Any], m: IntegerMachine) -> Any:
    """An integer expression's value. ProofRefused if it is none."""
    if isinstance(node, ast.Name) and node.id in words:
        return words[node.id]
    if isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) < 1 << 64:
        return m.constant(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return m.constant(0) - integer_value(node.operand, words, m)
    if isinstance(node, ast.BinOp):
        a, b = integer_value(node.left, words, m), integer_value(node.right, words, m)
        return of_operator(node, a, b, m)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and is_call_of(node, node.func.id):
        return of_function(node.func.id, [integer_value(one, words, m) for one in node.args], m)
    raise ProofRefused(f"{shortened(ast.unparse(node))} is no integer expression that this checker knows")


def is_call_of(node: ast.Call, name: str) -> bool:
    """Whether it calls a function that this checker knows, with as many numbers as that takes."""
    return PARAMETERS.get(name) == len(node.args) and not node.keywords


def of_operator(node: ast.BinOp, a: Any, b: Any, m: IntegerMachine) -> Any:
    kind = type(node.op)
    if kind is ast.Add:
        return a + b
    if kind is ast.Sub:
        return a - b
    if kind is ast.Mult:
        return m.product(a, b)
    if kind is ast.LShift:
        return m.left(a, b)
    if kind is ast.RShift:
        return m.right(a, b)
    if kind is ast.BitAnd:
        return a & b
    raise ProofRefused(f"{shortened(ast.unparse(node))} has an operator that this checker does not know")


def of_function(name: str, parts: list[Any], m: IntegerMachine) -> Any:
    """A function of its source; all shifts are by 1 or more."""
    one = m.constant(1)
    if name == "high_mul":
        # (a * b + nudge) / 2^31, where nudge is 2^30 for a product of 0 or more, otherwise 1 - 2^30; C's division.
        product = m.product(parts[0], parts[1])
        return m.toward_zero(product + m.choose(product < 0, m.constant(1 - (1 << 30)), m.constant(1 << 30)), 31)
    value, shift = parts[0], parts[-1]
    half = m.left(one, shift - 1)
    if name == "shift_up":
        return m.right(value + half, shift)
    if name == "divide_by_power":
        # remainder = x & mask; threshold = mask / 2, and one more for a negative x; (x >> e) + (remainder > threshold)
        mask = m.left(one, shift) - 1
        threshold = m.right(mask, one) + m.choose(value < 0, m.constant(1), m.constant(0))
        return m.right(value, shift) + m.choose((value & mask) > threshold, m.constant(1), m.constant(0))
    if name == "round_even":  # the integer below, and one more above a half, or at a half if that is even
        below = m.right(value, shift)
        rest = value - m.left(below, shift)
        up = m.either(rest > half, m.both(rest == half, (below & 1) == 1))
        return below + m.choose(up, m.constant(1), m.constant(0))
    product = m.product(value, parts[1])
    if name == "double_round":  # beyond a shift of 31, 2^30 more, away from zero by the value's sign
        away = m.choose(value < 0, m.constant(-(1 << 30)), m.constant(1 << 30))
        half = half + m.choose(shift > 31, away, m.constant(0))
    return m.right(product + half, shift)


def condition_value(node: ast.expr, words: Mapping[str, Any], m: IntegerMachine) -> Any:
    """A condition's truth: comparisons with and, or and not between. ProofRefused if it is none."""
    if isinstance(node, ast.BoolOp):
        parts = [condition_value(one, words, m) for one in node.values]
        found = parts[0]
        for other in parts[1:]:
            found = m.both(found, other) if isinstance(node.op, ast.And) else m.either(found, other)
        return found
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return m.inverse(condition_value(node.operand, words, m))
    if not isinstance(node, ast.Compare):
        raise ProofRefused(f"{shortened(ast.unparse(node))} is no condition that this checker knows")
    values = [integer_value(one, words, m) for one in (node.left, *node.comparators)]
    found = None
    for op, a, b in zip(node.ops, values[:-1], values[1:], strict=True):
        truth = compared(type(op), a, b)
        found = truth if found is None else m.both(found, truth)
    return found


def compared(kind: type[ast.cmpop], a: Any, b: Any) -> Any:
    if kind is ast.Lt:
        return a < b
    if kind is ast.LtE:
        return a <= b
    if kind is ast.Gt:
        return a > b
    if kind is ast.GtE:
        return a >= b
    if kind is ast.Eq:
        return a == b
    if kind is ast.NotEq:
        return a != b
    raise ProofRefused("a condition has a comparison that this checker does not know")


def width_of(sides: tuple[ast.expr, ast.expr], given: ast.expr | None, ranges: Mapping[str, tuple[int, int]]) -> int:
    """Bits of words that no step leaves. ProofRefused if a shift's distance can be one that is not defined."""
    most = max(1 << 64, *(abs(end) for ends in ranges.values() for end in ends))
    for tree in (*sides, *([one for one in ast.walk(given) if is_integer_part(one)] if given is not None else [])):
        assert isinstance(tree, ast.expr)
        most = max(most, bounds_of(tree, ranges)[1])
    if most.bit_length() > 160:
        raise ProofRefused("a step can need more than 160 bits")
    return most.bit_length() + 2


def is_integer_part(node: ast.AST) -> bool:
    """Whether a part of a condition is an integer, not a truth."""
    truth = isinstance(node, ast.Compare | ast.BoolOp) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )
    if isinstance(node, ast.Name):
        return node.id not in PARAMETERS
    return isinstance(node, ast.expr) and not truth


def bounds_of(node: ast.expr, ranges: Mapping[str, tuple[int, int]]) -> tuple[tuple[int, int], int]:
    """The least and the greatest value that an expression can have, or bounds of them; the most of any step in it."""
    if isinstance(node, ast.Name):
        if node.id not in ranges:
            raise ProofRefused(f"{shortened(node.id)} has no range")
        return ranges[node.id], max(map(abs, ranges[node.id]))
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return (node.value, node.value), abs(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        (low, high), most = bounds_of(node.operand, ranges)
        return (-high, -low), most
    if isinstance(node, ast.BinOp):
        parts = [bounds_of(one, ranges) for one in (node.left, node.right)]
        ends = bounds_of_operator(type(node.op), parts[0][0], parts[1][0])
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and len(node.args) == PARAMETERS.get(node.func.id)
    ):
        parts = [bounds_of(one, ranges) for one in node.args]
        ends = bounds_of_function(node.func.id, [one[0] for one in parts])
    else:
        raise ProofRefused(f"{shortened(ast.unparse(node))} is no integer expression that this checker knows")
    return ends, max(*map(abs, ends), *(one[1] for one in parts))


def bounds_of_operator(kind: type[ast.operator], a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    most = [max(map(abs, one)) for one in (a, b)]
    if kind is ast.Mult:
        found = [x * y for x in a for y in b]
        return min(found), max(found)
    if kind is ast.Sub:
        return a[0] - b[1], a[1] - b[0]
    if kind in (ast.LShift, ast.RShift):
        check_shift(b, 0)
        found = [x << y if kind is ast.LShift else x >> y for x in a for y in b]
        return min(found), max(found)
    if kind is ast.BitAnd:
        bound = 1 << max(most).bit_length()
        return -bound, bound
    return a[0] + b[0], a[1] + b[1]


def bounds_of_function(name: str, parts: list[tuple[int, int]]) -> tuple[int, int]:
    """Bounds of a function's steps: its product, a power of two for its shift, and what it adds."""
    if name != "high_mul":
        check_shift(parts[-1], 1)
    bound = max(map(abs, parts[0]))
    if name in ("single_round", "double_round", "high_mul", "kernels_single"):
        bound *= max(map(abs, parts[1]))
    bound += (1 << 32) + (0 if name == "high_mul" else 1 << parts[-1][1])
    return -bound, bound


def check_shift(distances: tuple[int, int], least: int) -> None:
    if not least <= distances[0] <= distances[1] <= MOST_SHIFT:
        raise ProofRefused(f"a shift by {distances[0]} to {distances[1]}: {least} to {MOST_SHIFT} are defined")
