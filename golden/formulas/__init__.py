"""The oracle's formulas, one file an operator, in exact rational numbers. In this order they teach rounding:

1. golden/rounding.py: nine ways from a real number to an integer.
2. steps.py: what a step of a formula is, and what working precision does to it.
3. ngraph_quantize.py: one division, one rounding, one sum. ngraph_dequantize.py: the way back.
4. onnx_quantize_linear.py, onnx_dequantize_linear.py: saturation, small floats, the type of a division.
5. openvino_fake_quantize.py: there and back in one formula, whose steps each round.
6. tensorflow_quantize_v2.py, tensorflow_dequantize.py, tensorflow_quantize_and_dequantize.py,
   tensorflow_fake_quant.py: where the scale itself is computed, and so rounded.

A comment such as `# ONQ-F1` names the clause of the operator's document that its line follows; `# ONQ-U3` names
something that the document leaves open. golden/operators/ has the clauses.

Tie: an argument of round halfway between two integers. For example, 2.5 is as near to 2 as to 3, so "to the nearest"
is no answer there. Each mode needs a tie rule: the even one, the greater, the one further from zero. Modes that round
to nearest differ on ties alone, which is why tests without ties cannot tell them apart.

Working precision: documents write formulas with real numbers, but implementations compute in floating point, where
every step rounds. So each formula is evaluated twice: exactly, with one rounding at the end, and in working precision,
with every step rounded to the operator's own type. The two can differ near a tie, or near an integer if the mode is
directed. In float32, 0.35 / 0.1 lies just below 3.5 and rounds to 3; the division rounds it to 3.5, a tie, which goes
to the even 4. Both results conform.

Saturation: a result outside the range of the output's type becomes the nearer end of that range, if the document says
so. A formula always returns that end, with the state OUT_OF_RANGE. Where the document is silent, any result is
accepted.
"""

from __future__ import annotations

from collections.abc import Callable

from tiebreak.golden.discovery import declared_entries
from tiebreak.golden.formulas.steps import Result

# By operator id; an operator's further outputs as "id:output". A module of this package declares its own FORMULAS.
FORMULAS: dict[str, Callable[..., Result]] = declared_entries(__name__, __path__, "FORMULAS")
