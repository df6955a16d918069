"""Claims about integers: z3 looks for a difference, or Python's integers compute the counterexample.

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
from typing import Any, NamedTuple

from tiebreak.conformance.proof_checker.refusal import INTEGER, ProofRefused, ProofUndecided, check_form, require
from tiebreak.conformance.proof_checker.terms import call_of, parsed

Interval = tuple[int, int]
SECONDS = 120  # for z3
MOST_SHIFT, MOST_BITS = 71, 160
FORM = {"left": str, "right": str, "given": str, "ranges": {str: (int, int)}}
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
COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt}
COMPARISONS |= {ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne}
SHIFTS = {ast.LShift: operator.lshift, ast.RShift: operator.rshift}  # of z3's words, too, the second copies the sign
OPERATORS = COMPARISONS | SHIFTS | {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
OPERATORS |= {ast.BitAnd: operator.and_}


class IntegerMeaning(NamedTuple):
    """What constants, operators (by their type in a tree) and choices (by a truth, of two) are; here Python's."""

    constant: Callable[[int], Any] = int
    step: Callable[[type, Any, Any], Any] = lambda kind, a, b: OPERATORS[kind](a, b)
    choice: Callable[[Any, Any, Any], Any] = lambda truth, yes, no: yes if truth else no


def check_integers(data: Mapping[str, Any], _: object) -> list[str]:
    """What was checked, a line each. ProofRefused if the claim does not hold, or z3 gives up."""
    claim = data["claim"]
    check_form(claim, FORM, "the claim")
    trees = [parsed(text) for text in (claim["left"], claim["right"], claim["given"] or "0 == 0")]
    ranges = {name: (low, high) for name, (low, high) in claim["ranges"].items()}
    names = {one.id for tree in trees for one in ast.walk(tree) if isinstance(one, ast.Name)} - set(FUNCTIONS)
    fit = set(ranges) == names and all(low <= high for low, high in ranges.values())
    require(fit, "the names of the claim are not those with ranges")
    bits = width_of(trees, ranges)
    if data["verdict"] == "REFUTED":
        return [computed(trees, ranges, data["counterexample"])]
    return [solved(trees, ranges, bits)]


def value_in(node: ast.expr, words: Mapping[str, Any], meaning: IntegerMeaning) -> Any:
    """The value of an expression, or the truth of a condition. ProofRefused if it is neither."""
    constant, step, choice = meaning

    def inner(one: ast.expr) -> Any:
        return value_in(one, words, meaning)

    match node:
        case ast.Name(name) if name in words:
            return words[name]
        case ast.Constant(value) if type(value) is int and abs(value) < 1 << 64:
            return constant(value)
        case ast.UnaryOp(ast.USub(), operand):
            return step(ast.Sub, constant(0), inner(operand))
        case ast.UnaryOp(ast.Not(), operand):
            return choice(inner(operand), False, True)
        case ast.BinOp(left, kind, right) if type(kind) in OPERATORS:
            return step(type(kind), inner(left), inner(right))
        case ast.IfExp(test, body, other):
            return choice(inner(test), inner(body), inner(other))
        case ast.BoolOp(ast.And() | ast.Or() as both, [first, *others]):
            found = inner(first)
            for one in map(inner, others):
                found = choice(found, one, False) if isinstance(both, ast.And) else choice(found, True, one)
            return found
        case ast.Compare(left, kinds, others) if all(type(one) in OPERATORS for one in kinds):
            parts, found = [inner(one) for one in (left, *others)], True
            for one, a, b in zip(kinds, parts, parts[1:], strict=False):
                found = choice(step(type(one), a, b), found, False)
            return found
    name, args, options = call_of(node)
    known = name in BODIES and not options and len(args) == len(BODIES[name][0])
    require(known, f"{ast.unparse(node)} is no integer expression that this checker knows")
    names, body = BODIES[name]
    return value_in(body, dict(zip(names, map(inner, args), strict=True)), meaning)


