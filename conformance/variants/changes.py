"""How a term becomes a wrong one: the places in it that a change looks for, and what stands there then.

A place is known by the clause that its step follows, by the shape of the step, or by the formula of its number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import is_
from typing import Any

from tiebreak.golden import oracle
from tiebreak.golden.arithmetic.doubles import DOUBLE
from tiebreak.golden.arithmetic.term import Numeric, Term, lifted, operand, steps_of
from tiebreak.golden.arithmetic.text import text_of
from tiebreak.golden.problem import Problem

Change = Callable[[Term], Term | None]  # what stands for a part; None: the part itself
Numbers = Mapping[str, Term]  # the parts of a term, by their names or formulas, and by their clauses


Walked = dict[int, tuple[Term, Term]]  # a part and what stands for it then


def everywhere(term: Term, change: Change, walked: Walked | None = None) -> Term:
    """The term with each part changed that `change` has something for; what a part is made of comes first.

    `walked` are parts of other terms that the same change was tried on: terms share most of their parts.
    """
    made: Walked = {} if walked is None else walked

    def walk(one: Term) -> Term:
        if id(one) not in made:
            args = tuple([walk(arg) for arg in one.args])
            kept = made_of(one, args)
            found = change(kept)
            made[id(one)] = one, kept if found is None else found
        return made[id(one)][1]

    return walk(term)


def made_of(one: Term, args: tuple[Term, ...]) -> Term:
    """The same step of these parts; itself if it has them."""
    return one if all(map(is_, args, one.args)) else Term(one.name, args, one.constant, one.clauses, one.label)


class OnlyOnce:
    """Terms whose equal parts are one: a change, an evaluation or a comparison then has seen them before."""

    def __init__(self) -> None:
        self.known: dict[tuple[Any, ...], Term] = {}
        self.found: Walked = {}

    def __call__(self, term: Term) -> Term:
        if id(term) not in self.found:
            args = tuple([self(arg) for arg in term.args])
            key = (term.name, term.constant, term.clauses, term.label, *map(id, args))
            self.found[id(term)] = term, self.known.setdefault(key, made_of(term, args))
        return self.found[id(term)][1]


def with_change(term: Term, site: Term, new: Term) -> Term:
    """The term with `new` for each part that is `site`; nothing in `new` is changed."""
    made: dict[int, Term] = {}

    def walk(one: Term) -> Term:
        if id(one) not in made:
            if one == site:
                made[id(one)] = new
            else:
                made[id(one)] = made_of(one, tuple(map(walk, one.args)))
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


def numbers_in(term: Term) -> Numbers:
    """Each number by its formula, "round(low / scale)", and by its clauses without the letters of their operator.

    Of several by one clause it is the one that is computed last.
    """
    parts = list(steps_of(term))
    by_clause = {id_.partition("-")[2]: one for one in parts for id_ in one.clauses}
    return by_clause | {text_of(one): one for one in parts}


def numbers_changed(found: Term, new: Mapping[str, Numeric]) -> Term:
    """The term with other numbers, by their names; those that it does not have are left out.

    Outer ones come first: a number that is part of another one may be gone with it.
    """
    for name, number in new.items():
        old = numbers_in(found).get(name)
        if old is not None:
            kept = [id_ for id_ in old.clauses if id_ not in lifted(number).clauses]
            found = with_change(found, old, lifted(number).by(*kept).named(old.label))
    return found


def spoken(term: Term) -> Term:
    """The term without what says where its document is silent, and without real numbers: a backend has float64."""
    first = {"finite": 0, "require": 1, "agree": 0, "undefined": 0}

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
