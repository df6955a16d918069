"""A decision of a rewrite, and how settings on its two sides are found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from tiebreak.conformance.patterns.decisions.places import DecisionPlace
from tiebreak.golden.patterns.graph import Pattern, ScalePair

Pairs = Mapping[str, ScalePair]
Knob = Literal["scale", "zero_point"]
REACH = 8  # steps from what `border` gives to the border itself


class RewriteSource(NamedTuple):
    """Where a decision was read: the runtime, a file of its repository, and the rule's name there."""

    runtime: str
    file: str
    rule: str


class RewriteBorder(NamedTuple):
    """Pairs at a decision's border or next to it, and the name of the one to move."""

    pairs: Pairs
    name: str


@dataclass(frozen=True)
class RewriteDecision:
    """A runtime takes a rewrite, or another path of its own, where `holds`.

    `says` is the condition in words. `where` says whether the rule looks at a place of a pattern. `border` changes
    pairs so that one step of `knob` crosses the border: a neighbouring float32 scale, or the next zero point. `doubt`
    is the number of steps by which rounding in the runtime may put its border elsewhere.
    """

    source: RewriteSource
    says: str
    where: Callable[[Pattern, DecisionPlace], bool]
    holds: Callable[[DecisionPlace, Pairs], bool]
    border: Callable[[DecisionPlace, Pairs], RewriteBorder]
    knob: Knob
    doubt: int = 0

    def __str__(self) -> str:
        return f"{self.source.runtime}, {self.source.rule}: {self.says}"


def two_sides(decision: RewriteDecision, place: DecisionPlace, base: Pairs) -> dict[bool, Pairs]:
    """Pairs by whether the decision holds, one step of the knob apart and `doubt` steps more on each side.

    Empty if the decision is the same on both sides: the pattern itself has decided it.
    """
    start = decision.border(place, base)
    reach = REACH + decision.doubt
    line = {k: moved(start, k, decision.knob) for k in range(-reach, reach + 1)}
    truths = {k: decision.holds(place, pairs) for k, pairs in line.items() if pairs is not None}
    flips = [k for k in truths if truths.get(k + 1, truths[k]) != truths[k]]
    if not flips:
        return {}
    last = min(flips, key=lambda k: (abs(2 * k + 1), -k))
    ends = last - decision.doubt, last + 1 + decision.doubt
    return {truths[k]: pairs for k in ends if (pairs := line.get(k)) is not None}


def moved(start: RewriteBorder, steps: int, knob: Knob) -> Pairs | None:
    """The pairs with one of them so many steps further; None if it leaves its type or the normal float32."""
    pair = start.pairs[start.name]
    lowest, highest = pair.ends
    scale = stepped(pair.scale, steps if knob == "scale" else 0)
    zero_point = pair.zero_point + (steps if knob == "zero_point" else 0)
    is_normal = np.isfinite(scale) and scale >= np.finfo(np.float32).tiny
    if not is_normal or not lowest <= zero_point <= highest:
        return None
    return {**start.pairs, start.name: replace(pair, scale=scale, zero_point=zero_point)}


def stepped(scale: np.float32, steps: int) -> np.float32:
    """The positive float32 that lies so many neighbours above."""
    return np.float32((scale.view(np.int32) + np.int32(steps)).view(np.float32))
