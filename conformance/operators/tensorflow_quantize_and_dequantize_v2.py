"""Testing `tensorflow.QuantizeAndDequantizeV2`: as V4, whose values are the same."""

from __future__ import annotations

from tiebreak.conformance.operators import tensorflow_quantize_and_dequantize_drawn as drawn
from tiebreak.conformance.operators.model import Absent, Axis, OperatorUnderTest, in_any_problem
from tiebreak.conformance.operators.tensorflow_quantize_and_dequantize_mistakes import MISTAKES, PAIRS

FIRST, *OTHERS = drawn.even_probes()

TESTED = OperatorUnderTest(
    id="tensorflow.QuantizeAndDequantizeV2",
    plain_nodes=Absent("its results are real"),
    draw=drawn.draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    path_probes=(FIRST, drawn.UP, *OTHERS),
    axis=Axis("axis"),
    forbidden_calls=Absent(
        "its document excludes no call in words: it leaves open the widths (TQB-U5), reversed ranges (TQB-U3) and the "
        "ranges' shapes (TQB-U7), and says of axis only what it is for (TQB-X1)"
    ),
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=Absent("no table of facets describes a scale_factor that is computed from the range"),
    monotone=in_any_problem,
)
