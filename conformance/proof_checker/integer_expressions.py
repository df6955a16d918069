"""Integer expressions and conditions, for Python's integers or a solver's words, and bounds of every step.

The functions are written anew, from these sources' own words, in the language of the claims:

- single_round, double_round: TOSA 1.0, apply_scale_32, whose result is (value * multiplier + round) >> shift.
- high_mul: gemmlowp's SaturatingRoundingDoublingHighMul, but for the one product that saturates; C's division.
- divide_by_power: gemmlowp's RoundingDivideByPOT: (x >> e) + (remainder > threshold).
- shift_up: a rounding shift of vector instructions, such as NEON's vrshl: (value + 2^(shift - 1)) >> shift.
- kernels_single: LiteRT's MultiplyByQuantizedMultiplier with single rounding; its shift counts to the right.
- round_even: the integer below, and one more above a half, or at a half if that is odd.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

from tiebreak.conformance.proof_checker.refusal import ProofRefused, shortened
from tiebreak.conformance.proof_checker.terms import parsed

Interval = tuple[int, int]
MOST_SHIFT, MOST_BITS = 71, 160
SINGLE = "v * m + (1 << s - 1) >> s"
FUNCTIONS = {
    "single_round": ("v m s", SINGLE),
    "kernels_single": ("v m s", SINGLE),
    "double_round": ("v m s", "v * m + (1 << s - 1) + ((-(1 << 30) if v < 0 else 1 << 30) if s > 31 else 0) >> s"),
    "high_mul": ("a b", "cut_off(a * b + (1 << 30 if a * b >= 0 else 1 - (1 << 30)))"),
    "cut_off": ("p", "-(-p >> 31) if p < 0 else p >> 31"),
    "divide_by_power": ("v s", "above_threshold(v, s, (1 << s) - 1)"),
    "above_threshold": ("v s mask", "(v >> s) + (1 if (v & mask) > (mask >> 1) + (1 if v < 0 else 0) else 0)"),
    "shift_up": ("v s", "v + (1 << s - 1) >> s"),
    "round_even": ("v s", "nearest(v >> s, v & (1 << s) - 1, 1 << s - 1)"),
    "nearest": ("below rest half", "below + (1 if rest > half or (rest == half and (below & 1) == 1) else 0)"),
}
BODIES = {name: (words.split(), parsed(body)) for name, (words, body) in FUNCTIONS.items()}
BINARY: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,  # of z3's words, too, it copies the sign
    ast.BitAnd: operator.and_,
}
COMPARISONS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def names_in(*trees: ast.expr) -> set[str]:
    return {one.id for tree in trees for one in ast.walk(tree) if isinstance(one, ast.Name)} - set(FUNCTIONS)


def pick(truth: Any, yes: Any, no: Any) -> Any:
    """For Python's integers."""
    return yes if truth else no


def value_in(
    node: ast.expr,
    words: Mapping[str, Any],
    choose: Callable[[Any, Any, Any], Any] = pick,
    multiply: Callable[[Any, Any], Any] = operator.mul,
) -> Any:
    """The value of an expression, or the truth of a condition. ProofRefused if it is neither.

    `choose` gives its second argument where the first is true, otherwise the third.
    """

    def inner(one: ast.expr) -> Any:
        return value_in(one, words, choose, multiply)

    if isinstance(node, ast.Name) and node.id in words:
        return words[node.id]
    if isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) < 1 << 64:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return 0 - inner(node.operand)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return choose(inner(node.operand), False, True)
    if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
        step = multiply if isinstance(node.op, ast.Mult) else BINARY[type(node.op)]
        return step(inner(node.left), inner(node.right))
    if isinstance(node, ast.IfExp):
        return choose(inner(node.test), inner(node.body), inner(node.orelse))
    if isinstance(node, ast.BoolOp):
        found = inner(node.values[0])
        for one in node.values[1:]:
            both = isinstance(node.op, ast.And)
            found = choose(found, inner(one) if both else True, False if both else inner(one))
        return found
    if isinstance(node, ast.Compare) and all(type(op) in COMPARISONS for op in node.ops):
        parts, found = [inner(one) for one in (node.left, *node.comparators)], True
        for op, a, b in zip(node.ops, parts, parts[1:], strict=False):
            found = choose(COMPARISONS[type(op)](a, b), found, False)
        return found
    names, body = called(node)
    return value_in(body, dict(zip(names, map(inner, arguments(node)), strict=True)), choose, multiply)


def called(node: ast.expr) -> tuple[list[str], ast.expr]:
    """The parameters and the body of a function that is called. ProofRefused if none is."""
    name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    if name not in BODIES or len(arguments(node)) != len(BODIES[name][0]):
        raise ProofRefused(f"{shortened(ast.unparse(node))} is no integer expression that this checker knows")
    return BODIES[name]


def arguments(node: ast.expr) -> list[ast.expr]:
    return node.args if isinstance(node, ast.Call) and not node.keywords else []


def bounds_of(node: ast.expr, ranges: Mapping[str, Interval], steps: list[int]) -> Interval:
    """Bounds of an expression, or of a condition's truth; `steps` gets the magnitude of every step.

    ProofRefused for a shift whose distance can be one that is not defined.
    """
    parts = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    if isinstance(node, ast.Name) and node.id in ranges:
        found = ranges[node.id]
    elif isinstance(node, ast.Constant):
        value = value_in(node, {})
        found = value, value
    elif isinstance(node, ast.Call):
        names, body = called(node)
        found = bounds_of(body, {n: bounds_of(a, ranges, steps) for n, a in zip(names, node.args, strict=True)}, steps)
    else:
        inner = [bounds_of(one, ranges, steps) for one in parts]
        found = bounds_of_step(node, inner)
    steps.append(max(map(abs, found)))
    return found


def bounds_of_step(node: ast.expr, inner: list[Interval]) -> Interval:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -inner[0][1], -inner[0][0]
    if isinstance(node, ast.IfExp):  # its first part is the condition
        return min(inner[1][0], inner[2][0]), max(inner[1][1], inner[2][1])
    if not isinstance(node, ast.BinOp) or type(node.op) not in BINARY:
        return 0, 1  # a truth
    (a, b), kind = inner, type(node.op)
    if kind is ast.BitAnd:
        bound = 1 << max(abs(end) for end in (*a, *b)).bit_length()
        return (0 if a[0] >= 0 or b[0] >= 0 else -bound), bound
    if kind in (ast.LShift, ast.RShift) and not 0 <= b[0] <= b[1] <= MOST_SHIFT:
        raise ProofRefused(f"a shift by {b[0]} to {b[1]}: 0 to {MOST_SHIFT} are defined")
    found = [BINARY[kind](x, y) for x, y in product(a, b)]  # it rises or falls with each alone: ends have ends
    return min(found), max(found)


def width_of(parts: list[ast.expr], ranges: Mapping[str, Interval]) -> int:
    """Bits of words that no step leaves."""
    steps = [1 << 64]
    for part in parts:
        bounds_of(part, ranges, steps)
    if max(steps).bit_length() > MOST_BITS:
        raise ProofRefused(f"a step can need more than {MOST_BITS} bits")
    return max(steps).bit_length() + 2