def width_of(trees: list[ast.expr], ranges: Mapping[str, Interval]) -> int:
    """Bits of words that no step leaves. ProofRefused for a shift whose distance can be one that is not defined."""
    largest = [1 << 64, *(abs(end) for ends in ranges.values() for end in ends)]

    def step(kind: type, a: Interval, b: Interval) -> Interval:
        found = bounds_of(kind, a, b)
        largest.append(max(map(abs, found)))
        return found

    def either(_: Any, *some: Any) -> Interval:
        ends = [one if isinstance(one, tuple) else (0, 1) for one in some]
        return min(low for low, _ in ends), max(high for _, high in ends)

    for tree in trees:
        value_in(tree, ranges, IntegerMeaning(lambda value: (value, value), step, either))
    bits = max(largest).bit_length()
    require(bits <= MOST_BITS, f"a step can need more than {MOST_BITS} bits")
    return bits + 2


def bounds_of(kind: type, a: Interval, b: Interval) -> Interval:
    """Bounds of a step's result, or of a comparison's truth."""
    if kind in COMPARISONS:
        return 0, 1
    if kind is ast.BitAnd:
        bound = 1 << max(abs(end) for end in (*a, *b)).bit_length()
        return (0 if a[0] >= 0 or b[0] >= 0 else -bound), bound
    defined = kind not in SHIFTS or 0 <= b[0] <= b[1] <= MOST_SHIFT
    require(defined, f"a shift by {b[0]} to {b[1]}: 0 to {MOST_SHIFT} are defined")
    found = [OPERATORS[kind](x, y) for x, y in product(a, b)]  # it rises or falls with each alone: ends have ends
    return min(found), max(found)


def computed(trees: list[ast.expr], ranges: Mapping[str, Interval], example: Mapping[str, Any]) -> str:
    """A counterexample, in Python's integers."""
    check_form(example, {"operands": {str: INTEGER}, "left": INTEGER, "right": INTEGER}, "the counterexample")
    words = {name: int(text) for name, text in example["operands"].items()}
    require(set(words) == set(ranges), "the counterexample has not the names of the claim")
    for name, value in words.items():
        require(ranges[name][0] <= value <= ranges[name][1], f"{name} = {value} lies outside its range")
    left, right, given = (value_in(tree, words, IntegerMeaning()) for tree in trees)
    require(given, "the counterexample does not meet the claim's condition")
    fit = [left, right] == [int(example["left"]), int(example["right"])] and left != right
    require(fit, "the sides are not what the counterexample says, or do not differ")
    return f"the left side is {left} and the right side is {right}, by Python's integers"


def solved(trees: list[ast.expr], ranges: Mapping[str, Interval], bits: int) -> str:
    """Asks z3 whether the sides can differ."""
    try:
        import z3
    except ModuleNotFoundError:
        raise ProofUndecided("a claim about integers is checked by z3: pip install 'tiebreak[proofs]'") from None

    words: dict[str, Any] = {name: z3.BitVec(name, bits) for name in ranges}
    solver = z3.SolverFor("QF_BV")
    solver.set("timeout", 1000 * SECONDS)
    solver.add(*(z3.And(low <= words[name], words[name] <= high) for name, (low, high) in ranges.items()))

    def step(kind: type, a: Any, b: Any) -> Any:
        found = OPERATORS[kind](a, b)
        if kind is ast.Mult:  # what holds of each product, and z3 hardly finds by itself
            signs = z3.Or(found == 0, (found < 0) == ((a < 0) != (b < 0)))
            solver.add(signs, (found == 0) == z3.Or(a == 0, b == 0), found >= -(1 << bits - 2), found < 1 << bits - 2)
        return found

    def choice(truth: Any, yes: Any, no: Any) -> Any:
        return (yes if truth else no) if isinstance(truth, bool) else z3.If(truth, yes, no)

    meaning = IntegerMeaning(lambda value: z3.BitVecVal(value, bits), step, choice)
    try:
        left, right, given = (value_in(tree, words, meaning) for tree in trees)
        solver.add(left != right, given)
    except (z3.Z3Exception, TypeError, AttributeError):
        raise ProofRefused("a side is no integer, or the condition no truth") from None
    answer = str(solver.check())
    if answer == "sat":
        model: Any = solver.model()
        found = ", ".join(f"{name} = {model.eval(one, True).as_signed_long()}" for name, one in words.items())
        raise ProofRefused(f"z3 finds words at which the sides differ: {found}")
    if answer != "unsat":
        raise ProofUndecided(f"z3 gave up after {SECONDS} s: whether the claim holds is not known to this checker")
    return f"z3 {z3.get_version_string()} shows that no words in the ranges differ, in words of {bits} bits"
