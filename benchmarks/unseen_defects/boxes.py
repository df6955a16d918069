"""The boxes of the second set. A row is an operator, element types `input>output`, an attribute, and boxes.

A box is written as its defects, joined by +; `defect@path` holds on that path only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.known_defects.arithmetic import Outputs, Use, put, subsets
from benchmarks.known_defects.truth import Cause, same, smallest
from benchmarks.unseen_defects import dequantize, fake, fake_quantize, quantize, ranges
from benchmarks.unseen_defects.paths import PATHS, SENTENCES
from benchmarks.unseen_defects.steps import DEFECTS, FAMILIES, found
from benchmarks.unseen_defects.table import TABLE
from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import Unsupported
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
    masks = [PATHS[use.path](node, inputs) for use in uses]
    outputs = tuple(np.array(array) for array in computed(node, inputs, ()))
    for some in subsets(range(len(uses))):
        active = [masks[i] if i in some else ~masks[i] for i in range(len(uses))]
        put(outputs, np.logical_and.reduce(active), lambda s=some: computed(node, inputs, [uses[i].defect for i in s]))
    return outputs


def true_causes(node: Node, inputs: Outputs, uses: Sequence[Use]) -> list[list[frozenset[Cause]]]:
    """For each output, flat, the smallest sets of defects that suffice."""
    box, sound = answer(node, inputs, uses), answer(node, inputs, ())
    tried = [(cause, answer(node, inputs, cause)) for cause in subsets(uses)]
    return [
        smallest([(cause, same(outputs[i], box[i])) for cause, outputs in tried], same(sound[i], box[i]))
        for i in range(len(box))
    ]


@dataclass(frozen=True)
class Box:
    """A kind of node and the defects that its backend has."""

    operator: str
    input_type: str
    output_type: str
    uses: tuple[Use, ...]
    attributes: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        mode = "-".join(self.attributes.values())
        written = "+".join(map(str, self.uses))
        return "/".join(filter(None, (self.operator, f"{self.input_type}-{self.output_type}", mode, written)))

    @property
    def sentence(self) -> str:
        return " ".join(told(FAMILIES[self.operator], use) for use in self.uses)

    def takes(self, node: Node) -> bool:
        types = (node.input_type, self.input_type), (node.output_type, self.output_type)
        right = node.operator == self.operator and all(wanted == got for got, wanted in types)
        return right and all(node.value(name) == value for name, value in self.attributes.items())

    def answer(self, node: Node, inputs: Outputs) -> Outputs:
        return answer(node, inputs, self.uses)


def told(family: str, use: Use) -> str:
    sentence = DEFECTS[family, use.defect].sentence
    return f"{sentence[:-1]}, {SENTENCES[use.path]}." if use.path else sentence


def box_of(operator: str, types: str, attribute: str, written: str) -> Box:
    uses = tuple(Use(*part.split("@")) for part in written.split("+"))
    found(FAMILIES[operator], [use.defect for use in uses])
    assert all(use.path in PATHS for use in uses), written
    name, _, value = attribute.partition("=")
    given, _, result = types.partition(">")
    return Box(operator, given, result, uses, {name: value} if name else {})


BOXES = tuple(box_of(*row[:3], written) for row in TABLE for written in row[3].split())
assert len({box.name for box in BOXES}) == len(BOXES), "a box is there twice"


class Backend:
    """A box as `tiebreak run` takes it."""

    version = "1"
    takes_constants = True

    def __init__(self, box: Box) -> None:
        self.name, self.box, self.operators = box.name, box, frozenset({box.operator})

    def compile(self, node: Node) -> Run:
        if not self.box.takes(node):
            raise Unsupported("not this box's kind of node")
        return lambda *inputs: self.box.answer(node, inputs)


def __getattr__(name: str) -> Any:
    """The backend of the box with this name, so that `-b benchmarks.unseen_defects.boxes:NAME` finds it."""
    for box in BOXES:
        if box.name == name:
            return Backend(box)
    raise AttributeError(name)
