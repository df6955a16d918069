"""A claim about patterns: its domain, and its two sides as terms, one for each place of a row of the output.

A pattern's text is that of docs/patterns.md. Of a row only as many values count as the operation after it needs:
pooling, Resize and Softmax take two, a product takes k. A Q or DQ without a named pair takes the n-th pair, which is
s1, s2 …; a DQ of a Q without one has that Q's pair.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tiebreak.conformance.proof_checker.refusal import (
    ProofRefused,
    chosen_in,
    mapping_in,
    shortened,
    text_in,
)
from tiebreak.conformance.proof_checker.terms import Term, number_in, operands_of, parsed

CODES = {"uint8": (0, 255), "int8": (-128, 127), "uint16": (0, 65535), "int16": (-32768, 32767)}
REALS = ("float32", "float16", "bfloat16")
TAKES = {"MaxPool": 2, "AveragePool": 2, "GlobalAveragePool": 2, "Resize": 2, "Softmax": 2, "Concat": 1}
PRODUCTS = ("MatMul", "Gemm", "Conv")
ARGUMENTS = {"Clip": 3, **dict.fromkeys(("Add", "Sub", "Mul", "Concat", *PRODUCTS), 2)}
ELEMENTWISE = ("Relu", "Clip", "Add", "Sub", "Mul", "Sigmoid", "Tanh")
OPTIONS: Mapping[str, Mapping[str, tuple[Any, ...]]] = {
    "Q": {"type": tuple(CODES)},
    "DQ": {"type": tuple(CODES)},
    "Resize": {"mode": ("nearest", "linear")},
    **{name: {"k": (1, 2)} for name in PRODUCTS},
}


@dataclass(frozen=True)
class PatternClaim:
    """`goals` are pairs of terms, equal for every code, scale and zero point of the domain; `exact` of each side."""

    real: str
    sign: str
    extent: str
    zero_points: str
    pairs: Mapping[str, str] = field(hash=False)
    codes: Mapping[str, str] = field(hash=False)
    exact: tuple[bool, bool] = (False, False)
    goals: tuple[tuple[Term, Term], ...] = ()

    def operand_type(self, name: str) -> str:
        """The element type of one of the claim's operands: of codes, or the float type."""
        return self.codes.get(name.split("[", 1)[0], self.real)


def claim_in(data: Mapping[str, Any]) -> PatternClaim:
    """The claim of a certificate. ProofRefused if it is none."""
    claim = mapping_in(data, "claim")
    shell = PatternClaim(
        chosen_in(claim, "real", REALS),
        chosen_in(claim, "sign", ("positive", "negative")),
        chosen_in(claim, "extent", ("normal", "all")),
        text_in(claim, "zero_points"),
        types_in(claim, "pairs"),
        types_in(claim, "codes"),
    )
    sides = [unwrapped(text_in(claim, name)) for name in ("left", "right")]
    rows = [PatternReader(shell.pairs, taken_by(tree), shell.codes).row(tree, 0) for tree, _ in sides]
    if len(rows[0]) != len(rows[1]):
        raise ProofRefused("the sides have different numbers of values a row")
    exact = (sides[0][1], sides[1][1])
    found = PatternClaim(**{**vars(shell), "exact": exact, "goals": tuple(zip(*rows, strict=True))})
    for kind in found.pairs.values():
        zero_points_of(found, kind)
    for left, right in found.goals:
        if type_of(left, found) != type_of(right, found):
            raise ProofRefused("the sides are of different element types")
    return found


def types_in(claim: Mapping[str, Any], name: str) -> dict[str, str]:
    found = mapping_in(claim, name)
    for kind in found.values():
        if not isinstance(kind, str) or kind not in CODES:
            raise ProofRefused(f"{name} has the type {shortened(kind)}; there are {', '.join(CODES)}")
    return dict(found)


def unwrapped(text: str) -> tuple[ast.expr, bool]:
    """A side, and whether it is computed in real arithmetic: exact(…)."""
    tree = parsed(text)
    if isinstance(tree, ast.Call) and name_of(tree) == "exact" and len(tree.args) == 1 and not tree.keywords:
        return tree.args[0], True
    return tree, False


