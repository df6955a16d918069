"""The boxes of the second set. A row is an operator, element types `input>output`, an attribute, and boxes.

A box is written as its defects, joined by +; `defect@path` holds on that path only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.known_defects import boxes as known
from benchmarks.known_defects.arithmetic import Outputs, Use, on_paths
from benchmarks.unseen_defects import dequantize, fake, fake_quantize, quantize, ranges
from benchmarks.unseen_defects.paths import PATHS, SENTENCES
from benchmarks.unseen_defects.steps import DEFECTS, FAMILIES, found
from benchmarks.unseen_defects.table import TABLE
from tiebreak.golden.nodes import Node

ARITHMETIC: dict[str, Any] = {
    operator: function
    for family in (quantize, dequantize, fake_quantize, ranges, fake)
    for operator, function in family.ARITHMETIC.items()
}


def computed(node: Node, inputs: Outputs, ids: Sequence[str]) -> Outputs:
    """All outputs, with these defects everywhere."""
    with np.errstate(all="ignore"):
        return ARITHMETIC[node.operator](node, inputs, found(FAMILIES[node.operator], ids))


def answer(node: Node, inputs: Outputs, uses: Sequence[Use]) -> Outputs:
    """All outputs with these defects, each on its path."""
    return on_paths(computed, PATHS, node, inputs, uses)


class Box(known.Box):
    """A kind of node and the defects of this set that its backend has."""

    def __post_init__(self) -> None:
        found(FAMILIES[self.operator], [use.defect for use in self.uses])
        assert all(use.path in PATHS for use in self.uses), self.name

    @property
    def sentence(self) -> str:
        return " ".join(told(FAMILIES[self.operator], use) for use in self.uses)

    def answer(self, node: Node, inputs: Outputs) -> Outputs:
        return answer(node, inputs, self.uses)


def told(family: str, use: Use) -> str:
    sentence = DEFECTS[family, use.defect].sentence
    return f"{sentence[:-1]}, {SENTENCES[use.path]}." if use.path else sentence


BOXES = known.boxes_of(TABLE, Box)


def __getattr__(name: str) -> Any:
    """The backend of the box with this name, so that `-b benchmarks.unseen_defects.boxes:NAME` finds it."""
    return known.backend_of(BOXES, name)
