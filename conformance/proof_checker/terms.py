"""The numbers that a claim and its proof are about, as terms: `Q(Max(DQ(x, s), DQ(x[1], s)), s)`, read from text.

A claim's text is that of docs/patterns.md, and has a term for each place of a row of the output. Of a row only as many
values count as the operation after it needs: pooling, Resize and Softmax take two, a product takes k. A Q or DQ without
a named pair takes the n-th pair, which is s1, s2 …; a DQ of a Q without one has that Q's pair.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tiebreak.conformance.proof_checker.refusal import LONGEST, ProofRefused, require

DEEPEST = 120
ELEMENTWISE = {"Relu": 1, "Clip": 3, "Sigmoid": 1, "Tanh": 1}  # arguments
ELEMENTWISE |= dict.fromkeys(("Add", "Sub", "Mul", "Max", "Mean", "Linear", "Softmax"), 2)
NOTHING: tuple[int, int, Callable[..., list[Term]]] = (-1, 0, list)
ROWS: dict[str, tuple[int, int, Callable[..., list[Term]]]] = {  # arguments, values of each, what is made of them all
    "Concat": (2, 1, lambda made, a, b: [a, b]),
    "MaxPool": (1, 2, lambda made, a, b: [made("Max", a, b)]),
    "AveragePool": (1, 2, lambda made, a, b: [made("Mean", a, b)]),
    "GlobalAveragePool": (1, 2, lambda made, a, b: [made("Mean", a, b)]),
    "Softmax": (1, 2, lambda made, a, b: [made("Softmax", a, b), made("Softmax", b, a)]),
    "Resize mode='linear'": (1, 2, lambda made, a, b: [a, made("Linear", a, b), made("Linear", b, a), b]),
    **dict.fromkeys(("Resize", "Resize mode='nearest'"), (1, 2, lambda made, a, b: [a, a, b, b])),
}
for product in ("MatMul", "Gemm", "Conv"):
    ROWS[product] = ROWS[f"{product} k=1"] = 2, 1, lambda made, a, b: [made("Mul", a, b)]
    ROWS[f"{product} k=2"] = 2, 2, lambda made, a, b, c, d: [made("Add", made("Mul", a, c), made("Mul", b, d))]


@dataclass(frozen=True)
class Term:
    """An operand by its name, if `operation` is empty; otherwise an operation on other terms. `kind` is its type.

    Linear is 3/4 of its first input and 1/4 of its second, Mean half their sum.
    """

    operation: str
    kind: str
    inputs: tuple[Term, ...] = ()
    numbers: tuple[float, ...] = ()
    pair: str = ""
    name: str = ""

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


class Equation(NamedTuple):
    """Two terms that are said to be equal; `exact` says of each whether its arithmetic is real."""

    left: Term
    right: Term
    exact: tuple[bool, bool]

    def __str__(self) -> str:
        return f"{self.left} = {self.right}"

    @property
    def sides(self) -> Iterator[tuple[Term, bool]]:
        return zip(self[:2], self.exact, strict=True)

    @property
    def operands(self) -> list[Term]:
        """In the order in which they appear."""
        return list(dict.fromkeys(one for term in self[:2] for one in term.parts() if not one.operation))

    @property
    def pairs(self) -> list[str]:
        return list(dict.fromkeys(one.pair for term in self[:2] for one in term.parts() if one.pair))

    def replaced(self, by: Mapping[Term, Term]) -> Equation:
        return Equation(self.left.replaced(by), self.right.replaced(by), self.exact)


def parsed(text: str) -> ast.expr:
    """An expression's tree, of bounded length and depth; nothing is evaluated."""
    require(len(text) <= LONGEST, f"an expression has {len(text)} characters: at most {LONGEST} are allowed")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ProofRefused(f"{text} is no expression") from None
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for one in level for child in ast.iter_child_nodes(one)]
    require(not level, "an expression is nested too deeply")
    return tree


