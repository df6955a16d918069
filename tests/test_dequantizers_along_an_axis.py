"""The causes of the two dequantizers whose parameters lie along an axis: each wrong one gets its own."""

from __future__ import annotations

import pytest
import wrong_stablehlo_uniform_dequantize
import wrong_tensorflow_uniform_dequantize
from causes_of_records import causes_of

from tiebreak.golden.builder import file_name
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

WRONG = {wrong.name: wrong for module in (wrong_stablehlo_uniform_dequantize, wrong_tensorflow_uniform_dequantize)
         for wrong in module.WRONG}  # fmt: skip
OF_BOTH = {
    "no zero point": "ignores the zero point",
    "adds the zero point": "adds the zero point",
    "difference reversed": "subtracts the input from the zero point",
    "divides by the scale": "divides by the scale",
    "no scale": "ignores the scale",
    "scale in bfloat16": "scale rounded to bfloat16",
    "product in bfloat16": "result passes through bfloat16",
    "first scale for all": "one scale and zero point for all",
    "next scale": "each channel takes the next one's scale and zero point",
    "scales reversed": "channels take scales and zero points in reverse order",
    "always the last axis": "wrong axis, the last",
    "always the first axis": "wrong axis, the first",
}
SATURATED = "the difference saturates in the input's type"
EXPECTED = {
    **{f"{prefix}: {name}": cause for prefix in ("stablehlo-dequantize", "uniform-dequantize")
       for name, cause in OF_BOTH.items()},
    "stablehlo-dequantize: difference saturates in the storage type": SATURATED,
    "uniform-dequantize: difference saturates in the input's type": SATURATED,
    "stablehlo-dequantize: difference wraps in the storage type": "the difference wraps around in the input's type",
    "uniform-dequantize: difference wraps in the input's type": "the difference wraps around in the input's type",
}  # fmt: skip


@pytest.mark.few(4)
@pytest.mark.parametrize(("name", "cause"), EXPECTED.items())
def test_a_wrong_dequantizer_gets_its_cause(name: str, cause: str) -> None:
    """At most a twentieth gets no cause or two: where the box treats an infinite scale in a way of its own."""
    wrong = WRONG[name]
    counts = causes_of(wrong.run, indexed_cases(VECTORS / file_name(wrong.operator, *wrong.types[0])))
    assert counts[cause] > 0.95 * counts.total() > 40, counts
