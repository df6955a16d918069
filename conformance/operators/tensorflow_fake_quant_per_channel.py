"""Testing `tensorflow.FakeQuantWithMinMaxVarsPerChannel`: a range for each index of the last axis."""

from __future__ import annotations

import math
from typing import Any

from tiebreak.conformance.operators import tensorflow_fake_quant_shared as shared
from tiebreak.conformance.operators import tensorflow_fake_quant_variants as variants
from tiebreak.conformance.operators.forbidden_call import V2, ForbiddenCall
from tiebreak.conformance.operators.model import Absent, Axis, CaseConstraints, OperatorUnderTest, in_any_problem
from tiebreak.conformance.operators.strategies import st
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


FIVE_AXES = ForbiddenCall("TFC-G2", "inputs with five axes", ((1, 1, 1, 1, 2), V2, V2), values={1: 0.0})

TESTED = OperatorUnderTest(
    id="tensorflow.FakeQuantWithMinMaxVarsPerChannel",
    plain_nodes=Absent("its results are real"),
    draw=draw,
    mistakes=variants.MISTAKES_OF_CHANNELS,
    pairs=variants.PAIRS_OF_CHANNELS,
    path_probes=(shared.EIGHT_BITS, *shared.STEP_CLASSES),
    axis=Axis(always_last=True),
    forbidden_calls=(*shared.forbidden_fake_quant_calls("TFC", V2), FIVE_AXES),
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=Absent("no table of facets describes limits that are moved onto a grid"),
    monotone=in_any_problem,
)
