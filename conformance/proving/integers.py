"""Claims about integers: rescaling as TOSA, gemmlowp and kernels do it, for all words of given ranges.

    single_round(v, m, s) = double_round(v, m, s)        with v=int32, m=0..2147483647, s=2..62

An SMT solver, Bitwuzla, decides them (extra `proofs`). Words have as many bits as no step can leave.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.lemmas import steps
from tiebreak.golden.lemmas.model import WIDTH, Lemma
from tiebreak.golden.lemmas.words import Word
from tiebreak.golden.patterns.text import named, shown
from tiebreak.golden.untrusted_text import printable

Words = Mapping[str, Word]
BITS = 72  # of words: products of two words of 32 bits, sums of some of them, and shifts of these by a few more
MOST_BITS = 64  # of a range's ends
INTEGER_EXAMPLE = "single_round(v, m, s) = double_round(v, m, s)"


@dataclass(frozen=True)
class IntegerFunction:
    """A function of words by its source's name."""

    parameters: int
    apply: Callable[..., Word]
    source: str
    shifts: bool = True  # by its last parameter


def round_even(v: Word, s: Word) -> Word:
    """v / 2^s to nearest, ties to even: half of a unit less the last place, plus its last bit, cut off."""
    return (v + (v.of(1) << (s - 1)) - 1 + (v >> s).bits_and(1)) >> s


FUNCTIONS: Mapping[str, IntegerFunction] = {
    "single_round": IntegerFunction(3, lambda v, m, s: steps.single(v * m, s), steps.TOSA),
    "double_round": IntegerFunction(3, lambda v, m, s: steps.double(WIDTH, v * m, v < 0, s), steps.TOSA),
    "high_mul": IntegerFunction(2, lambda v, m: steps.high_mul(WIDTH, v * m), steps.GEMMLOWP, False),
    "divide_by_power": IntegerFunction(2, steps.divide_by_power, steps.GEMMLOWP),
    "shift_up": IntegerFunction(2, steps.upward_by_power, steps.EARLIER),
    "round_even": IntegerFunction(2, round_even, "IEEE 754-2019, 4.3.1, roundTiesToEven of v / 2^s"),
    "kernels_single": IntegerFunction(3, lambda v, m, s: steps.kernels_single(v * m, s), steps.COMMON),
}
OPERATORS: Mapping[type[ast.operator], Callable[[Word, Word], Word]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.LShift: lambda a, b: a << b,
    ast.RShift: lambda a, b: a >> b,
    ast.BitAnd: lambda a, b: a.bits_and(b),
}
COMPARISONS: Mapping[type[ast.cmpop], Callable[[Word, Word], Word]] = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a.same(b),
    ast.NotEq: lambda a, b: ~a.same(b),
}


def is_about_integers(left: ast.expr, right: ast.expr) -> bool:
    """Whether a side has an integer function, or an operator."""
    return any(
        isinstance(one, ast.BinOp) or (isinstance(one, ast.Call) and named(one) in FUNCTIONS)
        for side in (left, right)
        for one in ast.walk(side)
    )


def integer_lemma(
    text: str, left: ast.expr, right: ast.expr, ranges: Mapping[str, str], given: ast.expr | None
) -> Lemma:
    """The claim that two integers are equal, as a lemma. InvalidInput if a name lacks a range, or is none."""
    parts = [left, right, *([given] if given is not None else [])]
    names = sorted({one.id for part in parts for one in ast.walk(part) if isinstance(one, ast.Name)} - set(FUNCTIONS))
    if not names:
        raise InvalidInput("a claim about integers has at least one name, such as v in v + 0 = v")
    if missing := [name for name in names if name not in ranges]:
        raise InvalidInput(f"{printable(missing[0], 40)} has no range: add --let {printable(missing[0], 40)}=int32")
    if unused := [name for name in ranges if name not in names]:
        raise InvalidInput(f"--let {printable(unused[0], 40)}: the claim has {', '.join(names) or 'no names'}")
    ends = {name: ends_of(name, ranges[name]) for name in names}
    for side in (left, right):
        interval(side, ends)
    if given is not None:
        check_condition(given, ends)

    def claim(w: int, **words: Word) -> Word:
        return value(left, words).same(value(right, words))

    def condition(w: int, **words: Word) -> Word:
        assert given is not None
        return truth(given, words)

    return Lemma(
        id="claim",
        statement=text,
        sources=tuple(sorted({FUNCTIONS[name].source for name in functions_in(parts)})),
        clauses=(),
        domain=lambda w: ends,
        claim=claim,
        given=condition if given is not None else None,
        sides=lambda w, **words: (value(left, words), value(right, words)),
        bits=lambda w: BITS,
    )


def functions_in(parts: list[ast.expr]) -> set[str]:
    calls = (one for part in parts for one in ast.walk(part) if isinstance(one, ast.Call))
    return {named(one) for one in calls if named(one) in FUNCTIONS}


