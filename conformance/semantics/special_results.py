"""What NaN and infinities give beside the table's arithmetic: a result by itself, or what a large number gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from tiebreak.conformance.semantics.finite_only import FiniteOnly
from tiebreak.conformance.semantics.model import ANYTHING, Probe, Value, codes, sign_and_others
from tiebreak.conformance.semantics.special_calls import non_finite
from tiebreak.golden.nodes import Node


@dataclass(frozen=True, eq=False)
class SpecialResult:
    """What NaN or an infinity gives: a `value` made of the ends of results, or what the largest finite number gives.

    That is the number of its own sign, or of the sign `like`.
    """

    id: str
    sentence: str
    value: Callable[..., Any] | None = None
    like: bytes = b""
    cause: str = ""


AS_LARGE = SpecialResult("as-large-numbers", "what the largest finite number of that sign gives")


@dataclass
class SpecialResults(FiniteOnly):
    """A table whose special probes have large finite numbers beside the others. `seen` has the values that fit."""

    node: Node
    seen: dict[str, list[SpecialResult]] = field(default_factory=dict, kw_only=True)
    large: dict[tuple[bytes, ...], int] = field(default_factory=dict, kw_only=True)  # by sign and other operands

    def ends(self, others: Sequence[Any]) -> Sequence[Any]:
        """What values are made of, from the other operands."""
        raise NotImplementedError

    def special_of(self, probe: Probe) -> str:
        return non_finite(probe.x)

    def special_code(self, value: Value, probe: Probe) -> int:
        end = cast(SpecialResult, value)
        if end.value is None:
            sign, *others = sign_and_others(probe)
            return self.large.get((end.like or sign, *others), ANYTHING)
        return int(codes(np.asarray(end.value(*self.ends(probe.others))).astype(self.node.outputs[0].dtype))[0])

    def learn_specials(self, seen: Sequence[tuple[Probe, int]]) -> Mapping[str, Sequence[Value]]:
        self.large = {sign_and_others(probe): code for probe, code in seen if not self.special_of(probe)}
        for facet in self.specials:
            own = [(probe, code) for probe, code in seen if self.special_of(probe) == facet.name]
            results = (cast(SpecialResult, value) for value in facet.values)
            fits = [one for one in results if all(code == self.special_code(one, probe) for probe, code in own)]
            self.seen[facet.name] = [one for one in fits if one.value] or fits  # a named value says more
        return self.seen
