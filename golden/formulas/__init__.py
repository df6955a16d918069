"""The oracle's formulas, one file an operator: functions of decoded operands, in the order of their documents."""

from __future__ import annotations

from collections.abc import Callable

from tiebreak.golden.formulas import dequantize
from tiebreak.golden.formulas.steps import Result

# By operator id; an operator's further outputs as "id:output".
FORMULAS: dict[str, Callable[..., Result]] = {
    "ngraph.Dequantize": dequantize.dequantize,
}
