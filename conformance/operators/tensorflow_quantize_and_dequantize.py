"""Testing `tensorflow.QuantizeAndDequantizeV4`."""

from __future__ import annotations

from tiebreak.conformance.operators import tensorflow_quantize_and_dequantize_drawn as drawn
from tiebreak.conformance.operators.model import Absent, Axis, OperatorUnderTest, in_any_problem
from tiebreak.conformance.operators.tensorflow_quantize_and_dequantize_mistakes import MISTAKES, PAIRS

FIRST, *OTHERS = drawn.even_probes()

TESTED = OperatorUnderTest(
    id="tensorflow.QuantizeAndDequantizeV4",
    plain_nodes=Absent("its results are real"),
    draw=drawn.draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    path_probes=(FIRST, drawn.UP, *OTHERS),
    axis=Axis("axis"),
    forbidden_calls=Absent(
        "its document excludes no call in words: it leaves open the widths (TQD-U5), reversed ranges (TQD-U3) and the "
        "ranges' shapes (TQD-U7), and says of axis only what it is for (TQD-X1)"
    ),
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=Absent("no table of facets describes a scale_factor that is computed from the range"),
    monotone=in_any_problem,
)
