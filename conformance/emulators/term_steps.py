"""The steps of a term: what an audit chose, printed as it is computed.

A step of a term is an operation in its type, of numbers that this type holds. What no type computes with one rounding,
as a product that is never rounded, has no emulator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial, reduce

import numpy as np

from tiebreak.conformance.emulators.rounding_steps import MODES
from tiebreak.conformance.emulators.special_steps import as_largest, first_seen, with_results
from tiebreak.conformance.emulators.steps import (
    DOUBLE,
    Computed,
    cast,
    constant,
    double,
    flushed,
    fused,
    given,
    modulus,
    named,
    step,
    where,
    with_names,
)
from tiebreak.conformance.semantics.model import Semantics
from tiebreak.conformance.semantics.term_arithmetic import TermArithmetic, is_exact
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants.changes import operands_of
from tiebreak.conformance.variants.evaluation import FAR
from tiebreak.conformance.variants.number_changes import is_integer
from tiebreak.conformance.variants.rewrites import ARITHMETIC
from tiebreak.golden.arithmetic.term import Term
from tiebreak.golden.elements import FLOAT_TYPES, FloatType, IntegerType, decode, encode, numpy_dtype
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.problem import Elementwise

DIGITS = FLOAT_TYPES[DOUBLE].precision
NO_TYPE = "steps that no type rounds"
FLUSHES = {to.flushed_in(kind): kind.emin for kind in FLOAT_TYPES.values()}
CHOICES = {"clamp": "clamp", "least": "minimum", "greatest": "maximum"}
COMPARISONS = {"less": "less", "at-most": "at_most", "equal": "equal"}
LOGIC = ("and", "or", "not")
OF_ONE = {"magnitude": "abs", "is-nan": "is_nan", "is-finite": "is_finite", "is-negative": "has_sign"}


def term_steps(arithmetic: TermArithmetic, semantics: Semantics) -> Computed:
    """The result; of an integer as a float64. Raises Unsupported for steps that no type rounds."""
    if is_exact(semantics):
        raise Unsupported(NO_TYPE)
    problem, x = arithmetic.problem, given("x", arithmetic.node.input_type)
    seen = first_seen(getattr(arithmetic, "seen", {}))
    negative = {name: name == "negative_infinity" or end.like == b"-" for name, end in seen.items() if not end.value}
    steps = TermSteps({0: as_largest(x, negative)}, problem)
    term = arithmetic.term(semantics)
    result = steps.of(term, problem.working)
    others = [steps.of(one, problem.working) for one in operands_of(problem).values()][1:]
    fixed = {name: end.value(*arithmetic.ends(others)) for name, end in seen.items() if end.value}  # type: ignore[attr-defined]
    numbers = {name: one if isinstance(one, Computed) else constant(one, result.type) for name, one in fixed.items()}
    return with_names(named("y", with_results(result, x, numbers)))


@dataclass
class TermSteps:
    """Writes terms of a problem; `operands` are steps that stand for some of them, by place."""

    operands: Mapping[int, Computed]
    problem: Elementwise
    made: dict[tuple[Term, str], Computed] = field(default_factory=dict)

    def of(self, term: Term, kind: FloatType) -> Computed:
        """A part whose steps round to a type, in the type in which it is computed."""
        key = (term, kind.name)
        if key not in self.made:
            found = self.part(term, kind)
            is_name = term.label and not term.label[0].isdigit()  # else it is a formula of attributes
            self.made[key] = named(line_of(term.label), found, ", ".join(term.clauses)) if is_name else found
        return self.made[key]

    def part(self, term: Term, kind: FloatType) -> Computed:
        own = term.constant
        if term.name == "operand":
            place, name = own
            found = self.operands.get(place) or given(name, self.problem.kinds[place].name)
            return found if found.type in FLOAT_TYPES else double(found)
        if term.name == "number":
            return constant(float(own)) if Fraction(float(own)) == own else unsupported()
        if term.name == "in-precision":
            return self.of(term.args[0], own) if own else unsupported()
        if term.name in ("step", "held"):
            return self.rounded(term.args[0], own or kind, kind)
        if write := WRITERS.get(term.name):
            return write(self, term, kind)
        return unsupported()

    def parts(self, term: Term, kind: FloatType) -> list[Computed]:
        return [self.of(arg, kind) for arg in term.args]

    def rounded(self, term: Term, goal: FloatType, kind: FloatType) -> Computed:
        """One operation, rounded to a type."""
        if term.name == "number":
            return constant(float(decode(encode(term.constant, goal), goal)), goal.name)
        if term.name not in ARITHMETIC:
            return in_type(goal.name, self.of(term, kind))
        parts = self.parts(term, kind)
        digits = [self.digits_of(arg, kind) for arg in term.args]
        if term.name == "add" and "multiply" in (term.args[0].name, term.args[1].name) and goal.precision <= 24:
            product, added = term.args if term.args[0].name == "multiply" else term.args[::-1]
            every = (*product.args, added)
            if all(self.digits_of(one, kind) <= goal.precision for one in every):
                first, second, more = (in_type(goal.name, self.of(one, kind)) for one in every)
                return fused(first, second, more, goal.name)
        if all(part.op == "constant" for part in parts):
            one, other = (numpy_dtype(goal.name).type(part.value) for part in parts)
            return constant(float(getattr(np, term.name)(one, other)), goal.name)
        if max(digits) <= goal.precision and all(part.op != "constant" or holds(goal, part) for part in parts):
            return step(term.name, *(in_type(goal.name, part) for part in parts))
        exact = sum(digits) if term.name == "multiply" else self.digits_of(term, kind)
        if term.name == "divide" or exact > DIGITS:
            return unsupported()
        return in_type(goal.name, step(term.name, *map(double, parts)))

    def digits_of(self, term: Term, kind: FloatType) -> int:
        """How many binary digits a number has at most; more than float64's where that is not known."""
        if term.name == "operand":
            own = self.problem.kinds[term.constant[0]]
            return own.bits if isinstance(own, IntegerType) else own.precision
        if term.name == "number":
            whole = abs(term.constant.numerator)
            return (whole // (whole & -whole)).bit_length() if whole else 0
        if term.name in ("step", "held"):
            return int((term.constant or kind).precision)
        if term.name == "in-precision":
            return self.digits_of(term.args[0], term.constant or kind)
        if term.name == "round":
            return min(DIGITS, self.digits_of(term.args[0], kind))
        parts = [self.digits_of(arg, kind) for arg in (term.args[1:] if term.name == "where" else term.args)]
        if term.name == "multiply":
            return sum(parts)
        if term.name in ("add", "subtract"):
            return max(parts) + 1 if is_integer(term, self.problem) else DIGITS + 1
        return max(parts, default=DIGITS + 1)


def holds(kind: FloatType, part: Computed) -> bool:
    """Whether a type has every number that a part may be."""
    if part.op == "constant":
        return bool(numpy_dtype(kind.name).type(part.value) == part.value)
    if part.op == "where":
        return all(holds(kind, one) for one in part.operands[1:])
    return FLOAT_TYPES[part.type].precision <= kind.precision and FLOAT_TYPES[part.type].emin >= kind.emin


def in_type(type: str, part: Computed) -> Computed:
    """A part in a type; a choice of constants has constants of it."""
    if part.op == "where" and all(one.op == "constant" for one in part.operands[1:]):
        return where(part.operands[0], *(in_type(type, one) for one in part.operands[1:]))
    return constant(part.value, type) if part.op == "constant" and not part.name else cast(type, part)


def alike(parts: list[Computed]) -> list[Computed]:
    """Parts in one type that holds each: that of those that are no constants, or float64."""
    kinds = {part.type for part in parts if part.op != "constant"}
    own = FLOAT_TYPES[kinds.pop() if len(kinds) == 1 else DOUBLE]
    own = own if all(holds(own, part) for part in parts) else FLOAT_TYPES[DOUBLE]
    return [in_type(own.name, part) for part in parts]


def unsupported() -> Computed:
    raise Unsupported(NO_TYPE)


def line_of(label: str) -> str:
    """A label as a name of a line."""
    return "".join(letter if letter.isalnum() else "_" for letter in label).strip("_")


Write = Callable[[TermSteps, Term, FloatType], Computed]


def exactly(steps: TermSteps, term: Term, kind: FloatType) -> Computed:
    """A sum or a product that is not rounded: float64 has all its digits."""
    parts = steps.parts(term, kind)
    whole = all(part.type == DOUBLE for part in parts) and term.name != "multiply"
    if not whole and steps.digits_of(term, kind) > DIGITS:
        return unsupported()
    return step(term.name, *map(double, parts))


def chosen(steps: TermSteps, term: Term, kind: FloatType) -> Computed:
    parts = alike(steps.parts(term, kind))
    if term.name == "clamp":
        return step("clamp", *parts)
    return reduce(partial(step, CHOICES[term.name]), parts)


def converted(steps: TermSteps, term: Term, kind: FloatType) -> Computed:
    (part,) = steps.parts(term, kind)
    if term.constant in FLUSHES and part.op == "constant":
        return constant(float(term.constant.function(np.array(part.value))), part.type)
    if term.constant in FLUSHES:
        return flushed(part, FLUSHES[term.constant])
    if term.constant in (to.FLOAT16, to.BFLOAT16):
        return cast(part.type, cast(term.constant.name, part))
    return unsupported()


def between_ends(steps: TermSteps, term: Term, kind: FloatType) -> Computed:
    ends = (constant(end, name=name) for end, name in zip(term.constant, ("LOWEST", "HIGHEST"), strict=True))
    return step("clamp", double(steps.of(term.args[0], kind)), *ends)


def low_bits(steps: TermSteps, term: Term, kind: FloatType) -> Computed:
    """As evaluation.of_wrap: of NaN those of 0, of a number that is too large those of an end."""
    own, number = term.constant, double(steps.of(term.args[0], kind))
    zero, far, half = constant(0), constant(FAR), constant(-own.lowest)
    held = step("clamp", where(step("is_nan", number), zero, number), constant(-FAR), far)
    size = 2.0**own.bits
    return modulus(modulus(held, size) + half, size) - half


def either(steps: TermSteps, term: Term, kind: FloatType) -> Computed:
    condition, *both = steps.parts(term, kind)
    return where(condition, *alike(both))


def of_step(name: str) -> Write:
    """The step of this name."""
    return lambda steps, term, kind: step(name, *steps.parts(term, kind))


def compared(name: str) -> Write:
    return lambda steps, term, kind: step(name, *alike(steps.parts(term, kind)))


WRITERS: Mapping[str, Write] = {
    **dict.fromkeys(("add", "subtract", "multiply"), exactly),
    **dict.fromkeys(CHOICES, chosen),
    **{name: compared(op) for name, op in COMPARISONS.items()},
    **{name: of_step(op) for name, op in OF_ONE.items()},
    **{name: of_step(name) for name in LOGIC},
    "round": lambda steps, term, kind: MODES[term.constant](double(steps.of(term.args[0], kind))),
    "where": either,
    "wrap": low_bits,
    "to-ends": between_ends,
    "to-float": lambda steps, term, kind: steps.rounded(term.args[0], term.constant.kind, kind),
    "changed": converted,
}
