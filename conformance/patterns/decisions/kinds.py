"""The kinds of decisions that rewrites make: equal pairs, zero points at an end, limits on a ratio of scales."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

import numpy as np

from tiebreak.conformance.patterns.decisions.model import (
    Knob,
    Pairs,
    RewriteBorder,
    RewriteDecision,
    RewriteSource,
)
from tiebreak.conformance.patterns.decisions.places import DecisionPlace
from tiebreak.golden.patterns.graph import Pattern

Where = Callable[[Pattern, DecisionPlace], bool]
Names = Callable[[DecisionPlace], tuple[str, ...]]
BYTES = ("uint8", "int8")
KNOBS: tuple[Knob, ...] = ("scale", "zero_point")


def around(*operations: str, types: Collection[str] = BYTES) -> Where:
    """Places whose operations begin with one of these, all pairs of these types; Relu and Clip may follow.

    The name "" means that nothing is between DQ and Q.
    """

    def where(pattern: Pattern, place: DecisionPlace) -> bool:
        first, *rest = place.names or ("",)
        kinds = {pattern.pairs[name] for name in place.pairs}
        return first in operations and set(rest) <= {"Relu", "Clip"} and kinds <= set(types) and all(place.inputs)

    return where


def both(one: Where, other: Where) -> Where:
    return lambda pattern, place: one(pattern, place) and other(pattern, place)


def requantized(pattern: Pattern, place: DecisionPlace) -> bool:
    """Whether a Q follows whose pair no input has, too."""
    return bool(place.output) and place.output not in place.inputs


def same_type(pattern: Pattern, place: DecisionPlace) -> bool:
    return len({pattern.pairs[name] for name in place.pairs}) == 1


def weighted(pattern: Pattern, place: DecisionPlace) -> bool:
    """Whether the second factor is a constant."""
    return place.constants[1:] == (True,)


def equal_pairs(source: RewriteSource, where: Where) -> Iterator[RewriteDecision]:
    """The only input's scale and zero point are the output's; at the border the output takes the input's."""
    for knob in KNOBS:
        yield RewriteDecision(
            source,
            "the input's scale and zero point are the output's",
            both(both(where, requantized), same_type),
            lambda place, pairs: pairs[place.inputs[0]] == pairs[place.output],
            lambda place, pairs: RewriteBorder({**pairs, place.output: pairs[place.inputs[0]]}, place.output),
            knob,
        )


def equal_to_output(source: RewriteSource, where: Where) -> Iterator[RewriteDecision]:
    """An input's scale and zero point are the output's; one decision for each of two inputs and each knob."""
    for number, which in enumerate(("first", "second")):
        says = f"the {which} input's scale and zero point are the output's"
        yield from (equal_input(source, says, where, number, knob) for knob in KNOBS)


def equal_input(source: RewriteSource, says: str, where: Where, number: int, knob: Knob) -> RewriteDecision:
    """At the border all inputs have the output's scale and zero point."""
    return RewriteDecision(
        source,
        says,
        both(both(where, requantized), same_type),
        lambda place, pairs: pairs[place.inputs[number]] == pairs[place.output],
        lambda place, pairs: RewriteBorder(
            {**pairs, **dict.fromkeys(place.inputs, pairs[place.output])}, place.inputs[number]
        ),
        knob,
    )


def zero_points(
    source: RewriteSource, says: str, where: Where, names: Names, target: Callable[[Pairs, str], int]
) -> RewriteDecision:
    """The zero points of some pairs are all at a target; the last of them is moved."""
    return RewriteDecision(
        source,
        says,
        where,
        lambda place, pairs: all(pairs[name].zero_point == target(pairs, name) for name in names(place)),
        lambda place, pairs: RewriteBorder(
            {**pairs, **{name: replace(pairs[name], zero_point=target(pairs, name)) for name in names(place)}},
            names(place)[-1],
        ),
        "zero_point",
    )


def zero(pairs: Pairs, name: str) -> int:
    return 0


def lowest(pairs: Pairs, name: str) -> int:
    return pairs[name].ends[0]


def input_of(number: int) -> Names:
    return lambda place: (place.inputs[number],)


def output_of(place: DecisionPlace) -> tuple[str, ...]:
    return (place.output,)


Compare = Callable[[np.float32, float], bool]


def input_ratio(
    source: RewriteSource, says: str, where: Where, number: int, compare: Compare, limit: float
) -> RewriteDecision:
    """An input's scale by the output's, divided in float32, compared with a power of two; the input's is moved."""
    return RewriteDecision(
        source,
        says,
        both(where, requantized),
        lambda place, pairs: bool(compare(pairs[place.inputs[number]].scale / pairs[place.output].scale, limit)),
        lambda place, pairs: RewriteBorder(
            with_scale(pairs, place.inputs[number], pairs[place.output].scale * np.float32(limit)), place.inputs[number]
        ),
        "scale",
    )


def product_ratio(source: RewriteSource, says: str, where: Where, compare: Compare, limit: float) -> RewriteDecision:
    """The product of the inputs' scales by the output's, in float32, compared with a power of two."""
    return RewriteDecision(
        source,
        says,
        both(where, requantized),
        lambda place, pairs: bool(compare(product_scale(place, pairs) / pairs[place.output].scale, limit)),
        lambda place, pairs: RewriteBorder(
            with_scale(pairs, place.output, product_scale(place, pairs) / np.float32(limit)), place.output
        ),
        "scale",
    )


def product_scale(place: DecisionPlace, pairs: Pairs) -> np.float32:
    """The scale of the only input, or the float32 product of two."""
    scales = [pairs[name].scale for name in place.inputs]
    return scales[0] if len(scales) == 1 else np.float32(scales[0] * scales[1])


def with_scale(pairs: Pairs, name: str, scale: np.float32) -> Pairs:
    return {**pairs, name: replace(pairs[name], scale=np.float32(scale))}
