"""Hands a claim about integers to the solver."""

from __future__ import annotations

from dataclasses import replace

from tiebreak.conformance.proving.findings import PROVED, REFUTED, UNKNOWN, Decision, Reasoning, WrittenCounterexample
from tiebreak.conformance.proving.integers import BITS
from tiebreak.golden.errors import InvalidInput, MachineryFailed
from tiebreak.golden.lemmas.model import WIDTH, Lemma
from tiebreak.golden.lemmas.words import Word

EXTRA = "claims about integers need an SMT solver: pip install 'tiebreak[proofs]'"


def never(w: int, **words: Word) -> Word:
    """A claim that no words fulfil."""
    word = next(iter(words.values()))
    return word < word


def solve_integers(lemma: Lemma, left: str, right: str) -> Decision:
    """PROVED if the solver shows that nothing differs; REFUTED with the smallest words; UNKNOWN if it gives up."""
    try:
        from tiebreak.golden.lemma_solver import NAME, Search, smallest_counterexample
    except ModuleNotFoundError:
        raise InvalidInput(EXTRA) from None
    try:
        found = smallest_counterexample(lemma)
    except MachineryFailed as problem:
        return Decision(UNKNOWN, missing=str(problem))
    if found is None:
        if lemma.given is not None and Search(replace(lemma, claim=never)).counterexample() is None:
            raise InvalidInput("no integers of these ranges fulfil --given")
        formula = Search(lemma).text()
        evidence = {"exact": [True, True], "solver": NAME, "bits": BITS, "formula": formula}
        return Decision(PROVED, [Reasoning("solver", left, right, (), evidence)])
    words = lemma.words(WIDTH, found)
    assert lemma.sides is not None
    results = [str(word.term) for word in lemma.sides(WIDTH, **words)]
    return Decision(
        REFUTED, [], WrittenCounterexample({name: str(value) for name, value in found.items()}, {}, {}, *results)
    )
