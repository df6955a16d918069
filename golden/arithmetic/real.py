"""What a term gives for one element: in real arithmetic, on fractions, or in working precision, each step rounded.

Infinities and NaN are Python floats. An operation that is undefined raises UndefinedResult; where() and or_else() look
at nothing that they do not need.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from tiebreak.golden.arithmetic.results import (
    Result,
    UndefinedResult,
    between_ends,
    clamped,
    float_code,
    is_negative,
    is_number,
)
from tiebreak.golden.arithmetic.term import Term
from tiebreak.golden.elements import FloatType, Real, decode, encode, exponent_of, scaled
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE
from tiebreak.golden.rounding import ROUND_MODES

Values = list[Any]  # of the operands, and then of the parts that a term has twice
Part = Callable[[Values], Any]
Rule = Callable[["RealEvaluation", Term, FloatType | None], Part]
NOT_YET = object()


class RealEvaluation:
    """A term made ready to be evaluated for many elements; `kind` is the working type, None for real arithmetic.

    `hear` is told of each number that is rounded to an integer, in their order.
    """

    def __init__(self, term: Term, kind: FloatType | None, hear: Callable[[Real], None] | None = None) -> None:
        self.hear = hear
        self.uses = Counter[Term]()
        self.count_uses(term)
        self.made: dict[tuple[Term, FloatType | None], Part] = {}
        self.shared = 0
        self.operands = 1 + max((one.constant[0] for one in self.uses if one.name == "operand"), default=-1)
        self.result = self.part(term, kind)

    def __call__(self, operands: Sequence[Real]) -> Result:
        found: Result = self.result([*operands[: self.operands], *[NOT_YET] * self.shared])
        return found

    def count_uses(self, term: Term) -> None:
        self.uses[term] += 1
        if self.uses[term] == 1:
            for arg in term.args:
                self.count_uses(arg)

    def part(self, term: Term, kind: FloatType | None) -> Part:
        if (term, kind) not in self.made:
            made = RULES[term.name](self, term, kind)
            self.made[term, kind] = self.once(made) if self.uses[term] > 1 and term.args else made
        return self.made[term, kind]

    def parts(self, term: Term, kind: FloatType | None) -> list[Part]:
        return [self.part(arg, kind) for arg in term.args]

    def once(self, part: Part) -> Part:
        """A part that is computed once for each element."""
        place = self.operands + self.shared
        self.shared += 1

        def kept(values: Values) -> Any:
            if values[place] is NOT_YET:
                values[place] = part(values)
            return values[place]

        return kept


def in_type(value: Real, kind: FloatType) -> Real:
    """The value after a step that rounds to a type."""
    if isinstance(value, float):  # an infinity or NaN stays; a finite float is 0, a number divided by an infinity
        return Fraction(value) if is_number(value) else value
    return decode(encode(Fraction(value), kind), kind)


def of_operand(run: RealEvaluation, term: Term, kind: FloatType | None) -> Part:
    return operator.itemgetter(term.constant[0])


def of_number(run: RealEvaluation, term: Term, kind: FloatType | None) -> Part:
    return lambda values: term.constant


def of_step(run: RealEvaluation, term: Term, kind: FloatType | None) -> Part:
    (part,) = run.parts(term, kind)
    own = kind and (term.constant or kind)
    return part if own is None else lambda values: in_type(part(values), own)


def of_held(run: RealEvaluation, term: Term, kind: FloatType | None) -> Part:
    (part,) = run.parts(term, kind)
    return lambda values: in_type(part(values), term.constant)


def of_round(run: RealEvaluation, term: Term, kind: FloatType | None) -> Part:
    (part,) = run.parts(term, kind)
    mode, hear = ROUND_MODES[term.constant], run.hear

    def rounded(values: Values) -> Real:
        value = part(values)
        if hear:
            hear(value)
        return value if isinstance(value, float) else Fraction(mode(value))

    return rounded


def of_divide(run: RealEvaluation, term: Term, kind: FloatType | None) -> Part:
    numerator, denominator = run.parts(term, kind)

    def quotient(values: Values) -> Real:
        above, below = numerator(values), denominator(values)
        if not below:
            raise UndefinedResult
        return above / below  # type: ignore[no-any-return]

    return quotient


def of_where(run: RealEvaluation, term: Term, kind: FloatType | None) -> Part:
    condition, yes, no = run.parts(term, kind)
    return lambda values: (yes if condition(values) else no)(values)


def of_require(run: RealEvaluation, term: Term, kind: FloatType | None) -> Part:
    condition, part = run.parts(term, kind)

    def required(values: Values) -> Any:
        if not condition(values):
            raise UndefinedResult
        return part(values)

    return required


def of_undefined(run: RealEvaluation, term: Term, kind: FloatType | None) -> Part:
    def undefined(values: Values) -> Any:
        raise UndefinedResult

    return undefined


def of_finite(run: RealEvaluation, term: Term, kind: FloatType | None) -> Part:
    (part,) = run.parts(term, kind)

    def found(values: Values) -> Fraction:
        value = part(values)
        if not is_number(value):
            raise UndefinedResult
        return Fraction(value)

    return found


def of_agree(run: RealEvaluation, term: Term, kind: FloatType | None) -> Part:
    first, *others = run.parts(term, kind)

    def agreed(values: Values) -> Any:
        found = first(values)
        for other in others:
            if told(other(values)) != told(found):
                raise UndefinedResult
        return found

    return agreed


def told(value: Any) -> Any:
    """A number, or the code of a result."""
    return value[0] if isinstance(value, tuple) else value


def of_or_else(run: RealEvaluation, term: Term, kind: FloatType | None) -> Part:
    part, other = run.parts(term, kind)

    def found(values: Values) -> Any:
        try:
            return part(values)
        except UndefinedResult:
            return other(values)

    return found


def of_and(run: RealEvaluation, term: Term, kind: FloatType | None) -> Part:
    one, other = run.parts(term, kind)
    return lambda values: one(values) and other(values)


def of_or(run: RealEvaluation, term: Term, kind: FloatType | None) -> Part:
    one, other = run.parts(term, kind)
    return lambda values: one(values) or other(values)


def of_form(run: RealEvaluation, term: Term, kind: FloatType | None) -> Part:
    return run.part(term.args[kind is not None], kind)


def of_precision(run: RealEvaluation, term: Term, kind: FloatType | None) -> Part:
    return run.part(term.args[0], term.constant)


def of_result(function: Callable[..., Any]) -> Rule:
    """The rule of an operation on one value and the term's constant."""

    def rule(run: RealEvaluation, term: Term, kind: FloatType | None) -> Part:
        (part,) = run.parts(term, kind)
        return lambda values: function(part(values), term.constant)

    return rule


