"""Lemmas handed to an SMT solver, Bitwuzla: it finds a counterexample, or shows that there is none.

It lies outside the package of lemmas, whose modules are all imported: few users have the solver.

The formula, written out as SMT-LIB 2, is for any solver. Needs the distribution bitwuzla (extra `proofs`).
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import bitwuzla
from bitwuzla import Kind, Result

from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.lemmas.model import WIDTH, Lemma
from tiebreak.golden.lemmas.words import Word

KINDS = {
    "add": Kind.BV_ADD,
    "subtract": Kind.BV_SUB,
    "multiply": Kind.BV_MUL,
    "shift left": Kind.BV_SHL,
    "shift right": Kind.BV_ASHR,
    "bits of both": Kind.BV_AND,
    "divide": Kind.BV_SDIV,
    "less": Kind.BV_SLT,
    "at most": Kind.BV_SLE,
    "same": Kind.EQUAL,
    "and": Kind.AND,
    "or": Kind.OR,
    "not": Kind.NOT,
    "choose": Kind.ITE,
}
NAME = f"bitwuzla {version('bitwuzla')}"


class SolverMachine:
    """Writes what words do as the solver's terms."""

    def __init__(self, bits: int) -> None:
        self.bits, self.manager = bits, bitwuzla.TermManager()
        self.sort = self.manager.mk_bv_sort(bits)

    def constant(self, value: int) -> Any:
        return self.manager.mk_bv_value(self.sort, value % (1 << self.bits))

    def apply(self, operation: str, *terms: Any) -> Any:
        return self.manager.mk_term(KINDS[operation], list(terms))

    def free(self, name: str) -> Word:
        return Word(self, self.manager.mk_const(self.sort, name))


class Search:
    """The search for a counterexample of a lemma, for words of `w` bits."""

    def __init__(self, lemma: Lemma, w: int = WIDTH) -> None:
        self.lemma, self.w = lemma, w
        self.machine = SolverMachine(lemma.bits(w))
        self.words = {name: self.machine.free(name) for name in lemma.domain(w)}
        options = bitwuzla.Options()
        options.set(bitwuzla.Option.PRODUCE_MODELS, True)
        self.solver = bitwuzla.Bitwuzla(self.machine.manager, options)
        self.add(lemma.allows(w, self.words))
        self.add(~lemma.claim(w, **self.words))

    def add(self, truth: Word) -> None:
        self.solver.assert_formula(truth.term)

    def counterexample(self) -> dict[str, int] | None:
        """Numbers for which the lemma does not hold; None if there are none. MachineryFailed if it gives up."""
        found = self.solver.check_sat()
        if found == Result.UNKNOWN:
            raise MachineryFailed(f"{NAME} found no answer to {self.lemma.id}")
        return self.model() if found == Result.SAT else None

    def model(self) -> dict[str, int]:
        values = (int(self.solver.get_value(word.term).value(10)) for word in self.words.values())
        half = 1 << (self.machine.bits - 1)
        return {name: (value + half) % (2 * half) - half for name, value in zip(self.words, values, strict=True)}

    def text(self) -> str:
        """The formula as SMT-LIB 2: what the lemma's domain allows, and that the lemma does not hold."""
        return str(self.solver.print_formula("smt2", 10))

    def within(self, name: str, low: int, high: int) -> dict[str, int] | None:
        """A counterexample in which one word lies between two numbers."""
        self.solver.push(1)
        self.add(self.words[name].between(low, high))
        found = self.counterexample()
        self.solver.pop(1)
        return found


def smallest_counterexample(lemma: Lemma, w: int = WIDTH) -> Mapping[str, int] | None:
    """The counterexample with the least magnitudes, in the order of the domain; of two signs the positive.

    None of a lemma without one.
    """
    search = Search(lemma, w)
    found = search.counterexample()
    if found is None:
        return None
    for name in lemma.domain(w):
        found = least(search, name, found)
        search.add(search.words[name].same(found[name]))
    return found


def least(search: Search, name: str, found: dict[str, int]) -> dict[str, int]:
    """The counterexample that is smallest in one word, by halving what is left below the best one."""
    low, high = 0, abs(found[name])  # none is known below low
    while low < high:
        middle = (low + high) // 2
        better = search.within(name, -middle, middle)
        if better is None:
            low = middle + 1
        else:
            found, high = better, abs(better[name])
    return search.within(name, high, high) or found
