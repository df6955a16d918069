"""How a term becomes a wrong one: the places in it that a change looks for, and what stands there then.

A place is known by the clause that its step follows, or by the shape of the step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tiebreak.golden import oracle
from tiebreak.golden.arithmetic.doubles import DOUBLE
from tiebreak.golden.arithmetic.term import Numeric, Term, lifted, operand
from tiebreak.golden.problem import Problem

Change = Callable[[Term], Term | None]  # what stands for a part; None: the part itself


def everywhere(term: Term, change: Change) -> Term:
    """The term with each part changed that `change` has something for; what a part is made of comes first."""
    made: dict[int, Term] = {}

    def walk(one: Term) -> Term:
        if id(one) not in made:
            args = tuple(map(walk, one.args))
            kept = one if all(new is old for new, old in zip(args, one.args, strict=True)) else replace(one, args=args)
            found = change(kept)
            made[id(one)] = kept if found is None else found
        return made[id(one)]

    return walk(term)


def following(one: Term, found: Term | None) -> Term | None:
    """What stands for a step, which follows the step's clauses: a second change finds it."""
    return found and found.by(*(id_ for id_ in one.clauses if id_ not in found.clauses))


def at(clause: str, change: Change) -> Change:
    """A change of the steps that follow a clause, which the step itself does no more if it is kept as a part."""

    def found(one: Term) -> Term | None:
        if clause not in one.clauses:
            return None
        others = tuple(id_ for id_ in one.clauses if id_ != clause)
        return following(one, change(replace(one, clauses=others)))

    return found


def of_operation(name: str, change: Callable[..., Numeric]) -> Change:
    """A change of each part with this operation, from what it is made of."""
    return lambda one: following(one, lifted(change(*one.args))) if one.name == name else None


def spoken(term: Term) -> Term:
    """The term without what says where its document is silent, and without real numbers: a backend has float64."""
    first = {"finite": 0, "require": 1, "agree": 0}

    def change(one: Term) -> Term | None:
        if one.name == "in-precision" and one.constant is None:
            return replace(one, constant=DOUBLE)
        return one.args[first[one.name]] if one.name in first else None

    return everywhere(term, change)


def operands_of(problem: Problem) -> dict[str, Term]:
    """The operands of a problem's term, by their names in its formula."""
    names = oracle.operand_names(problem, oracle.formula_of(problem))
    return {name: operand(place, name) for place, name in enumerate(names)}


def inner(one: Term) -> Term:
    """A part without the step that rounds it."""
    return one.args[0] if one.name == "step" else one


def matched(one: Term, name: str) -> tuple[Term, ...]:
    """What an operation is made of, whether a step rounds it or not; empty for another operation."""
    found = inner(one)
    return found.args if found.name == name else ()
