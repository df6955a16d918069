"""Testing `tensorflow.FakeQuantWithMinMaxVarsPerChannel`: a range for each index of the last axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tiebreak.conformance.operators import tensorflow_fake_quant_mistakes as per_tensor
from tiebreak.conformance.operators import tensorflow_fake_quant_shared as shared
from tiebreak.conformance.operators import tensorflow_fake_quant_steps as steps
from tiebreak.conformance.operators.forbidden_call import V2, ForbiddenCall
from tiebreak.conformance.operators.model import (
    Absent,
    Axis,
    CaseConstraints,
    Cause,
    Mistake,
    OperatorUnderTest,
    in_any_problem,
)
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.operators.wrong_steps import entries_of
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.golden.samples.model import Tensor, bits

RANKS = (1, 2, 4)


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    rank = wanted.rank if wanted.rank in RANKS else draw(st.sampled_from(RANKS))
    shape = tuple(draw(st.lists(st.integers(0, 4), min_size=rank, max_size=rank)))
    depth, node = shape[-1], draw(shared.fake_quant_nodes())
    limits = [draw(shared.ranges()) for _ in range(depth)]
    columns = [
        draw(st.lists(shared.values_in(node, low, high, wanted.specials), min_size=1, max_size=6))
        for low, high in limits
    ]
    values = [columns[i % depth][i // depth % len(columns[i % depth])] for i in range(math.prod(shape))]
    ends = (bits("float32", [pair[end] for pair in limits], (depth,)) for end in (0, 1))
    return node, (bits("float32", values, shape), *ends)


def first_for_all(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    return PLAIN(node, x, low[:1], high[:1]) if x.size else (x,)


def widest_for_all(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    with np.errstate(invalid="ignore"):
        return PLAIN(node, x, low.min(keepdims=True), high.max(keepdims=True)) if x.size else (x,)


def first_axis(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    """Ranges along axis 0 if its size fits, else along the last axis."""
    if x.ndim < 2 or x.shape[0] != x.shape[-1]:
        return PLAIN(node, x, low, high)
    shape = (-1, *(1,) * (x.ndim - 1))
    return PLAIN(node, x, low.reshape(shape), high.reshape(shape))


def channels_first(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    """Ranges along axis 1, as in NCHW, if its size fits; else along the last axis."""
    if x.ndim < 4 or x.shape[1] != x.shape[-1]:
        return PLAIN(node, x, low, high)
    return PLAIN(node, x, low.reshape(-1, 1, 1), high.reshape(-1, 1, 1))


step = entries_of(steps.PER_CHANNEL_PAIRS)
PLAIN: Mistake = per_tensor.mistake(per_tensor.PLAIN)
FIVE_AXES = ForbiddenCall("TFC-G2", "inputs with five axes", ((1, 1, 1, 1, 2), V2, V2), values={1: 0.0})

TESTED = OperatorUnderTest(
    id="tensorflow.FakeQuantWithMinMaxVarsPerChannel",
    plain_nodes=Absent("its results are real"),
    draw=draw,
    mistakes=(
        *per_tensor.MISTAKES,
        *steps.PER_CHANNEL,
        (Cause("one-for-all:range, ties upward", "range", 5), first_for_all),
        (Cause("widest-range-for-all", "range", 5), widest_for_all),
        (Cause("ranges-along:the first axis, ties upward", "range", 5), first_axis),
        (Cause("ranges-along:axis 1", "range", 5), channels_first),
        step("floor-of-half-more + one-for-all:range", "range", "one-for-all:range + floor-of-half-more"),
    ),
    pairs=steps.PER_CHANNEL_PAIRS,
    path_probes=(shared.EIGHT_BITS, *shared.STEP_CLASSES),
    axis=Axis(always_last=True),
    forbidden_calls=(*shared.forbidden_fake_quant_calls("TFC", V2), FIVE_AXES),
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=Absent("no table of facets describes limits that are moved onto a grid"),
    monotone=in_any_problem,
)
