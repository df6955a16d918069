"""Integer expressions as z3's bit vectors (distribution z3-solver, extra `proofs`, MIT)."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import z3

from tiebreak.conformance.proof_checker.integer_expressions import condition_value, integer_value


class Z3Words:
    """Two's complement words that no step leaves; products may be any numbers within their bounds."""

    def __init__(self, bits: int, *, abstracted: bool) -> None:
        self.bits, self.abstracted = bits, abstracted
        self.products: dict[tuple[int, int], tuple[Any, Any, Any]] = {}  # with the factors, whose ids stay theirs
        self.facts: list[Any] = []

    def constant(self, value: int) -> Any:
        return z3.BitVecVal(value, self.bits)

    def product(self, a: Any, b: Any) -> Any:
        if not self.abstracted:
            return a * b
        key = (a.get_id(), b.get_id())
        if key not in self.products:
            found = z3.BitVec(f"product {len(self.products)}", self.bits)
            zero = self.constant(0)
            # The sign of a product, and that a factor of zero makes it zero, are true of every product.
            self.facts += [
                z3.Implies(z3.Or(a == 0, b == 0), found == 0),
                z3.Implies(z3.And(a != 0, b != 0), (found < zero) == ((a < 0) != (b < 0))),
                z3.Implies(z3.And(a != 0, b != 0), found != 0),
                *(found >= -self.constant(1 << self.bits - 2), found <= self.constant((1 << self.bits - 2) - 1)),
            ]
            self.products[key] = (found, a, b)
        return self.products[key][0]

    def left(self, a: Any, by: Any) -> Any:
        return a << by

    def right(self, a: Any, by: Any) -> Any:
        return a >> by  # z3's >> of bit vectors copies the sign

    def toward_zero(self, a: Any, bits: int) -> Any:
        return z3.If(a < 0, -(-a >> bits), a >> bits)

    def choose(self, truth: Any, yes: Any, no: Any) -> Any:
        return z3.If(truth, yes, no)

    def both(self, a: Any, b: Any) -> Any:
        return z3.And(a, b)

    def either(self, a: Any, b: Any) -> Any:
        return z3.Or(a, b)

    def inverse(self, a: Any) -> Any:
        return z3.Not(a)


class Z3Question:
    """Whether two sides can differ for words within their ranges that meet a condition."""

    def __init__(
        self,
        sides: tuple[ast.expr, ast.expr],
        given: ast.expr | None,
        ranges: Mapping[str, tuple[int, int]],
        bits: int,
        *,
        abstracted: bool,
        seconds: int,
    ) -> None:
        machine = Z3Words(bits, abstracted=abstracted)
        self.words = {name: z3.BitVec(name, bits) for name in ranges}
        self.solver = z3.SolverFor("QF_BV")
        self.solver.set("timeout", 1000 * seconds)
        for name, (low, high) in ranges.items():
            self.solver.add(self.words[name] >= machine.constant(low), self.words[name] <= machine.constant(high))
        left, right = (integer_value(side, self.words, machine) for side in sides)
        self.solver.add(left != right)
        if given is not None:
            self.solver.add(condition_value(given, self.words, machine))
        self.solver.add(*machine.facts)

    @property
    def name(self) -> str:
        return f"z3 {z3.get_version_string()}"

    def answer(self) -> str:
        """sat, unsat or unknown."""
        return str(self.solver.check())

    def model(self) -> str:
        found: Any = self.solver.model()
        return ", ".join(f"{name} = {found.eval(word, True).as_signed_long()}" for name, word in self.words.items())
