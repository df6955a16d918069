"""Claims about integers: z3 looks for a difference, or Python's integers compute the counterexample."""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from typing import Any

from tiebreak.conformance.proof_checker.integer_expressions import Interval, names_in, value_in, width_of
from tiebreak.conformance.proof_checker.refusal import ProofRefused, check_form, shortened
from tiebreak.conformance.proof_checker.terms import parsed

SECONDS = 120  # for each of two questions to z3
FORM = {"left": str, "right": str, "given": str, "ranges": {str: (int, int)}}
Sides = tuple[ast.expr, ast.expr]


def check_integers(data: Mapping[str, Any]) -> list[str]:
    """What was checked, a line each. ProofRefused if the claim does not hold, or z3 gives up."""
    claim = data["claim"]
    check_form(claim, FORM, "the claim")
    sides, given = (parsed(claim["left"]), parsed(claim["right"])), parsed(claim["given"] or "0 == 0")
    ranges = {name: (low, high) for name, (low, high) in claim["ranges"].items()}
    if set(ranges) != names_in(*sides, given) or any(low > high for low, high in ranges.values()):
        raise ProofRefused("the names of the claim are not those with ranges")
    bits = width_of([*sides, given], ranges)
    if data["verdict"] == "REFUTED":
        return [computed(sides, given, ranges, data["counterexample"])]
    return [solved(sides, given, ranges, bits)]


def computed(sides: Sides, given: ast.expr, ranges: Mapping[str, Interval], example: Mapping[str, Any]) -> str:
    """A counterexample, in Python's integers."""
    words = {name: integer_in(text) for name, text in example["operands"].items()}
    if set(words) != set(ranges):
        raise ProofRefused("the counterexample has not the names of the claim")
    for name, value in words.items():
        if not ranges[name][0] <= value <= ranges[name][1]:
            raise ProofRefused(f"{shortened(name)} = {value} lies outside its range")
    if not value_in(given, words):
        raise ProofRefused("the counterexample does not meet the claim's condition")
    found = [value_in(side, words) for side in sides]
    if found != [integer_in(example[name]) for name in ("left", "right")] or found[0] == found[1]:
        raise ProofRefused("the sides are not what the counterexample says, or do not differ")
    return f"the left side is {found[0]} and the right side is {found[1]}, by Python's integers"


def integer_in(text: str) -> int:
    if not text.removeprefix("-").isdecimal() or len(text) > 40 or not text.isascii():
        raise ProofRefused(f"{shortened(text)} is no integer")
    return int(text)


def solved(sides: Sides, given: ast.expr, ranges: Mapping[str, Interval], bits: int) -> str:
    """Asks z3 whether the sides can differ; first with any numbers in the place of products, which is easier."""
    try:
        import z3
    except ModuleNotFoundError:
        raise ProofRefused("a claim about integers is checked by z3: pip install 'tiebreak[proofs]'") from None

    words: dict[str, Any] = {name: z3.BitVec(name, bits) for name in ranges}
    solver, products = z3.SolverFor("QF_BV"), dict[Any, Any]()
    solver.set("timeout", 1000 * SECONDS)
    solver.add(*(z3.And(low <= words[name], words[name] <= high) for name, (low, high) in ranges.items()))

    def word(one: Any) -> Any:
        return z3.BitVecVal(one, bits) if type(one) is int else one

    def choose(truth: Any, yes: Any, no: Any) -> Any:
        return (yes if truth else no) if isinstance(truth, bool) else z3.If(truth, word(yes), word(no))

    def any_product(a: Any, b: Any) -> Any:
        """A word of which only its sign, and where it is zero, are known; of the same factors the same."""
        a, b = word(a), word(b)
        found, _ = products.setdefault((a.get_id(), b.get_id()), (z3.BitVec(f"p{len(products)}", bits), (a, b)))
        solver.add((found == 0) == z3.Or(a == 0, b == 0))
        solver.add(z3.Or(found == 0, (found < 0) == ((a < 0) != (b < 0))))
        solver.add(found >= -(1 << bits - 2), found < 1 << bits - 2)
        return found

    for multiply in (any_product, operator.mul):
        solver.push()
        try:
            left, right, truth = (value_in(one, words, choose, multiply) for one in (*sides, given))
            solver.add(left != right, truth)
        except z3.Z3Exception:
            raise ProofRefused("a side is no integer, or the condition no truth") from None
        answer = str(solver.check())
        if answer == "unsat":
            return f"z3 {z3.get_version_string()} shows that no words in the ranges differ, in words of {bits} bits"
        if answer == "sat" and not (multiply is any_product and products):
            model: Any = solver.model()
            found = ", ".join(f"{n} = {model.eval(one, True).as_signed_long()}" for n, one in words.items())
            raise ProofRefused(f"z3 finds words at which the sides differ: {found}")
        solver.pop()
    raise ProofRefused(f"z3 gave up after {SECONDS} s: whether the claim holds is not known to this checker")
