"""Testing `gguf.Dequantize`: any elements and scales, and its usual mistakes."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.operators.case_with_states import Situation
from tiebreak.conformance.operators.drawn_tensors import integer_tensor
from tiebreak.conformance.operators.forbidden_call import ForbiddenCall
from tiebreak.conformance.operators.model import (
    Absent,
    Axis,
    CaseConstraints,
    Cause,
    Mistake,
    OperatorUnderTest,
    StagedSemantics,
)
from tiebreak.conformance.operators.path_probe import PathProbe, scale_classes
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.semantics.authorities_gguf import OF_GGUF_BLOCKS
from tiebreak.conformance.semantics.gguf_dequantize import gguf_dequantize_stages
from tiebreak.conformance.variants import conversions
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.gguf_dequantize import BLOCK, ID, OFFSETS
from tiebreak.golden.problem import Array
from tiebreak.golden.samples.model import Tensor, bits

LEAST_NORMAL = 2.0**-14  # of float16
INFINITY, SIGN = 0x7C00, 0x8000
Arithmetic = Callable[[Node, Array, Array], Array]  # of elements as float32, and of scales of the same shape


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    quantized = wanted.quantized or draw(st.sampled_from(tuple(OFFSETS)))
    shape = draw(shapes(wanted.rank))
    blocks = (*shape[:-1], shape[-1] // BLOCK)
    any_code = st.integers(0, 0xFFFF)
    codes = any_code if wanted.specials else any_code.filter(lambda code: code & ~SIGN < INFINITY)
    few = draw(st.lists(codes, min_size=1, max_size=5))
    scales = bits("float16", [few[n % len(few)] for n in range(math.prod(blocks))], blocks)
    return {"real": "float32", "quantized": quantized}, (integer_tensor(draw, quantized, shape), scales)


def shapes(rank: int | None) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of a rank from 1 on, or of any: of whole blocks."""
    last = st.sampled_from((32, 32, 64, 96, 0))
    ranks = st.integers(1, 3) if not rank else st.just(rank)
    outer = ranks.flatmap(lambda n: st.lists(st.integers(0, 2), min_size=n - 1, max_size=n - 1))
    return st.tuples(outer, last).map(lambda found: (*found[0], found[1]))


# The arithmetic of usual mistakes


def spread(scales: Array, length: int) -> Array:
    return np.repeat(scales, BLOCK, axis=-1)[..., :length]


