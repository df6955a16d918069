"""Changes of a single step by the ids of their causes, for tables in which they have another id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from tiebreak.conformance.variants.mutant import Mutant, NodeCall, Output, ProblemForm
from tiebreak.conformance.variants.single_changes import single_changes
from tiebreak.golden.arithmetic.term import Term
from tiebreak.golden.problem import Elementwise


@lru_cache(maxsize=1 << 8)
def changes_of(form: ProblemForm, term: Term) -> Mapping[str, Callable[[Term], Term]]:
    found: dict[str, Callable[[Term], Term]] = {}
    for id_, change in single_changes(term, form.problem):
        found.setdefault(id_, change)
    return found


@lru_cache(maxsize=1 << 12)
def changed_term(ids: tuple[str, ...], form: ProblemForm, term: Term) -> Term:
    every = changes_of(form, term)
    return next((every[id_](term) for id_ in ids if id_ in every), term)


def by_id(*ids: str) -> Mutant:
    """The first of these changes that a term has. The ids name numbers as they are after what was changed before."""

    def apply(call: NodeCall, problem: Elementwise, term: Term) -> Output:
        return problem, changed_term(ids, ProblemForm(problem), term)

    return Mutant((apply,))
