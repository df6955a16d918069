"""Testing `tensorflow.FakeQuantWithMinMaxVars`: values beside the steps of any grid."""

from __future__ import annotations

import math
from typing import Any

from tiebreak.conformance.operators import tensorflow_fake_quant_shared as shared
from tiebreak.conformance.operators import tensorflow_fake_quant_variants as variants
from tiebreak.conformance.operators.model import Absent, CaseConstraints, OperatorUnderTest, in_any_problem
from tiebreak.conformance.operators.path_probe import STEP, PathProbe, fake_quantize_values
from tiebreak.conformance.operators.strategies import st
from tiebreak.golden.samples.model import Tensor, bits


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    rank = draw(st.integers(0, 4)) if wanted.rank is None else wanted.rank
    shape = tuple(draw(st.lists(st.integers(0, 4), min_size=rank, max_size=rank)))
    node = draw(shared.fake_quant_nodes())
    low, high = draw(shared.ranges())
    values = draw(st.lists(shared.values_in(node, low, high, wanted.specials), min_size=1, max_size=16))
    x = bits("float32", [values[i % len(values)] for i in range(math.prod(shape))], shape)
    return node, (x, bits("float32", [low], ()), bits("float32", [high], ()))


NARROW = {"attributes": {"num_bits": 4, "narrow_range": True}}

TESTED = OperatorUnderTest(
    id="tensorflow.FakeQuantWithMinMaxVars",
    plain_nodes=Absent("its results are real"),
    draw=draw,
    mistakes=variants.MISTAKES,
    pairs=variants.PAIRS,
    path_probes=(
        shared.EIGHT_BITS,
        *shared.STEP_CLASSES,
        PathProbe("4-bits-narrow", NARROW, (-8 * STEP, 6 * STEP), fake_quantize_values(-8 * STEP)),
    ),
    axis=Absent("min and max are scalars"),
    forbidden_calls=shared.forbidden_fake_quant_calls("TFF", ()),
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=Absent("no table of facets describes limits that are moved onto a grid"),
    monotone=in_any_problem,
)
