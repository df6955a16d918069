"""The numbers that a proof is about, as terms: `Q(Max(DQ(x, s), DQ(x[1], s)), s)`, read from text."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tiebreak.conformance.proof_checker.refusal import ProofRefused, shortened

LONGEST, DEEPEST = 4000, 60
# Inputs, numbers, and whether a pair of scale and zero point follows.
FORMS = {
    "Q": (1, 0, True),
    "DQ": (1, 0, True),
    "Relu": (1, 0, False),
    "Clip": (1, 2, False),
    "Sigmoid": (1, 0, False),
    "Tanh": (1, 0, False),
    **dict.fromkeys(("Add", "Sub", "Mul", "Max", "Mean", "Linear", "Softmax"), (2, 0, False)),
}


@dataclass(frozen=True)
class Term:
    """An operand by its name, if `operation` is empty; otherwise an operation on other terms.

    Linear is 3/4 of its first input and 1/4 of its second, Mean half their sum.
    """

    operation: str = ""
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

    def with_inputs(self, inputs: tuple[Term, ...]) -> Term:
        return replace(self, inputs=inputs)


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


def term_of(text: str) -> Term:
    """The term that a step writes."""
    return read_term(parsed(text))


def read_term(node: ast.AST) -> Term:
    if isinstance(node, ast.Name):
        return Term(name=node.id)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Constant):
        index = node.slice.value
        if isinstance(index, int) and 1 <= index <= 9:
            return Term(name=f"{node.value.id}[{index}]")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        inputs, numbers, paired = FORMS.get(node.func.id, (-1, 0, False))
        if len(node.args) == inputs + numbers + paired:
            pair = node.args[-1] if paired else None
            if pair is None or isinstance(pair, ast.Name):
                return Term(
                    node.func.id,
                    tuple(read_term(one) for one in node.args[:inputs]),
                    tuple(number_in(one) for one in node.args[inputs : inputs + numbers]),
                    pair.id if pair is not None else "",
                )
    raise ProofRefused(f"{shortened(ast.unparse(node))} is no term of a proof")


def number_in(node: ast.AST) -> float:
    sign = -1.0 if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else 1.0
    inner = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    value = inner.value if isinstance(inner, ast.Constant) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e30 or math.isnan(value):
        raise ProofRefused(f"{shortened(ast.unparse(node))} is no number")
    return sign * float(value)


def operands_of(*terms: Term) -> list[str]:
    """Names of operands, in the order in which they appear."""
    return list(dict.fromkeys(part.name for term in terms for part in term.parts() if not part.operation))


def pairs_of(*terms: Term) -> list[str]:
    return list(dict.fromkeys(part.pair for term in terms for part in term.parts() if part.pair))


def substituted(term: Term, name: str, by: Term) -> Term:
    """The term with an operand replaced."""
    if not term.operation:
        return by if term.name == name else term
    return term.with_inputs(tuple(substituted(one, name, by) for one in term.inputs))
