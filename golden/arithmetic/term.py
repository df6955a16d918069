"""A term: the steps of an operator's formula as a small tree, in its document's own order.

    step(step(x - low) / step(high - low)).by("OVF-F3")

A term is only a description; real.py says what it gives. Each operation is exact, and only step(…) has two meanings. In
real arithmetic it changes nothing. In working precision it rounds to the operator's own type (IEEE 754, ties to even);
what overflows becomes an infinity, and later steps do with it what IEEE 754 does. `by` names the clauses that a step
follows.

Terms are compared by what they say: the same steps of the same operands are the same term, whoever wrote it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from typing import Any

from tiebreak.golden.elements import FloatType, IntegerType

# Rounding modes that documents name in their own words.
AWAY, UPWARD = "ROUND_NEAREST_TOWARD_INFINITY", "ROUND_NEAREST_UPWARD"
TOWARD_ZERO, UP, DOWN = "ROUND_TOWARD_ZERO", "ROUND_UP", "ROUND_DOWN"


@dataclass(frozen=True, eq=False)
class Term:
    """`name` of an operation on `args`; `constant` is what the operation itself has: a number, a type or a mode."""

    name: str
    args: tuple[Term, ...] = ()
    constant: Any = None
    clauses: tuple[str, ...] = field(default=(), compare=False)
    label: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", hash((self.name, self.args, self.constant)))
        object.__setattr__(self, "twin", None)  # an equal term that was found: what it is made of is compared once

    def __hash__(self) -> int:
        return self.key  # type: ignore[attr-defined,no-any-return]

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Term) or self.key != other.key:  # type: ignore[attr-defined]
            return False
        twin = other.twin or other  # type: ignore[attr-defined]
        if (self.twin or self) is twin:  # type: ignore[attr-defined]
            return True
        if (self.name, self.constant, self.args) != (other.name, other.constant, other.args):
            return False
        object.__setattr__(self, "twin", twin)
        return True

    def by(self, *clauses: str) -> Term:
        """The same step with the ids of the clauses that it follows."""
        return replace(self, clauses=(*self.clauses, *clauses))

    def named(self, label: str) -> Term:
        """The same step with a name for its number, the document's if it has one; text.py writes it in formulas."""
        return replace(self, label=label)

    def __add__(self, other: Numeric) -> Term:
        return Term("add", (self, lifted(other)))

    def __radd__(self, other: Numeric) -> Term:
        return Term("add", (lifted(other), self))

    def __sub__(self, other: Numeric) -> Term:
        return Term("subtract", (self, lifted(other)))

    def __rsub__(self, other: Numeric) -> Term:
        return Term("subtract", (lifted(other), self))

    def __mul__(self, other: Numeric) -> Term:
        return Term("multiply", (self, lifted(other)))

    def __rmul__(self, other: Numeric) -> Term:
        return Term("multiply", (lifted(other), self))

    def __truediv__(self, other: Numeric) -> Term:
        """The quotient; undefined for a zero divisor, even if a step rounded it to zero: its sign is lost."""
        return Term("divide", (self, lifted(other)))

    def __rtruediv__(self, other: Numeric) -> Term:
        return Term("divide", (lifted(other), self))

    def __lt__(self, other: Numeric) -> Term:
        return Term("less", (self, lifted(other)))

    def __gt__(self, other: Numeric) -> Term:
        return Term("less", (lifted(other), self))

    def __le__(self, other: Numeric) -> Term:
        return Term("at-most", (self, lifted(other)))

    def __ge__(self, other: Numeric) -> Term:
        return Term("at-most", (lifted(other), self))

    def __and__(self, other: Term) -> Term:
        return Term("and", (self, other))

    def __or__(self, other: Term) -> Term:
        return Term("or", (self, other))

    def __invert__(self) -> Term:
        return Term("not", (self,))


Numeric = Term | Fraction | int
Formula = Callable[..., Term]  # of a problem and a term for each of its operands


def lifted(value: Numeric) -> Term:
    return value if isinstance(value, Term) else Term("number", constant=Fraction(value))


def operand(place: int, name: str) -> Term:
    """The value of an operand, by its place among a problem's operands."""
    return Term("operand", constant=(place, name))


def step(value: Numeric, kind: FloatType | None = None) -> Term:
    """A value after a step: in working precision rounded to the operator's own type, or to `kind`."""
    return Term("step", (lifted(value),), kind)


def held(value: Numeric, kind: FloatType) -> Term:
    """A value rounded to a type in real arithmetic, too: what is put out, and used as it is put out."""
    return Term("held", (lifted(value),), kind)


def rounded(value: Numeric, mode: str) -> Term:
    """A value rounded to an integer; an infinity or NaN stays what it is."""
    return Term("round", (lifted(value),), mode)


def floor(value: Numeric) -> Term:
    return rounded(value, DOWN)


def truncated(value: Numeric) -> Term:
    return rounded(value, TOWARD_ZERO)


def clamp(value: Numeric, low: Numeric, high: Numeric) -> Term:
    """`value` limited to low … high; undefined for NaN, which no document orders among numbers."""
    return Term("clamp", (lifted(value), lifted(low), lifted(high)))


def least(*values: Numeric) -> Term:
    return Term("least", tuple(map(lifted, values)))


