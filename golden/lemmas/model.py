"""What a lemma is: a claim about whole numbers of w bits, for all numbers of a domain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from tiebreak.golden.lemmas.words import PythonMachine, Word

WIDTH = 32  # of the words that documents and kernels have
SMALL = (4, 5, 6)  # widths at which every case of a lemma can be tried

Claim = Callable[..., Word]
Sides = Callable[..., tuple[Word, Word]]


@dataclass(frozen=True)
class Lemma:
    """`claim(w, **words)` holds for all words of the domain for which `given(w, **words)` does.

    A domain gives the least and the greatest value of each word. A false lemma has counterexamples; the smallest has
    the least magnitudes in the order of `domain`. `after` names what is proven elsewhere and assumed here.
    """

    id: str
    statement: str
    sources: tuple[str, ...]
    clauses: tuple[str, ...]
    domain: Callable[[int], Mapping[str, tuple[int, int]]]
    claim: Claim
    given: Claim | None = None
    after: tuple[str, ...] = ()
    true: bool = True
    sides: Sides | None = None  # of a false one: the two results that differ
    bits: Callable[[int], int] = lambda w: 2 * w
    why: str = ""  # of a false one: what its counterexample shows

    def allows(self, w: int, words: Mapping[str, Word]) -> Word:
        """Whether words are of the domain and fulfil what is given."""
        inside = [words[name].between(*ends) for name, ends in self.domain(w).items()]
        if self.given is not None:
            inside.append(self.given(w, **words))
        found = inside[0]
        for one in inside[1:]:
            found = found & one
        return found

    def cases(self, w: int) -> Iterator[dict[str, int]]:
        """All combinations of the domain's numbers, those that `given` leaves out too."""
        domain = self.domain(w)
        for values in product(*(range(low, high + 1) for low, high in domain.values())):
            yield dict(zip(domain, values, strict=True))

    def words(self, w: int, values: Mapping[str, int]) -> dict[str, Word]:
        machine = PythonMachine(self.bits(w))
        return {name: Word(machine, machine.constant(value)) for name, value in values.items()}

    def holds(self, w: int, values: Mapping[str, int]) -> bool | None:
        """Whether it holds for numbers of the domain, computed in Python; None if `given` leaves them out."""
        words = self.words(w, values)
        if self.given is not None and not self.given(w, **words).term:
            return None
        return bool(self.claim(w, **words).term)
