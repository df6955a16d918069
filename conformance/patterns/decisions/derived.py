"""Every decision, and for a pattern the settings on both sides of each that looks at it."""

from __future__ import annotations

from collections.abc import Iterator

from tiebreak.conformance.patterns.decisions import litert, onnxruntime, openvino, torch
from tiebreak.conformance.patterns.decisions.model import Pairs, RewriteDecision, two_sides
from tiebreak.conformance.patterns.decisions.places import DecisionPlace, places_of
from tiebreak.conformance.patterns.pattern_setting import PatternSetting, distinct
from tiebreak.golden.patterns.graph import Pattern

DECISIONS = (*onnxruntime.DECISIONS, *openvino.DECISIONS, *litert.DECISIONS, *torch.DECISIONS)


def decisions_of(pattern: Pattern) -> Iterator[tuple[RewriteDecision, DecisionPlace]]:
    """The decisions that look at the pattern, each with the place."""
    places = list(places_of(pattern))
    for decision in DECISIONS:
        yield from ((decision, place) for place in places if decision.where(pattern, place))


def decided_settings(pattern: Pattern, base: Pairs) -> list[PatternSetting]:
    """Settings beside the borders of all decisions that look at the pattern, equal ones once, else as `base`."""
    return distinct(sided_settings(pattern, base))


def sided_settings(pattern: Pattern, base: Pairs) -> Iterator[PatternSetting]:
    for decision, place in decisions_of(pattern):
        for holds, pairs in two_sides(decision, place, base).items():
            yield PatternSetting(pairs, f"{decision}: {'holds' if holds else 'does not hold'}")