def mistake(arithmetic: Arithmetic, changed: Callable[[Array], Array] = lambda scales: scales) -> Mistake:
    """`changed` is what becomes of the scales first."""

    def run(node: Node, elements: Array, scales: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            factor = spread(changed(scales), elements.shape[-1]).astype(np.float32)
            found = arithmetic(node, elements.astype(np.float32), factor)
            return (np.asarray(found, np.float32).reshape(elements.shape),)

    return run


def right(node: Node, x: Array, scale: Array) -> Array:
    return (x - OFFSETS[node.input_type]) * scale


def without_offset(node: Node, x: Array, scale: Array) -> Array:
    return x * scale


def of_seven_and_a_half(node: Node, x: Array, scale: Array) -> Array:
    return (x - (7.5 if OFFSETS[node.input_type] else 0)) * scale


def as_unsigned(node: Node, x: Array, scale: Array) -> Array:
    """ValueError where elements have no sign."""
    if OFFSETS[node.input_type]:
        raise ValueError("there is no sign to lose")
    return np.mod(x, 256) * scale


def without_scale(node: Node, x: Array, scale: Array) -> Array:
    return right(node, x, np.ones_like(scale))


def halves_exchanged(node: Node, x: Array, scale: Array) -> Array:
    return right(node, paired(node, x, lambda low, high: np.concatenate([high, low], axis=-1)), scale)


def neighbours_paired(node: Node, x: Array, scale: Array) -> Array:
    """The two elements of a byte as neighbours, as other packings have it."""
    return right(node, paired(node, x, lambda low, high: np.stack([low, high], axis=-1)), scale)


def neighbours_exchanged(node: Node, x: Array, scale: Array) -> Array:
    """Packed anew with neighbours in a byte, as other packings have it, then read from the upper half on."""
    if not OFFSETS[node.input_type]:
        raise ValueError("no bytes of two elements")
    return right(node, x.reshape(*x.shape[:-1], -1, 2)[..., ::-1].reshape(x.shape), scale)


def paired(node: Node, x: Array, joined: Callable[[Array, Array], Array]) -> Array:
    """Elements of 4 bits in another order; the last block of a row is filled. ValueError where no byte holds two."""
    if not OFFSETS[node.input_type]:
        raise ValueError("no bytes of two elements")
    *outer, length = x.shape
    count = -(-length // BLOCK)
    filled = np.zeros((*outer, count * BLOCK), np.float32)
    filled[..., :length] = x
    blocks = filled.reshape(*outer, count, 2, BLOCK // 2)
    return joined(blocks[..., 0, :], blocks[..., 1, :]).reshape(filled.shape)[..., :length]


def in_half(node: Node, x: Array, scale: Array) -> Array:
    return right(node, x, scale).astype(np.float16)


def in_bfloat16(node: Node, x: Array, scale: Array) -> Array:
    return conversions.in_bfloat16(right(node, x, scale).astype(np.float32))


def flushed(scales: Array) -> Array:
    return np.where(np.abs(scales) < LEAST_NORMAL, np.float16(0), scales)


def first_of_row(scales: Array) -> Array:
    if scales.shape[-1] < 2:
        raise ValueError("there is nothing to mistake")
    return np.broadcast_to(scales[..., :1], scales.shape)


MISTAKES = (
    (Cause("ignores-zero-point", "difference"), mistake(without_offset)),
    (Cause("subtracts-seven-and-a-half", "difference"), mistake(of_seven_and_a_half)),
    (Cause("input-as-unsigned", "product"), mistake(as_unsigned)),
    (Cause("nibbles:high before low", "block"), mistake(halves_exchanged)),
    (Cause("nibbles:neighbours in a byte", "block"), mistake(neighbours_paired)),
    (Cause("nibbles:neighbours exchanged", "block"), mistake(neighbours_exchanged)),
    (Cause("ignores-scale", "product"), mistake(without_scale)),
    (Cause("product-in:float16", "product"), mistake(in_half)),
    (Cause("product-in:bfloat16", "product"), mistake(in_bfloat16)),
    (Cause("flushes-scales", "product"), mistake(right, flushed)),
    (Cause("one-scale-for:each row", "block"), mistake(right, first_of_row)),
    (Cause("scale-without-sign", "product"), mistake(right, np.abs)),
)
VALUES = {"int8": (-127, 70, -128, 127, 0, 1), "uint4": (0, 15, 7, 9, 8, 1)}
NODES: dict[str, dict[str, Any]] = {name: {"real": "float32", "quantized": name} for name in VALUES}
PATH_PROBES = (
    PathProbe("int8", NODES["int8"], (Fraction(1, 10),), VALUES["int8"], 2),
    PathProbe("uint4", NODES["uint4"], (Fraction(1, 10),), VALUES["uint4"]),
    *(
        PathProbe(f"{found.name}-{name}", NODES[name], (found.scale,), values, constants_only=True)
        for found in scale_classes(24, -14, 15)
        for name, values in VALUES.items()
    ),
)
FORBIDDEN = (
    ForbiddenCall("GGD-S1", "one scale for two blocks", ((1, 64), (1, 1)), {"quantized": "int8"}),
    *(
        ForbiddenCall("GGD-S2", f"a row of {length}", ((2, length), (2, -(-length // BLOCK))), {"quantized": quantized})
        for quantized in OFFSETS
        for length in (1, 31, 33, 50)
    ),
    ForbiddenCall("GGD-S1", "a scale for 16 elements", ((1, 32), (1, 2)), {"quantized": "uint4"}),
)


SITUATIONS: dict[str, Situation] = {
    "a uint4 input": lambda shown: shown.case.node.input_type == "uint4",
}

TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("it does not quantize"),
    draw=draw,
    mistakes=MISTAKES,
    path_probes=PATH_PROBES,
    axis=Axis(measured=BLOCK, whole_blocks=True, one_for_each_block=True),
    forbidden_calls=FORBIDDEN,
    situations=SITUATIONS,
    semantics=StagedSemantics(gguf_dequantize_stages, OF_GGUF_BLOCKS),
)
