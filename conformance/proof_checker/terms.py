"""The numbers that a claim and its proof are about, as terms: `Q(Max(DQ(x, s), DQ(x[1], s)), s)`, read from text.

A claim's text is that of docs/patterns.md, and has a term for each place of a row of the output. Of a row only as many
values count as the operation after it needs: pooling, Resize and Softmax take two, a product takes k. A Q or DQ without
a named pair takes the n-th pair, which is s1, s2 …; a DQ of a Q without one has that Q's pair.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tiebreak.conformance.proof_checker.refusal import LONGEST, ProofRefused, shortened

DEEPEST = 60
ELEMENTWISE: dict[str, int] = {"Relu": 1, "Clip": 3, "Sigmoid": 1, "Tanh": 1}  # arguments
ELEMENTWISE |= dict.fromkeys(("Add", "Sub", "Mul", "Max", "Mean", "Linear"), 2)
PRODUCTS = ("MatMul", "Gemm", "Conv")
POOLS = {"MaxPool": "Max", "AveragePool": "Mean", "GlobalAveragePool": "Mean"}
OPTIONS: Mapping[str, Mapping[str, tuple[Any, ...]]] = {
    "Resize": {"mode": ("nearest", "linear")},
    **{name: {"k": (1, 2)} for name in PRODUCTS},
}


@dataclass(frozen=True)
class Term:
    """An operand by its name, if `operation` is empty; otherwise an operation on other terms. `kind` is its type.

    Linear is 3/4 of its first input and 1/4 of its second, Mean half their sum.
    """

    operation: str
    inputs: tuple[Term, ...]
    numbers: tuple[float, ...]
    pair: str
    name: str
    kind: str

    def __str__(self) -> str:
        words = [*map(str, self.inputs), *map(repr, self.numbers), *([self.pair] if self.pair else [])]
        return f"{self.operation}({', '.join(words)})" if self.operation else self.name

    def parts(self) -> Iterator[Term]:
        """The term and all that it is made of."""
        yield self
        for one in self.inputs:
            yield from one.parts()

    def replaced(self, by: Mapping[Term, Term]) -> Term:
        """The term with operands replaced."""
        if not self.operation:
            return by.get(self, self)
        return replace(self, inputs=tuple(one.replaced(by) for one in self.inputs))


def operands_of(*terms: Term) -> list[Term]:
    """Operands, in the order in which they appear."""
    return list(dict.fromkeys(part for term in terms for part in term.parts() if not part.operation))


def pairs_of(*terms: Term) -> list[str]:
    return list(dict.fromkeys(part.pair for term in terms for part in term.parts() if part.pair))


def parsed(text: str) -> ast.expr:
    """An expression's tree, of bounded length and depth; nothing is evaluated."""
    if len(text) > LONGEST:
        raise ProofRefused(f"an expression has {len(text)} characters: at most {LONGEST} are allowed")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ProofRefused(f"{shortened(text)} is no expression") from None
    level: list[ast.AST] = [tree]
    for _ in range(2 * DEEPEST):
        level = [child for one in level for child in ast.iter_child_nodes(one)]
        if not level:
            return tree
    raise ProofRefused("an expression is nested too deeply")


