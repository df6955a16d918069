"""The kernels' loops, one file an operator. They share nothing with the formulas but the statement of the problem."""

from __future__ import annotations

from collections.abc import Callable

from tiebreak.golden.kernels import dequantize
from tiebreak.golden.problem import Array, Elementwise

# By what Elementwise.formula says: (problem, working, mode) to (codes int64, states uint8), flat.
LOOPS: dict[str, Callable[[Elementwise, bool, str], tuple[Array, Array]]] = {
    "ngraph.Dequantize": dequantize.dequantize,
}
