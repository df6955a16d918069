"""The true cause of each element: the fewest of a box's defects that alone give the box's output there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.known_defects.arithmetic import Outputs, Use, answer, subsets
from benchmarks.known_defects.numbers import Array
from tiebreak.golden.nodes import Node

Cause = tuple[Use, ...]
Answer = Callable[[Node, Outputs, Sequence[Use]], Outputs]


def true_causes(node: Node, inputs: Outputs, uses: Sequence[Use], by: Answer = answer) -> list[list[frozenset[Cause]]]:
    """For each output, flat, the smallest causes that suffice, often one. Empty where the box is right."""
    box, sound = by(node, inputs, uses), by(node, inputs, ())
    tried = [(cause, by(node, inputs, cause)) for cause in subsets(uses)]
    return [
        smallest([(cause, same(outputs[i], box[i])) for cause, outputs in tried], same(sound[i], box[i]))
        for i in range(len(box))
    ]


def smallest(tried: Sequence[tuple[Cause, Array]], right: Array) -> list[frozenset[Cause]]:
    """For each element the causes of the fewest defects whose mask holds there."""
    found: list[frozenset[Cause]] = [frozenset()] * right.size
    for element in np.flatnonzero(~right):
        holding = [cause for cause, mask in tried if mask[element]]
        fewest = min(map(len, holding))
        found[element] = frozenset(cause for cause in holding if len(cause) == fewest)
    return found


def same(one: Array, other: Array) -> Array:
    """Where two outputs are equal in value and sign, any NaN to any NaN."""
    a, b = (array.reshape(-1).astype(np.float64) for array in (one, other))
    return ((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))