def greatest(*values: Numeric) -> Term:
    return Term("greatest", tuple(map(lifted, values)))


def total(values: list[Term]) -> Term:
    return Term("sum", tuple(values))


def magnitude(value: Numeric) -> Term:
    return Term("magnitude", (lifted(value),))


def exponent(value: Numeric) -> Term:
    """floor(log2(value)) of a positive number."""
    return Term("exponent", (lifted(value),))


def power_of_two(exponent: Numeric) -> Term:
    """2 to the power of a whole number."""
    return Term("power-of-two", (lifted(exponent),))


def wrapped(value: Numeric, kind: IntegerType) -> Term:
    """A whole number modulo the count of a type's values."""
    return Term("wrap", (lifted(value),), kind)


def equal(one: Numeric, other: Numeric) -> Term:
    return Term("equal", (lifted(one), lifted(other)))


def is_nan(value: Term) -> Term:
    return Term("is-nan", (value,))


def is_finite(value: Term) -> Term:
    return Term("is-finite", (value,))


def is_negative(value: Term) -> Term:
    """Whether a value has a minus sign; the negative zero has one where the document tells it from zero."""
    return Term("is-negative", (value,))


def where(condition: Term | bool, yes: Numeric, no: Numeric) -> Term:
    """One of two terms; the other one need not be defined."""
    if isinstance(condition, bool):
        return lifted(yes if condition else no)
    return Term("where", (condition, lifted(yes), lifted(no)))


def require(condition: Term | bool, value: Term, *clauses: str) -> Term:
    """`value`, undefined unless the condition holds: what these clauses leave open."""
    if isinstance(condition, bool):
        return value if condition else Term("undefined", (value,), clauses=clauses)
    return Term("require", (condition, value), clauses=clauses)


def all_of(*conditions: Term) -> Term:
    return reduce(lambda one, other: one & other, conditions)


def finite(value: Term, *clauses: str) -> Term:
    """`value`, undefined where it is an infinity or NaN."""
    return Term("finite", (value,), clauses=clauses)


def number(value: Term, *clauses: str) -> Term:
    """`value`, undefined where it is NaN."""
    return require(~is_nan(value), value, *clauses)


def agreed(first: Term, *others: Term) -> Term:
    """What all readings give, as a number or as a result; undefined where one is, or where two differ."""
    return Term("agree", (first, *others)) if others else first


def or_else(value: Term, other: Term) -> Term:
    """`other` where `value` is undefined."""
    return Term("or-else", (value, other))


def by_form(exact: Term, working: Term) -> Term:
    """One term in real arithmetic and another one in working precision."""
    return Term("by-form", (exact, working))


def in_reals(value: Term) -> Term:
    """A part that is in real arithmetic even in working precision."""
    return Term("in-precision", (value,))


def in_type(value: Term, kind: FloatType) -> Term:
    """A part whose steps round to another type in working precision."""
    return Term("in-precision", (value,), kind)


# A result: what a document's formula ends in. It has a code and a state; see golden/problem.py.


@dataclass(frozen=True)
class FloatEnd:
    """How a number becomes a float's code.

    `beyond` says what follows for a number beyond the largest value: "ieee" an infinity, or what the type has for it,
    "largest" that value, "open" that value, too, though the document does not say so.
    `zero` says of which results either zero is right: "any" zero, the "exact" one alone, or "no" zero. For "signed"
    the negative zero stays one.
    """

    kind: FloatType
    beyond: str
    zero: str


def to_ends(value: Term, least: int, greatest: int) -> Term:
    """An integer between two ends; beyond them it is the nearer one. Undefined for NaN."""
    return Term("to-ends", (value,), (least, greatest))


def to_integer(value: Term, kind: IntegerType, *, lowest: int | None = None) -> Term:
    """An integer in its type's range; outside it, or infinite, it saturates. Undefined for NaN."""
    return to_ends(value, kind.lowest if lowest is None else lowest, kind.highest)


def whole(value: Numeric) -> Term:
    """A whole number as it is."""
    return Term("whole", (lifted(value),))


def end_of_range(value: Numeric) -> Term:
    """A whole number that stands for a result beyond it."""
    return Term("end", (lifted(value),))


def to_real(value: Numeric, kind: FloatType) -> Term:
    """A real result, rounded once to its type; beyond the largest value it is infinite (IEEE 754-2019, 4.3.1).

    Real numbers have one zero. So either zero is right, also where a number is so small that it rounds to zero.
    """
    return Term("to-float", (lifted(value),), FloatEnd(kind, "ieee", "any"))


def to_float(value: Term, kind: FloatType, beyond: str, zero: str) -> Term:
    return Term("to-float", (value,), FloatEnd(kind, beyond, zero))


def bits(code: int | None) -> Term:
    """A pattern that a document names."""
    assert code is not None
    return Term("bits", constant=code)


def steps_of(term: Term) -> Iterator[Term]:
    """A term and all that it is made of, as it was written: what is computed first before what needs it.

    Equal steps that were written apart may follow different clauses, so they come apart.
    """
    seen = set[int]()

    def walk(one: Term) -> Iterator[Term]:
        if id(one) not in seen:
            seen.add(id(one))
            for arg in one.args:
                yield from walk(arg)
            yield one

    yield from walk(term)