def name_of(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def taken_by(tree: ast.expr) -> frozenset[str]:
    """Names of pairs that a side has."""
    calls = (one for one in ast.walk(tree) if isinstance(one, ast.Call) and name_of(one) in ("Q", "DQ"))
    return frozenset(a.id for call in calls for a in call.args[1:] if isinstance(a, ast.Name))


@dataclass
class PatternReader:
    """Turns a side's text into terms, innermost first."""

    kinds: Mapping[str, str]
    taken: frozenset[str]
    codes: Mapping[str, str]
    pairs: list[str] = field(default_factory=list)

    def row(self, node: ast.AST, width: int) -> list[Term]:
        """The terms of a row of `width` values; 0 if the reader does not care."""
        if isinstance(node, ast.Name):
            return [Term(name=f"{node.id}[{k}]" if k else node.id) for k in range(width or 1)]
        if not isinstance(node, ast.Call):
            raise ProofRefused(f"{shortened(ast.unparse(node))} is neither an operand nor an operation")
        name, options = name_of(node), options_of(node)
        if name == "constant" and len(node.args) == 1:
            return self.row(node.args[0], width)
        if name in ("Q", "DQ"):
            return self.quantization(name, node, options, width)
        if name not in (*TAKES, *PRODUCTS, *ELEMENTWISE) or len(node.args) != ARGUMENTS.get(name, 1):
            raise ProofRefused(f"{shortened(ast.unparse(node))} is no operation that this checker knows")
        count = options.get("k", 1) if name in PRODUCTS else TAKES.get(name, width)
        numbers = tuple(number_in(one) for one in node.args[1:]) if name == "Clip" else ()
        parts = [self.row(one, count) for one in (node.args[:1] if name == "Clip" else node.args)]
        if any(len(one) != (count or len(parts[0])) for one in parts):
            raise ProofRefused(f"{shortened(ast.unparse(node))} has operands of other widths than it takes")
        return combined(name, parts, numbers, linear=options.get("mode") == "linear")

    def quantization(self, name: str, node: ast.Call, options: Mapping[str, Any], width: int) -> list[Term]:
        if not 1 <= len(node.args) <= 2 or not all(isinstance(one, ast.Name) for one in node.args[1:]):
            raise ProofRefused(f"{shortened(ast.unparse(node))}: {name} takes a value and the name of a pair")
        inner = self.row(node.args[0], width)
        given = [one.id for one in node.args[1:] if isinstance(one, ast.Name)]
        follows = inner[0].pair if name == "DQ" and inner[0].operation == "Q" else ""
        pair = self.named(given[0] if given else follows)
        if pair not in self.kinds or options.get("type", self.kinds[pair]) != self.kinds[pair]:
            raise ProofRefused(f"the certificate has no type of {shortened(pair)}, or another one than its claim")
        return [Term(name, (one,), pair=pair) for one in inner]

    def named(self, name: str) -> str:
        number = len(self.pairs) + 1
        while not name:
            name, number = f"s{number}", number + 1
            name = "" if name in self.taken else name
        if name not in self.pairs:
            self.pairs.append(name)
        return name


def options_of(node: ast.Call) -> dict[str, Any]:
    allowed, found = OPTIONS.get(name_of(node), {}), {}
    for one in node.keywords:
        value = one.value.value if isinstance(one.value, ast.Constant) else None
        if value is None or value not in allowed.get(str(one.arg), ()):
            raise ProofRefused(f"{shortened(ast.unparse(node))} has an attribute that this checker does not know")
        found[str(one.arg)] = value
    return found


def combined(name: str, parts: list[list[Term]], numbers: tuple[float, ...], *, linear: bool) -> list[Term]:
    """An operation's row, of its operands' rows."""
    if name in ELEMENTWISE:
        return [Term(name, row, numbers) for row in zip(*parts, strict=True)]
    if name in PRODUCTS:
        products = [Term("Mul", two) for two in zip(*parts, strict=True)]
        return [products[0] if len(products) == 1 else Term("Add", (products[0], products[1]))]
    if name == "Concat":
        return [*parts[0], *parts[1]]
    a, b = parts[0]
    if name == "Resize":
        return [a, Term("Linear", (a, b)), Term("Linear", (b, a)), b] if linear else [a, a, b, b]
    if name == "Softmax":
        return [Term("Softmax", (a, b)), Term("Softmax", (b, a))]
    return [Term("Max" if name == "MaxPool" else "Mean", (a, b))]


def type_of(term: Term, claim: PatternClaim, fresh: Mapping[str, str] | None = None) -> str:
    """A term's element type. ProofRefused if an operation is given another type than it takes.

    `fresh` are types of operands that a proof introduces.
    """
    if not term.operation:
        return (fresh or {}).get(term.name) or claim.operand_type(term.name)
    inner = [type_of(one, claim, fresh) for one in term.inputs]
    if term.pair and term.pair not in claim.pairs:
        raise ProofRefused(f"{shortened(term)}: the claim has no such pair")
    if term.operation == "Max":
        if inner[0] != inner[1]:
            raise ProofRefused(f"{shortened(term)} is of two element types")
        return inner[0]
    wanted = claim.pairs[term.pair] if term.operation == "DQ" else claim.real
    if any(one != wanted for one in inner):
        raise ProofRefused(f"{shortened(term)} takes numbers of {wanted}")
    return claim.pairs[term.pair] if term.operation == "Q" else claim.real


def zero_points_of(claim: PatternClaim, kind: str) -> list[int]:
    """The zero points of an element type for which the claim is made."""
    lowest, highest = CODES[kind]
    every = range(lowest, highest + 1)
    named: dict[str, list[int]] = {
        "all": list(every),
        "lowest": [lowest],
        "highest": [highest],
        "even": [z for z in every if z % 2 == 0],
        "odd": [z for z in every if z % 2],
    }
    if claim.zero_points in named:
        return named[claim.zero_points]
    try:
        numbers = [int(word) for word in claim.zero_points.split(",")]
    except ValueError:
        numbers = []
    if not numbers or not all(lowest <= one <= highest for one in numbers):
        raise ProofRefused(f"{shortened(claim.zero_points)} are no zero points of {kind}")
    return sorted(set(numbers))


def is_operand_of(claim: PatternClaim, name: str) -> bool:
    return any(name in operands_of(*goal) for goal in claim.goals)
