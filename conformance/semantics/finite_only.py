"""What tables have in common whose calls hold finite numbers alone: no facet of NaN or of an infinity."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tiebreak.conformance.semantics.model import ANYTHING, OTHER, Facet, Probe, Semantics, Value
from tiebreak.golden.problem import Array


@dataclass(frozen=True, eq=False)
class FixedCode:
    """The code that a special call gives, whatever else is known."""

    id: str
    sentence: str
    code: int
    cause: str = ""


class FiniteOnly:
    """Those methods of an Arithmetic that are about NaN and infinities, and those that few tables need."""

    @property
    def specials(self) -> tuple[Facet, ...]:
        return ()

    def special_probes(self) -> Iterator[Probe]:
        return iter(())

    def special_of(self, probe: Probe) -> str:
        return ""

    def special_code(self, value: Value, probe: Probe) -> int:
        return ANYTHING

    def assume(self) -> None:
        """Nothing here depends on NaN or infinities."""

    def ignore_specials(self) -> None:
        """Nothing here depends on NaN or infinities."""

    def learn_specials(self, seen: Sequence[tuple[Probe, int]]) -> Mapping[str, Sequence[Value]]:
        return {}

    def region(self, wrong: Sequence[tuple[Probe, int, int]]) -> str:
        return OTHER

    def completed(self, semantics: Semantics) -> Semantics:
        return semantics

    def stage_key(self, semantics: Semantics) -> Hashable:
        return semantics

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        raise NotImplementedError

    def predict(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[Array]:
        return (codes for codes, _ in self.staged(probe, semantics))
