"""The step of a term at which the exact result and a given one part.

It is the last step of which a change gives the given result by itself, all other steps held: in working precision, or
else in a wider one. Only a step with which the unchanged term gives another result tells that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

import numpy as np

from tiebreak.conformance.judging.codes import bits_of_codes
from tiebreak.conformance.variants.changes import everywhere
from tiebreak.conformance.variants.one_step import changes_of
from tiebreak.golden.arithmetic.doubles import DOUBLE
from tiebreak.golden.arithmetic.term import Term, steps_of
from tiebreak.golden.arithmetic.working import ArrayEvaluation
from tiebreak.golden.elements import FloatType
from tiebreak.golden.operators.model import Kind
from tiebreak.golden.oracle import reader_of
from tiebreak.golden.problem import Array, Problem

MOST_STEPS = 200  # of a term whose steps are tried one by one
VALUE = {"where": 2, "require": 1}  # which argument is the value that an operation passes on; else the first


@dataclass(frozen=True)
class Parting:
    """`steps` are a step and those that enclose it, the nearest first; `kind` is that of the clause that is broken.

    `inner` are those that its value comes from. Without a kind no step is known: `inner` are those through which every
    answer goes, the last one first.
    """

    steps: tuple[Term, ...] = ()
    inner: tuple[Term, ...] = ()
    kind: Kind | None = None


Variant = tuple[Parting, Term, bool]  # what it says, the changed term, and whether the change is free


@dataclass
class KnownPartings:
    """The partings that have been found: elements have operands and results in common, and so have backends.

    They are kept by what is asked (a `form`, which says all of a problem but its operands), and by operands and result.
    `tried` has the changes of each form's term.
    """

    found: dict[Hashable, dict[tuple[int, ...], tuple[Parting, ...]]] = field(default_factory=dict)
    tried: dict[Hashable, Sequence[Variant]] = field(default_factory=dict)

    def of(self, form: Hashable, problem: Problem, term: Term, given: Array) -> list[tuple[Parting, ...]]:
        """See partings."""
        known = self.found.setdefault(form, {})
        keys = list(zip(*(one.tolist() for one in (*problem.operands, given)), strict=True))
        new = {key: place for place, key in enumerate(keys) if key not in known}
        if new:
            if form not in self.tried:
                self.tried[form] = variants(term, problem)
            at = np.array([*new.values()])
            known.update(zip(new, partings(problem.some(at), term, given[at], self.tried[form]), strict=True))
        return [known[key] for key in keys]


def partings(problem: Problem, term: Term, given: Array, every: Sequence[Variant]) -> list[tuple[Parting, ...]]:
    """Where each element of a problem with this term may part from the results with these bits, the last step first.

    `every` are the term's variants. The last parting of each element is the one without a kind.
    """
    last = Parting(inner=tuple(spine(term)))
    if not every:
        return [(last,)] * given.size
    hits = np.zeros((len(every), given.size), bool)
    for kind in dict.fromkeys((problem.working, DOUBLE)):
        left = np.flatnonzero(~hits.any(axis=0))
        if left.size:
            hits[:, left] = hits_of(term, every, problem.some(left), kind, given[left])
    patterns, places = np.unique(np.packbits(hits, axis=0), axis=1, return_inverse=True)
    numbers = np.unpackbits(patterns, axis=0, count=len(every))
    known = [(*dict.fromkeys(every[i][0] for i in np.flatnonzero(one).tolist()), last) for one in numbers.T]
    return [known[place] for place in places.reshape(-1).tolist()]


def hits_of(term: Term, every: Sequence[Variant], problem: Problem, kind: FloatType, given: Array) -> Array:
    """Which variants give which elements' results, in this working precision (bool, one row for each variant)."""
    run = ArrayEvaluation(problem.operands, problem.kinds, kind, reader_of(problem))
    base, known = bits_given(run, term, problem)
    open_, hits = known & (base != given), []
    for _, other, free in every:
        found, known = bits_given(run, other, problem)
        hits.append(open_ & known & (found != base) & ((found == given) | free))
    return np.array(hits)


def bits_given(run: ArrayEvaluation, term: Term, problem: Problem) -> tuple[Array, Array]:
    """The bits that a term gives, and where it gives a result that doubles tell."""
    with np.errstate(all="ignore"):
        found = run.part(term, run.kind)
        known = np.broadcast_to(~(found.undefined | found.lost), run.size)
        codes = np.where(known, found.values, 0).astype(np.int64)
    return bits_of_codes(codes, problem.result), known


def variants(term: Term, problem: Problem) -> list[Variant]:
    """The term with each change of one step, the last step first; then of all steps that follow the same clauses.

    A long sum's steps are not tried: each would cost all others.
    """
    return [] if more_than(MOST_STEPS, steps_of(term)) else list(changed_terms(term, problem))


def changed_terms(term: Term, problem: Problem) -> Iterator[Variant]:
    enclosing, alike = chains(term), defaultdict[object, list[Term]](list)
    for one in enclosing:
        if one.clauses:
            alike[one.name, one.clauses].append(one)
    groups = [own for own in alike.values() if len(own) > 1]
    for sites in [*([one] for one in enclosing), *groups]:
        for number, change in enumerate(changes_of(sites[0], problem)):
            other = everywhere(term, partial(nth_change, frozenset(sites), problem, number))
            yield Parting(enclosing[sites[0]], tuple(spine(sites[0])[1:]), change.kind), other, change.free


def nth_change(sites: Collection[Term], problem: Problem, number: int, one: Term) -> Term | None:
    """What stands for a step that is among `sites`."""
    found = [change.term for change in changes_of(one, problem)] if one in sites else []
    return found[number] if number < len(found) else None


def chains(term: Term) -> dict[Term, tuple[Term, ...]]:
    """Each step with those that enclose it, the nearest first. Those through which every answer goes come first."""
    steps, outer = list(steps_of(term))[::-1], dict[int, Term]()
    for one in steps:
        for arg in one.args:
            outer.setdefault(id(arg), one)
    found: dict[Term, tuple[Term, ...]] = {}
    for one in (*spine(term), *steps):
        chain = [one]
        while id(chain[-1]) in outer:
            chain.append(outer[id(chain[-1])])
        found.setdefault(one, tuple(chain))
    return found


def spine(term: Term) -> list[Term]:
    """The steps through which every answer goes, the last one first."""
    found = [term]
    while found[-1].args:
        found.append(found[-1].args[VALUE.get(found[-1].name, 0)])
    return found


def more_than(count: int, steps: Iterator[Term]) -> bool:
    return next(islice(steps, count, None), None) is not None