def of_values(function: Callable[..., Any]) -> Rule:
    """The rule of an operation on the values of all arguments."""

    def rule(run: RealEvaluation, term: Term, kind: FloatType | None) -> Part:
        parts = run.parts(term, kind)
        if len(parts) == 1:
            (only,) = parts
            return lambda values: function(only(values))
        if len(parts) == 2:
            one, other = parts
            return lambda values: function(one(values), other(values))
        return lambda values: function(*(part(values) for part in parts))

    return rule


def sum_of(*values: Real) -> Real:
    return sum(values, Fraction(0))


def smallest(*values: Real) -> Real:
    return min(values)


def largest(*values: Real) -> Real:
    return max(values)


RULES: dict[str, Rule] = {
    "operand": of_operand,
    "number": of_number,
    "step": of_step,
    "held": of_held,
    "round": of_round,
    "divide": of_divide,
    "where": of_where,
    "require": of_require,
    "undefined": of_undefined,
    "finite": of_finite,
    "agree": of_agree,
    "or-else": of_or_else,
    "and": of_and,
    "or": of_or,
    "by-form": of_form,
    "in-precision": of_precision,
    "add": of_values(operator.add),
    "subtract": of_values(operator.sub),
    "multiply": of_values(operator.mul),
    "less": of_values(operator.lt),
    "at-most": of_values(operator.le),
    "equal": of_values(operator.eq),
    "not": of_values(operator.not_),
    "sum": of_values(sum_of),
    "least": of_values(smallest),
    "greatest": of_values(largest),
    "clamp": of_values(clamped),
    "magnitude": of_values(abs),
    "is-nan": of_values(lambda value: value != value),
    "is-finite": of_values(is_number),
    "is-negative": of_values(is_negative),
    "exponent": of_values(lambda value: Fraction(exponent_of(Fraction(value)))),
    "power-of-two": of_values(lambda power: scaled(1, int(power))),
    "wrap": of_result(lambda value, kind: Fraction((int(value) - kind.lowest) % (1 << kind.bits) + kind.lowest)),
    "to-ends": of_result(between_ends),
    "to-float": of_result(float_code),
    "whole": of_values(lambda value: (int(value), IN_RANGE)),
    "end": of_values(lambda value: (int(value), OUT_OF_RANGE)),
    "bits": lambda run, term, kind: lambda values: (term.constant, IN_RANGE),
}
