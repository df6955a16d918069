"""What a box answers: the operator's arithmetic with some steps done wrongly, each everywhere or on one path."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np

from benchmarks.known_defects import (
    block_scales,
    cast,
    dequantize,
    dynamic,
    fake_quantize,
    gguf,
    packed_weights,
    paddle_quantize,
    qlinear_pairs,
    quantize,
    requantize,
    rescale,
    sums_of_products,
    tensorflow_fake,
    tensorflow_ranges,
    torch_functions,
    uniform,
)
from benchmarks.known_defects.defects import How, how_of
from benchmarks.known_defects.numbers import Array
from benchmarks.known_defects.paths import PATHS, Place
from tiebreak.golden.nodes import Node

Outputs = tuple[Array, ...]
Compute = Callable[[Node, Outputs, Sequence[str]], Outputs]  # with defects everywhere
FAMILIES: tuple[Any, ...] = (
    *(quantize, dequantize, cast, dynamic, block_scales, requantize, rescale),
    *(fake_quantize, tensorflow_ranges, tensorflow_fake, uniform, sums_of_products),
    *(qlinear_pairs, torch_functions, gguf, packed_weights, paddle_quantize),
)
ARITHMETIC: dict[str, Callable[[Node, Outputs, How], Outputs]] = {
    operator: function for family in FAMILIES for operator, function in family.ARITHMETIC.items()
}


class Use(NamedTuple):
    """A defect and the path on which it holds, "" for everywhere."""

    defect: str
    path: str = ""

    def __str__(self) -> str:
        return f"{self.defect}@{self.path}" if self.path else self.defect


def computed(node: Node, inputs: Outputs, ids: Sequence[str]) -> Outputs:
    """All outputs, with these defects everywhere."""
    with np.errstate(all="ignore"):
        return ARITHMETIC[node.operator](node, inputs, how_of(tuple(ids)))


def answer(node: Node, inputs: Outputs, uses: Sequence[Use]) -> Outputs:
    """All outputs with these defects, each on its path."""
    return on_paths(computed, PATHS, node, inputs, uses)


def on_paths(compute: Compute, paths: Mapping[str, Place], node: Node, inputs: Outputs, uses: Sequence[Use]) -> Outputs:
    """As `answer`, by a set's own arithmetic and paths."""
    masks = [paths[use.path](node, inputs) for use in uses]
    outputs = tuple(np.array(array) for array in compute(node, inputs, ()))
    for some in subsets(range(len(uses))):
        active = [masks[i] if i in some else ~masks[i] for i in range(len(uses))]
        put(outputs, np.logical_and.reduce(active), lambda s=some: compute(node, inputs, [uses[i].defect for i in s]))
    return outputs


def put(outputs: Outputs, where: Array, compute: Callable[[], Outputs]) -> None:
    """Overwrite some elements of the outputs; an output of another size only as a whole."""
    if not where.any():
        return
    for array, other in zip(outputs, compute(), strict=True):
        if array.size == where.size:
            array.reshape(-1)[where] = other.reshape(-1)[where]
        elif where.all():
            array[...] = other


def subsets(items: Sequence[Any]) -> list[tuple[Any, ...]]:
    """All subsets but the empty one, the smallest first."""
    return list(chain.from_iterable(combinations(items, size) for size in range(1, len(items) + 1)))