@dataclass
class TermReader:
    """Turns text into terms, innermost first. `kinds` are element types of pairs, `codes` those of operands."""

    real: str
    kinds: Mapping[str, str]
    codes: Mapping[str, str]
    pairs: list[str] = field(default_factory=list)  # in order of appearance

    def read(self, text: str) -> tuple[list[Term], bool]:
        """The terms of a side, and whether it is computed in real arithmetic: exact(…)."""
        tree = parsed(text)
        is_exact = isinstance(tree, ast.Call) and name_of(tree) == "exact" and len(tree.args) == 1
        inner = tree.args[0] if is_exact and isinstance(tree, ast.Call) else tree
        calls = [one for one in ast.walk(inner) if isinstance(one, ast.Call) and name_of(one) in ("Q", "DQ")]
        self.taken = {one.id for call in calls for one in call.args[1:] if isinstance(one, ast.Name)}
        self.pairs = []
        return self.row(inner, 0), is_exact

    def term(self, text: str) -> Term:
        """The term that a step writes."""
        (found,), is_exact = self.read(text)
        if is_exact:
            raise ProofRefused(f"{shortened(text)} is no term of a proof")
        return found

    def row(self, node: ast.AST, width: int) -> list[Term]:
        """The terms of a row of `width` values; 0 if the reader does not care."""
        if isinstance(node, ast.Name):
            return [self.operand(node.id, k) for k in range(width or 1)]
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and width < 2:
            index = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if isinstance(index, int) and 1 <= index <= 9:
                return [self.operand(node.value.id, index)]
        if not isinstance(node, ast.Call):
            raise ProofRefused(f"{shortened(ast.unparse(node))} is neither an operand nor an operation")
        name, count = name_of(node), len(node.args)
        if name in ("Q", "DQ"):
            return self.quantization(name, node, width)
        options = options_of(node, OPTIONS.get(name, {}))
        if name == "constant" and count == 1:
            return self.row(node.args[0], width)
        if name in (*POOLS, "Resize", "Softmax") and count == 1:
            return self.of_two(name, *self.parts(node.args, 2)[0], linear=options.get("mode") == "linear")
        if name == "Concat" and count == 2:
            return [one for row in self.parts(node.args, 1) for one in row]
        if name in PRODUCTS and count == 2:
            rows = zip(*self.parts(node.args, options.get("k", 1)), strict=True)
            products = [self.made("Mul", row) for row in rows]
            return [products[0] if len(products) == 1 else self.made("Add", (products[0], products[1]))]
        if count == ELEMENTWISE.get(name, 2 if name == "Softmax" else 0):
            first = node.args[:1] if name == "Clip" else node.args
            numbers = tuple(number_in(one) for one in node.args[len(first) :])
            return [self.made(name, row, numbers) for row in zip(*self.parts(first, width), strict=True)]
        raise ProofRefused(f"{shortened(ast.unparse(node))} is no operation that this checker knows")

    def operand(self, name: str, index: int) -> Term:
        return Term("", (), (), "", f"{name}[{index}]" if index else name, self.codes.get(name, self.real))

    def parts(self, nodes: list[ast.expr], width: int) -> list[list[Term]]:
        """Rows of one width."""
        rows = [self.row(one, width) for one in nodes]
        if any(len(one) != (width or len(rows[0])) for one in rows):
            raise ProofRefused(f"{shortened(ast.unparse(nodes[0]))} has another width than its operation takes")
        return rows

    def of_two(self, name: str, a: Term, b: Term, *, linear: bool) -> list[Term]:
        if name == "Resize":
            return [a, self.made("Linear", (a, b)), self.made("Linear", (b, a)), b] if linear else [a, a, b, b]
        if name == "Softmax":
            return [self.made(name, (a, b)), self.made(name, (b, a))]
        return [self.made(POOLS[name], (a, b))]

    def quantization(self, name: str, node: ast.Call, width: int) -> list[Term]:
        options = options_of(node, {"type": tuple(self.kinds.values())})
        if not 1 <= len(node.args) <= 2 or not all(isinstance(one, ast.Name) for one in node.args[1:]):
            raise ProofRefused(f"{shortened(ast.unparse(node))}: {name} takes a value and the name of a pair")
        inner = self.row(node.args[0], width)
        given = [one.id for one in node.args[1:] if isinstance(one, ast.Name)]
        pair = self.named(given[0] if given else inner[0].pair if name == "DQ" and inner[0].operation == "Q" else "")
        if pair not in self.kinds or options.get("type", self.kinds[pair]) != self.kinds[pair]:
            raise ProofRefused(f"the certificate has no type of {shortened(pair)}, or another one than its claim")
        return [self.made(name, (one,), pair=pair) for one in inner]

    def named(self, name: str) -> str:
        number = len(self.pairs) + 1
        while not name:
            name, number = f"s{number}", number + 1
            name = "" if name in self.taken else name
        if name not in self.pairs:
            self.pairs.append(name)
        return name

    def made(self, operation: str, inputs: tuple[Term, ...], numbers: tuple[float, ...] = (), pair: str = "") -> Term:
        """ProofRefused if an operation is given another type than it takes."""
        wanted = {"Max": inputs[0].kind, "DQ": self.kinds.get(pair, "")}.get(operation, self.real)
        if any(one.kind != wanted for one in inputs):
            raise ProofRefused(f"{operation} of {shortened(inputs[-1])} takes numbers of {wanted}")
        kind = {"Max": inputs[0].kind, "Q": self.kinds.get(pair, "")}.get(operation, self.real)
        return Term(operation, inputs, numbers, pair, "", kind)


def name_of(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def options_of(node: ast.Call, allowed: Mapping[str, tuple[Any, ...]]) -> dict[str, Any]:
    found = {}
    for one in node.keywords:
        value = one.value.value if isinstance(one.value, ast.Constant) else None
        if isinstance(value, bool) or value not in allowed.get(str(one.arg), ()):
            raise ProofRefused(f"{shortened(ast.unparse(node))} has an attribute that this checker does not know")
        found[str(one.arg)] = value
    return found


def number_in(node: ast.AST) -> float:
    try:
        value = ast.literal_eval(ast.unparse(node))
    except (ValueError, TypeError, SyntaxError, RecursionError):
        value = None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 1e30:
        raise ProofRefused(f"{shortened(ast.unparse(node))} is no number")
    return float(value)