@dataclass
class TermReader:
    """Turns text into terms, innermost first. `kinds` are element types of pairs, `codes` those of operands."""

    real: str
    kinds: Mapping[str, str]
    codes: Mapping[str, str]

    def read(self, text: str) -> tuple[list[Term], bool]:
        """The terms of a side, and whether it is computed in real arithmetic: exact(…)."""
        tree = parsed(text)
        name, args, _ = call_of(tree)
        is_exact = name == "exact" and len(args) == 1
        calls = [args for name, args, _ in map(call_of, ast.walk(tree)) if name in ("Q", "DQ")]
        self.taken = {one.id for args in calls for one in args[1:] if isinstance(one, ast.Name)}
        self.pairs: list[str] = []  # in order of appearance
        return self.row(args[0] if is_exact else tree, 0), is_exact

    def term(self, text: str) -> Term:
        """The term that a step writes."""
        terms, is_exact = self.read(text)
        require(len(terms) == 1 and not is_exact, f"{text} is no term of a proof")
        return terms[0]

    def row(self, node: ast.expr, width: int) -> list[Term]:
        """The terms of a row of `width` values; 0 if the reader does not care."""
        match node:
            case ast.Name(operand):
                return [self.operand(operand, k) for k in range(width or 1)]
            case ast.Subscript(ast.Name(operand), ast.Constant(int(index))) if width < 2 and 1 <= index <= 9:
                return [self.operand(operand, index)]
        name, args, options = call_of(node)
        if name in ("Q", "DQ"):
            return self.quantization(node, width)
        if name == "constant" and len(args) == 1 and not options:
            return self.row(args[0], width)
        count, each, make = ROWS.get(" ".join([name, *(f"{key}={value!r}" for key, value in options.items())]), NOTHING)
        if len(args) == count:
            return make(self.made, *(one for row in self.rows(args, each) for one in row))
        if len(args) == ELEMENTWISE.get(name) and not options:
            rows = self.rows(args[:1] if name == "Clip" else args, width)
            numbers = tuple(map(number_in, args[len(rows) :]))
            return [self.made(name, *row, numbers=numbers) for row in zip(*rows, strict=True)]
        raise ProofRefused(f"{ast.unparse(node)} is neither an operand nor an operation that this checker knows")

    def operand(self, name: str, index: int) -> Term:
        return Term("", self.codes.get(name, self.real), name=f"{name}[{index}]" if index else name)

    def rows(self, nodes: list[ast.expr], width: int) -> list[list[Term]]:
        """Rows of one width."""
        rows = [self.row(one, width) for one in nodes]
        fit = all(len(one) == (width or len(rows[0])) for one in rows)
        require(fit, f"{ast.unparse(nodes[0])} has another width than its operation takes")
        return rows

    def quantization(self, node: ast.expr, width: int) -> list[Term]:
        name, args, options = call_of(node)
        given = [one.id for one in args[1:] if isinstance(one, ast.Name)]
        require(len(args) == 1 + len(given) <= 2, f"{ast.unparse(node)}: {name} takes a value and the name of a pair")
        inner = self.row(args[0], width)
        pair = self.named(given[0] if given else inner[0].pair if name == "DQ" and inner[0].operation == "Q" else "")
        known = pair in self.kinds and options in ({}, {"type": self.kinds[pair]})
        require(known, f"the certificate has no type of {pair}, or another one than its claim")
        return [self.made(name, one, pair=pair) for one in inner]

    def named(self, name: str) -> str:
        numbered = (f"s{number}" for number in itertools.count(len(self.pairs) + 1))
        name = name or next(one for one in numbered if one not in self.taken)
        if name not in self.pairs:
            self.pairs.append(name)
        return name

    def made(self, operation: str, *inputs: Term, numbers: tuple[float, ...] = (), pair: str = "") -> Term:
        """ProofRefused if an operation is given another type than it takes."""
        wanted = {"Max": inputs[0].kind, "DQ": self.kinds.get(pair, "")}.get(operation, self.real)
        require(all(one.kind == wanted for one in inputs), f"{operation} of {inputs[-1]} takes numbers of {wanted}")
        kind = {"Max": inputs[0].kind, "Q": self.kinds.get(pair, "")}.get(operation, self.real)
        return Term(operation, kind, inputs, numbers, pair)


def call_of(node: ast.AST) -> tuple[str, list[ast.expr], dict[str, Any]]:
    """The function that is called by name, its arguments and options; without a name if none is."""
    match node:
        case ast.Call(ast.Name(name), args, keywords):
            values = [one.value.value if isinstance(one.value, ast.Constant) else None for one in keywords]
            known = [value if type(value) in (int, str) else None for value in values]
            return name, args, {str(one.arg): value for one, value in zip(keywords, known, strict=True)}
    return "", [], {}


def number_in(node: ast.expr) -> float:
    value: Any = None
    with suppress(ValueError, TypeError, SyntaxError, RecursionError):
        value = ast.literal_eval(node)
    require(type(value) in (int, float) and abs(value) <= 1e30, f"{ast.unparse(node)} is no number")
    return float(value)