def ends_of(name: str, text: str) -> tuple[int, int]:
    """The ends of LOW..HIGH, of a number, or of an integer type."""
    if text in INTEGER_TYPES:
        return INTEGER_TYPES[text].lowest, INTEGER_TYPES[text].highest
    low, dots, high = text.partition("..")
    try:
        ends = int(low), int(high if dots else low)
    except ValueError:
        ends = 1, 0
    if ends[0] > ends[1] or max(map(abs, ends)) >= 1 << MOST_BITS - 1:
        raise InvalidInput(
            f"--let {printable(name, 40)}={printable(text, 60)}: a range is LOW..HIGH within int64, or an integer type"
        )
    return ends


def interval(written: ast.expr, ends: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    """The least and the greatest value that it can have, or bounds of them.

    InvalidInput unless it is an integer expression whose steps fit the words, with shifts by 0 or more.
    """
    if isinstance(written, ast.Name) and written.id in ends:
        return ends[written.id]
    if isinstance(written, ast.Constant) and is_integer(written.value):
        return int(str(written.value)), int(str(written.value))
    if isinstance(written, ast.UnaryOp) and isinstance(written.op, ast.USub):
        low, high = interval(written.operand, ends)
        return -high, -low
    if isinstance(written, ast.BinOp) and type(written.op) in OPERATORS:
        return fitting(written, of_operator(written, interval(written.left, ends), interval(written.right, ends)))
    if isinstance(written, ast.Call) and named(written) in FUNCTIONS and not written.keywords:
        function = FUNCTIONS[named(written)]
        if len(written.args) != function.parameters:
            raise InvalidInput(f"{shown(written)}: {named(written)} takes {function.parameters} numbers")
        return fitting(written, of_function(written, [interval(one, ends) for one in written.args]))
    raise InvalidInput(f"{shown(written)} is no integer: there are + - * << >> &, numbers, and {', '.join(FUNCTIONS)}")


def of_operator(written: ast.BinOp, left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    kind = type(written.op)
    if kind in (ast.LShift, ast.RShift) and not 0 <= right[0] <= right[1] < BITS:
        raise InvalidInput(f"{shown(written)} shifts by {right[0]} to {right[1]}: 0 to {BITS - 1} is allowed")
    if kind is ast.BitAnd:  # no further from zero than a power of two above both
        bound = 1 << max(abs(end) for end in (*left, *right)).bit_length()
        return (0, bound) if left[0] >= 0 or right[0] >= 0 else (-bound, bound)
    steps_ = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
    step = steps_.get(kind, operator.lshift if kind is ast.LShift else operator.rshift)
    found = [step(a, b) for a in left for b in right]
    return min(found), max(found)


def of_function(written: ast.Call, parts: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Bounds of each of a function's steps: its product, and what it adds to that."""
    *numbers, shift = parts if FUNCTIONS[named(written)].shifts else [*parts, (1, 1)]
    if not 1 <= shift[0] <= shift[1] < BITS:
        raise InvalidInput(f"{shown(written)} shifts by {shift[0]} to {shift[1]}: 1 to {BITS - 1} is allowed")
    bound = math.prod(max(map(abs, one)) for one in numbers) + (1 << shift[1]) + (1 << WIDTH)
    return -bound, bound


def fitting(written: ast.expr, found: tuple[int, int]) -> tuple[int, int]:
    if max(map(abs, found)) >= 1 << BITS - 1:
        raise InvalidInput(f"{shown(written)} can leave words of {BITS} bits: give smaller ranges")
    return found


def is_integer(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and abs(number) < 1 << MOST_BITS


def check_condition(written: ast.expr, ends: Mapping[str, tuple[int, int]]) -> None:
    """Raise InvalidInput unless it compares integers."""
    if isinstance(written, ast.BoolOp):
        for one in written.values:
            check_condition(one, ends)
    elif isinstance(written, ast.UnaryOp) and isinstance(written.op, ast.Not):
        check_condition(written.operand, ends)
    elif isinstance(written, ast.Compare) and all(type(one) in COMPARISONS for one in written.ops):
        for part in (written.left, *written.comparators):
            interval(part, ends)
    else:
        raise InvalidInput(f"{shown(written)} is no condition: compare integers, with and, or and not between")


def value(written: ast.expr, words: Words) -> Word:
    """An integer expression as a word."""
    if isinstance(written, ast.Name):
        return words[written.id]
    if isinstance(written, ast.Constant):
        return next(iter(words.values())).of(int(str(written.value)))
    if isinstance(written, ast.UnaryOp):
        return next(iter(words.values())).of(0) - value(written.operand, words)
    if isinstance(written, ast.BinOp):
        return OPERATORS[type(written.op)](value(written.left, words), value(written.right, words))
    assert isinstance(written, ast.Call)
    return FUNCTIONS[named(written)].apply(*(value(one, words) for one in written.args))


def truth(written: ast.expr, words: Words) -> Word:
    """A condition as a truth."""
    if isinstance(written, ast.UnaryOp):
        return ~truth(written.operand, words)
    if isinstance(written, ast.BoolOp):
        first, *others = (truth(one, words) for one in written.values)
        for other in others:
            first = first & other if isinstance(written.op, ast.And) else first | other
        return first
    assert isinstance(written, ast.Compare)
    parts = [value(one, words) for one in (written.left, *written.comparators)]
    found = [COMPARISONS[type(op)](a, b) for op, a, b in zip(written.ops, parts[:-1], parts[1:], strict=True)]
    result = found[0]
    for other in found[1:]:
        result = result & other
    return result
